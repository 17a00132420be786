// Package wire holds the JSON forms of what several surfaces show, so that the same read has equal members over MCP and
// over HTTP: times, absent values, values that are too large, runs, events and transcript records.
package wire
