// Package system is the machine's own clock, identifiers and chance, and the wake-ups of one process.
package system
