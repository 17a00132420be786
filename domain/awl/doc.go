// Package awl is the one door to the language: check, format and compile a document. The rooms below it are the tokens
// and the tree (syntax), the rules (check), the plan's making (compile), its form (plan) and its values (value).
package awl
