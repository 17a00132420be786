// Package wire is the other end of the protocol tests: a client that sends requests byte by byte and holds every answer
// against the official schemas, with a schema validator of its own that shares nothing with the product's.
package wire
