// Package syntax reads and prints AWL: tokens, the scanner with its indent stack, the tree, the parser and the printer.
// It is lossless both ways: printing a parsed document keeps comments and docs. What names mean is decided elsewhere.
package syntax
