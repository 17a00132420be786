// Package e2e drives the built binary as its users do: over MCP with the official client, and from the command line.
package e2e
