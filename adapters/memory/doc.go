// Package memory holds every store port in memory. It is the reference that the durable stores are compared with, and the
// store of tests and of the simulation; it forgets everything when the process ends.
package memory
