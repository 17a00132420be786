// Package transcript holds what an attempt shows while it runs: record kinds, the stream's key and cursor arithmetic. A
// transcript is observability: no verdict and no binding reads it.
package transcript

import (
	"encoding/json"
	"time"

	"aion/domain"
)

// Record is one event of a stream. Members beyond the common ones belong to Kind.
type Record struct {
	StoreSeq  int64 // dense from 0 per attempt; assigned by the store
	WorkerSeq int64 // the producer's own, from 1, strictly rising
	EmittedAt time.Time
	AgentID   string // NilAgent for a command
	AgentRole string // such as `command stdout`
	Kind      Kind
	Ephemeral bool // for live readers only: it is never stored and has no StoreSeq

	Role    string // message
	Text    string // message
	Partial bool   // message
	Tool    string // tool_call
	CallID  string // tool_call, tool_result
	Input   json.RawMessage
	Output  json.RawMessage
	IsError bool
	Detail  json.RawMessage // progress
	Reason  string          // stop
	Source  string          // raw
	Value   json.RawMessage // raw
}

// Kind of a record.
type Kind string

// The stored kinds.
const (
	Message    Kind = "message"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	Progress   Kind = "progress"
	Stop       Kind = "stop"
	Raw        Kind = "raw"
)

// NilAgent is the agent id of a command.
const NilAgent = "00000000-0000-0000-0000-000000000000"

// Head is one stream of a run and the number of its stored records.
type Head struct {
	Key  domain.AttemptKey
	Head int64
}
