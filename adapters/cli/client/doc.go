// Package client speaks the HTTP API of an aion server: one request, its answer or refusal, and event streams. It follows
// no redirect, sends a credential to the one origin that it is made for, and there only where nobody on the way can read it.
// Which server, and as whom, is decided by the commands.
package client
