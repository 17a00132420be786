package wire

import (
	"encoding/json"

	"aion/domain/history"
	"aion/domain/transcript"
)

// Event is one event of a history.
type Event struct {
	Seq        history.Seq     `json:"seq"`
	Type       string          `json:"type"`
	RecordedAt Stamp           `json:"recorded_at"`
	RunID      string          `json:"run_id"`
	Data       json.RawMessage `json:"data"`
}

// EventOf shows an event; members of its data over limit are cut.
func EventOf(r history.Recorded, limit int) Event {
	return Event{Seq: r.Seq, Type: r.Type, RecordedAt: Stamp(r.At), RunID: string(r.RunID), Data: BoundedMembers(r.Data, limit)}
}

// Record is one event of a transcript; the members after Kind belong to kinds.
type Record struct {
	StoreSeq  int64           `json:"store_seq"`
	EmittedAt Stamp           `json:"emitted_at"`
	AgentID   string          `json:"agent_id"`
	AgentRole string          `json:"agent_role"`
	Kind      string          `json:"kind"`
	Role      string          `json:"role,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Partial   bool            `json:"partial,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	CallID    *string         `json:"call_id,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
	Reason    *string         `json:"reason,omitempty"`
	Source    *string         `json:"source,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// RecordOf shows a record; values and texts over limit are cut.
func RecordOf(r transcript.Record, limit int) Record {
	out := Record{StoreSeq: r.StoreSeq, EmittedAt: Stamp(r.EmittedAt), AgentID: r.AgentID, AgentRole: r.AgentRole, Kind: string(r.Kind)}
	switch r.Kind {
	case transcript.Message:
		text, truncated := cut(r.Text, limit)
		out.Role, out.Text, out.Partial, out.Truncated = r.Role, &text, r.Partial, truncated
	case transcript.ToolCall:
		out.Tool, out.CallID, out.Input = r.Tool, &r.CallID, Bounded(r.Input, limit)
	case transcript.ToolResult:
		out.CallID, out.Output, out.IsError = &r.CallID, Bounded(r.Output, limit), &r.IsError
	case transcript.Progress:
		out.Detail = Bounded(r.Detail, limit)
	case transcript.Stop:
		out.Reason = &r.Reason
	case transcript.Raw:
		out.Source, out.Value = &r.Source, Bounded(r.Value, limit)
	}
	return out
}
