// Package arch holds the tests that keep the architecture: who imports whom, which files start goroutines, and that every
// package says what it is.
package arch
