// Command bench measures aion against the limits of the machine that it runs on, in one run: single-row commits of the same
// SQLite, fork and exec of the same kernel. What is wanted is a ratio, so that a figure means something on any machine.
// docs/performance.md tells how to read it.
package main
