package general

import (
	"context"
	"encoding/json"

	"aion/adapters/mcp"
	"aion/application/transcripts"
	domaintranscript "aion/domain/transcript"
)

type transcriptPage struct {
	address
	ActivityID   int64             `json:"activity_id"`
	Attempt      int               `json:"attempt"`
	ActivityType string            `json:"activity_type"`
	AttemptOpen  bool              `json:"attempt_open"`
	Events       []json.RawMessage `json:"events"`
	HeadSeq      int64             `json:"head_seq"`
	NextFromSeq  int64             `json:"next_from_seq"`
	More         bool              `json:"more"`
}

// record is one event; the members after Kind belong to kinds.
type record struct {
	StoreSeq  int64           `json:"store_seq"`
	EmittedAt stamp           `json:"emitted_at"`
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

// The numbers of entries in a page, and how many are read from the store at once: what is read is bounded even when a
// page of large entries ends early.
const (
	defaultEntries = 100
	readAtOnce     = 64
)

func entries(call mcp.Call) int {
	if call.Arguments.Has("limit") {
		return int(call.Arguments.Int("limit"))
	}
	return defaultEntries
}

func (s *Service) readTranscript(ctx context.Context, call mcp.Call) (any, error) {
	a := call.Arguments
	req := transcripts.ReadRequest{
		Namespace: a.Text("namespace"), WorkflowID: a.Text("workflow_id"), RunID: a.Text("run_id"),
		ActivityID: a.Int("activity_id"), Attempt: int(a.Int("attempt")), FromSeq: a.Int("from_seq"),
	}
	var out transcriptPage
	var fill *page
	pageBytes, valueBytes := s.bounds(a.Has("limit"))
	from := req.FromSeq
	for left := entries(call); left > 0; left -= req.Limit {
		req.Limit = min(left, readAtOnce)
		read, err := s.transcripts.Read(ctx, call.Caller, req)
		if err != nil {
			return nil, err
		}
		out = toTranscriptPage(req.Namespace, read)
		if fill == nil {
			frame, err := mcp.Encode(out)
			if err != nil {
				return nil, err
			}
			fill = newPage(pageBytes, len(frame))
		}
		full, err := fillRecords(fill, read.Records, valueBytes)
		if err != nil {
			return nil, err
		}
		req.FromSeq = from + int64(len(fill.entries))
		if full || len(read.Records) < req.Limit {
			break
		}
	}
	out.Events = fill.entries
	out.NextFromSeq = from + int64(len(fill.entries))
	if len(fill.entries) == 0 {
		out.NextFromSeq = min(from, out.HeadSeq)
	}
	out.More = out.NextFromSeq < out.HeadSeq
	return out, nil
}

func fillRecords(fill *page, records []domaintranscript.Record, valueBytes int) (full bool, err error) {
	for _, r := range records {
		if full, err := fill.add(toRecord(r, valueBytes)); full || err != nil {
			return full, err
		}
	}
	return false, nil
}

func toTranscriptPage(namespace string, read transcripts.Page) transcriptPage {
	return transcriptPage{
		address:    address{Namespace: namespace, WorkflowID: string(read.Key.WorkflowID), RunID: string(read.Key.RunID)},
		ActivityID: read.Key.ActivityID, Attempt: read.Key.Attempt, ActivityType: read.ActivityType, AttemptOpen: read.AttemptOpen,
		HeadSeq: read.HeadSeq,
	}
}

func toRecord(r domaintranscript.Record, limit int) record {
	out := record{StoreSeq: r.StoreSeq, EmittedAt: stamp(r.EmittedAt), AgentID: r.AgentID, AgentRole: r.AgentRole, Kind: string(r.Kind)}
	switch r.Kind {
	case domaintranscript.Message:
		text, truncated := cut(r.Text, limit)
		out.Role, out.Text, out.Partial, out.Truncated = r.Role, &text, r.Partial, truncated
	case domaintranscript.ToolCall:
		out.Tool, out.CallID, out.Input = r.Tool, &r.CallID, bounded(r.Input, limit)
	case domaintranscript.ToolResult:
		out.CallID, out.Output, out.IsError = &r.CallID, bounded(r.Output, limit), &r.IsError
	case domaintranscript.Progress:
		out.Detail = bounded(r.Detail, limit)
	case domaintranscript.Stop:
		out.Reason = &r.Reason
	case domaintranscript.Raw:
		out.Source, out.Value = &r.Source, bounded(r.Value, limit)
	}
	return out
}
