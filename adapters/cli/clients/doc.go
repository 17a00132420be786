// Package clients knows the configuration files of MCP clients: where they are, how each writes a server down, and how
// to change one entry of them while every other byte stays (server 3.5).
package clients
