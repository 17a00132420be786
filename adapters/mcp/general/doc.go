// Package general is the tool catalogue of /mcp: thirteen tools over the use cases of runs, transcripts and documents,
// one file each (mcp 4). A tool turns arguments into a request and an answer into the members of its output schema; who
// may do what, and what is refused, is decided behind it.
package general
