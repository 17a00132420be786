// Package supervise is the other end of adapters/shell: the process that stands between the server and one command. The
// server starts its own binary again with a hidden argument; that process becomes the reaper of everything the command
// starts, stops the whole tree when asked or when the server is gone, and proves with ECHILD that nothing is left. It
// also holds the wire between the two and the reading of /proc that both need. It imports the standard library and
// x/sys/unix only, because it runs before any configuration exists.
package supervise
