// Package guide explains the language: every word with its meaning, its grammar and a complete example, the card that an
// agent needs to write documents, and templates to start from. Whatever it shows checks without findings.
package guide
