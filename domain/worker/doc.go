// Package worker holds what a remote worker says of itself, which tasks it may be given, whether its contract fits what
// documents declare, and why work is left unserved (actions 8). It reads no clock and does no I/O.
package worker
