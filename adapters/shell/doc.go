// Package shell executes declared bodies on this host. It is the only room of the server that starts processes: every
// command runs below a supervisor (package supervise), nothing of it outlives its verdict, its output is kept in bounded
// memory and shown line by line while it runs. Linux only.
package shell
