package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"aion/adapters/cli/client"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
)

// lostError says that a server is no longer there for what was asked: who wants to go on looks for it again.
type lostError struct{ cause error }

func (l *lostError) Error() string { return l.cause.Error() }
func (l *lostError) Unwrap() error { return l.cause }

// lost marks the errors of a server that has gone, or goes.
func lost(err error) error {
	var gone *lostError
	if err == nil || errors.As(err, &gone) {
		return err
	}
	switch domain.TypeOf(err) {
	case "NoServer", "ServerAway", "ShuttingDown", "Starting":
		return &lostError{err}
	}
	if errors.Is(err, client.ErrCut) {
		return &lostError{err}
	}
	return err
}

// stream reads one stream to its end. A connection that only got old goes on.
func (s *session) stream(ctx context.Context, r client.Request, each func(client.Event) error) error {
	last := ""
	return s.streamFrom(ctx, r, &last, each)
}

// wireEvent is an event as pages and streams show it.
type wireEvent struct {
	Seq        history.Seq     `json:"seq"`
	Type       string          `json:"type"`
	RecordedAt time.Time       `json:"recorded_at"`
	RunID      domain.RunID    `json:"run_id"`
	Data       json.RawMessage `json:"data"`
}

func (s *session) events(ctx context.Context, id string, from history.Seq, each func(history.Recorded) error) error {
	r := client.Request{Path: s.run(id, "/history/stream"), Query: url.Values{"from_seq": {strconv.FormatInt(from, 10)}}}
	return s.stream(ctx, r, func(e client.Event) error {
		var w wireEvent
		if err := json.Unmarshal(e.Data, &w); err != nil {
			return unreadable(err)
		}
		return each(history.Recorded{Seq: w.Seq, At: w.RecordedAt, WorkflowID: domain.WorkflowID(id), RunID: w.RunID, Type: w.Type, Data: w.Data})
	})
}

// handle is the query that names one attempt.
func handle(k domain.AttemptKey) url.Values {
	return url.Values{"run_id": {string(k.RunID)}, "activity_id": {strconv.FormatInt(k.ActivityID, 10)}, "attempt": {strconv.Itoa(k.Attempt)}}
}

func (s *session) lines(ctx context.Context, k domain.AttemptKey, from int64, each func(transcript.Record) error) error {
	query := handle(k)
	query.Set("from_seq", strconv.FormatInt(from, 10))
	return s.stream(ctx, client.Request{Path: s.run(string(k.WorkflowID), "/transcript/stream"), Query: query}, func(e client.Event) error {
		var w wireRecord
		if err := json.Unmarshal(e.Data, &w); err != nil {
			return unreadable(err)
		}
		return each(w.record(e.ID == ""))
	})
}

// wireRecord is what the lines of a view need of a transcript's event.
type wireRecord struct {
	StoreSeq  int64           `json:"store_seq"`
	EmittedAt time.Time       `json:"emitted_at"`
	AgentRole string          `json:"agent_role"`
	Kind      transcript.Kind `json:"kind"`
	Role      string          `json:"role"`
	Text      string          `json:"text"`
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Reason    string          `json:"reason"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Detail    json.RawMessage `json:"detail"`
	Value     json.RawMessage `json:"value"`
}

func (w wireRecord) record(ephemeral bool) transcript.Record {
	return transcript.Record{
		StoreSeq: w.StoreSeq, EmittedAt: w.EmittedAt, AgentRole: w.AgentRole, Kind: w.Kind, Ephemeral: ephemeral, Role: w.Role, Text: w.Text,
		Tool: w.Tool, CallID: w.CallID, Reason: w.Reason, Input: w.Input, Output: w.Output, Detail: w.Detail, Value: w.Value,
	}
}

func (s *session) describe(ctx context.Context, id string) (runs.Description, error) {
	answer, err := s.get(ctx, s.run(id, ""), nil)
	if err != nil {
		return runs.Description{}, lost(err)
	}
	o, err := parseObject(answer)
	if err != nil {
		return runs.Description{}, err
	}
	var d runs.Description
	for _, w := range o.list("waiting_on") {
		d.WaitingOn = append(d.WaitingOn, runs.Wait{Kind: w.text("kind"), Name: w.text("name"), Since: w.at("since"), DueAt: w.at("due_at")})
	}
	for _, step := range o.list("unserved") {
		d.Unserved = append(d.Unserved, runs.OpenStep{TaskQueue: step.text("task_queue"), ActivityType: step.text("activity_type")})
	}
	return d, nil
}

func (s *session) outcome(ctx context.Context, id string) ([]byte, history.Status, error) {
	answer, err := s.get(ctx, s.run(id, "/outcome"), nil)
	if err != nil {
		return nil, "", lost(err)
	}
	status, err := statusOf(answer)
	return answer, status, err
}

func statusOf(answer []byte) (history.Status, error) {
	o, err := parseObject(answer)
	return history.Status(o.text("status")), err
}

func (s *session) cancel(ctx context.Context, id, reason string) error {
	_, err := s.post(ctx, s.run(id, "/cancel"), map[string]any{"reason": reason}, "")
	return lost(err)
}

// begunFrom reads what was started, or found.
func begunFrom(answer []byte) (begun, error) {
	o, err := parseObject(answer)
	return begun{id: o.text("workflow_id"), at: o.at("started_at"), status: history.Status(o.text("status"))}, err
}
