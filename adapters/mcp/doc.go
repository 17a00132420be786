// Package mcp is the Model Context Protocol, revision 2026-07-28, over Streamable HTTP and without state: HTTP rules,
// JSON-RPC framing, headers against body, discovery, the tool list, tool calls, protocol errors and refusals (mcp 1 to 3), and
// the wire form of tasks (mcp 6). It knows a catalogue of tools, a service that runs them and the tasks that wait for some
// of them, and no workflow: each route is one Endpoint of its own.
package mcp
