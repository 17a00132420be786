// Package workers serves remote workers (actions 8): registration, long polls, leases, verdicts, transcripts, and what the
// queues look like. What an attempt is and how it ends is decided by the engine; a worker holds its attempt by a claim, as
// the server holds its own.
package workers
