// Package domain holds the words that every room of aion shares: identifiers, the namespace, JSON payloads, pages and
// the refusal type. Its subpackages are the things of the field and their rules. Nothing here does I/O, reads a clock
// or draws a random number; time and identifiers come in as arguments.
package domain
