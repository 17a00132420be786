// Package cli is the command line: one file per command. Results go to standard output, everything else to standard
// error. It knows no adapter: the bootstrap hands it a Backend that opens an engine or serves.
package cli
