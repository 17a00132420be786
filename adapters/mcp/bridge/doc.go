// Package bridge speaks MCP on a pair of streams to a client that launched this process, and passes what the client asks
// on to one aion server over Streamable HTTP (server 3.5). Clients of revision 2026-07-28 are passed through; the older
// revisions begin with initialize and are translated. The server may come and go: a call that cannot reach it is refused
// with what to do, and the next one tries again. It knows no tool and no workflow.
package bridge
