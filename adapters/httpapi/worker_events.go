package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"aion/adapters/web/jsontext"
	"aion/domain"
	"aion/domain/transcript"
)

// The bounds of one call.
const (
	maxEvents      = 500
	maxEventsBytes = 1 << 20
)

// eventMembers are the members of an event; those behind kind belong to kinds.
func eventMembers() []string {
	return []string{
		"worker_seq", "emitted_at?", "agent_id?", "agent_role?", "ephemeral?", "kind", "role?", "text?", "partial?", "tool?", "call_id?", "input?",
		"output?", "is_error?", "detail?", "reason?", "source?", "value?", "message_id?",
	}
}

func (a *API) publishEvents(ctx context.Context, q *request) (answer, error) {
	b := &q.body
	token := b.text("lease_token")
	if n := len(b.payload("events")); n > maxEventsBytes {
		return answer{}, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "PayloadTooLarge",
			Message: fmt.Sprintf("the events have %d bytes and may have %d in one call; send them in several", n, maxEventsBytes),
		}
	}
	var records []transcript.Record
	for _, one := range b.objects("events", eventMembers()...) {
		records = append(records, toTranscript(&one))
		b.takes("events", &one)
	}
	if n := len(records); n > maxEvents {
		b.faults.add("/events", "events lists at most %d events; got %d", maxEvents, n)
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Workers.Publish(ctx, q.who, q.param("task_id"), token, records)
	return answer{value: struct {
		Accepted      int   `json:"accepted"`
		Duplicates    int   `json:"duplicates"`
		NextWorkerSeq int64 `json:"next_worker_seq"`
		HeadSeq       int64 `json:"head_seq"`
		Cancel        bool  `json:"cancel"`
	}{got.Accepted, got.Duplicates, got.NextWorkerSeq, got.Head, got.Cancel}}, err
}

// maxLabel bounds the short texts of an event.
const maxLabel = 255

// toTranscript reads one event. A delta is a piece of a message for live readers.
func toTranscript(e *body) transcript.Record {
	label := func(name string) string {
		text := e.free(name)
		if len(text) > maxLabel {
			e.faults.add("/"+name, "%s has at most %d bytes", name, maxLabel)
		}
		return text
	}
	value := func(name string) json.RawMessage { return e.payload(name) }
	r := transcript.Record{
		WorkerSeq: e.whole("worker_seq", 0, 1, 1<<53-1), AgentID: label("agent_id"), AgentRole: label("agent_role"), Ephemeral: e.truth("ephemeral"),
		Kind: transcript.Kind(label("kind")), Role: label("role"), Text: e.free("text"), Partial: e.truth("partial"), Tool: label("tool"),
		CallID: label("call_id"), Input: value("input"), Output: value("output"), IsError: e.truth("is_error"), Detail: value("detail"),
		Reason: e.free("reason"), Source: label("source"), Value: value("value"),
	}
	if r.AgentID == "" {
		r.AgentID = transcript.NilAgent
	}
	if text := e.free("emitted_at"); text != "" {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			e.faults.add("/emitted_at", "emitted_at is a time such as 2026-01-31T12:00:00Z")
		}
		r.EmittedAt = at.UTC()
	}
	const delta = "delta"
	switch r.Kind {
	case transcript.Message:
		if r.Role == "" || !e.has("text") {
			e.faults.add("/kind", "a message has a role and a text")
		}
	case transcript.ToolCall:
		if r.Tool == "" {
			e.faults.add("/kind", "a tool_call has a tool")
		}
	case transcript.Progress:
		if jsontext.KindOf(r.Detail) != jsontext.Object {
			e.faults.add("/kind", "a progress has a detail, which is an object")
		}
	case transcript.ToolResult, transcript.Stop, transcript.Raw:
	case delta:
		r.Kind, r.Role, r.Partial, r.Ephemeral = transcript.Message, "assistant", true, true
	default:
		e.faults.add("/kind", "kind is one of message, tool_call, tool_result, progress, stop, raw, delta; got %q", domain.Quote(string(r.Kind), 64))
	}
	return r
}
