// Package check judges a parsed document: names, types, narrowing, flow, bodies and schemas, everything that can be known
// before a run. It resolves imports through a function and does no I/O of its own.
package check
