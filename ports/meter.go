package ports

import "time"

// Meter counts what operators watch. It is safe for concurrent use and never waits.
type Meter interface {
	// MCPRequest counts a request by its method and by ok or the code of its protocol error. Both are of closed sets.
	MCPRequest(method, code string)
	// MCPToolCall counts a call that reached a tool by ok or the code of its refusal, and how long it took.
	MCPToolCall(tool, code string, took time.Duration)
}
