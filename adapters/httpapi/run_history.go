package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
)

func (a *API) historyRoutes() []route {
	return []route{
		{
			method: "GET", path: runPath + "/history", grant: namespaced, media: []string{mediaJSON, mediaLines}, serve: a.readHistory,
			query: []string{"from_seq", "limit", "run_id", "order", "type*", "payloads"},
		},
		{method: "GET", path: runPath + "/history/:seq", grant: namespaced, serve: a.readEvent},
		{
			method: "GET", path: runPath + "/history/stream", grant: namespaced, media: []string{mediaEvents}, timeout: endless, serve: a.followHistory,
			query: []string{"from_seq", "run_id"},
		},
	}
}

// The sizes of a sequence page.
const (
	defaultEntries = 200
	maxEntries     = 1000
	maxSeq         = 1 << 53
	maxPageBytes   = 4 << 20
	pageFrame      = 512 // the members beside the entries, at their longest
)

type historyPage struct {
	Namespace  string            `json:"namespace"`
	WorkflowID string            `json:"workflow_id"`
	Events     []json.RawMessage `json:"events"`
	HeadSeq    history.Seq       `json:"head_seq"`
	Next       history.Seq       `json:"next_from_seq"`
	More       bool              `json:"more"`
	Immutable  bool              `json:"page_is_immutable"`
}

func (a *API) readHistory(ctx context.Context, q *request) (answer, error) {
	req := runs.WalkRequest{Ref: q.ref(), FromSeq: q.query.whole("from_seq", 0, 1, maxSeq), Types: q.query.texts("type")}
	req.Descending = q.query.one("order", "asc", "desc") == "desc"
	limit := int(q.query.whole("limit", defaultEntries, 1, maxEntries))
	valueBytes := wire.Whole
	if q.query.one("payloads", "full", "cut") == "cut" {
		valueBytes = wire.MaxValue
	}
	for _, kind := range req.Types {
		q.query.word("type", kind, history.Types())
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	if q.media == mediaLines {
		return answer{lines: func(ctx context.Context, line func(any) error) error {
			_, err := a.Runs.Walk(ctx, q.who, req, func(r history.Recorded) (bool, error) { return true, line(wire.EventOf(r, valueBytes)) })
			return err
		}}, nil
	}
	fill := wire.NewPage(maxPageBytes, pageFrame)
	newest := history.Seq(0)
	walked, err := a.Runs.Walk(ctx, q.who, req, func(r history.Recorded) (bool, error) {
		if len(fill.Entries) == limit {
			return false, nil
		}
		entry, err := domain.Encode(wire.EventOf(r, valueBytes))
		if err != nil || !fill.Add(entry) {
			return false, err
		}
		newest = max(newest, r.Seq)
		return true, nil
	})
	if err != nil {
		return answer{}, err
	}
	out := historyPage{
		Namespace: req.Namespace, WorkflowID: string(walked.WorkflowID), Events: fill.Entries, HeadSeq: walked.HeadSeq, Next: walked.Next, More: walked.More,
	}
	// What is not full may still grow, and a page of the newest events moves with them.
	fixed := walked.More && (!req.Descending || req.FromSeq > 0)
	out.Immutable = fixed && len(fill.Entries) > 0 && newest < walked.HeadSeq
	return answer{value: out, immutable: out.Immutable}, nil
}

func (a *API) readEvent(ctx context.Context, q *request) (answer, error) {
	seq, err := strconv.ParseInt(q.param("seq"), 10, 64)
	if err != nil || seq < 1 || seq > maxSeq {
		return answer{}, invalid(fmt.Sprintf("the seq of an event is a whole number from 1 on; got %q", domain.Quote(q.param("seq"), 64)))
	}
	r, err := a.Runs.Event(ctx, q.who, q.ref(), seq)
	if err != nil {
		return answer{}, err
	}
	return answer{value: wire.EventOf(r, wire.Whole)}, nil
}

// followHistory goes on behind Last-Event-ID, else from from_seq, else from the beginning.
func (a *API) followHistory(ctx context.Context, q *request) (answer, error) {
	ref := q.ref()
	req := runs.HistoryRequest{Namespace: ref.Namespace, WorkflowID: ref.WorkflowID, RunID: ref.RunID, FromSeq: q.query.whole("from_seq", 1, 1, maxSeq)}
	last, resumed, err := q.lastEvent()
	if err != nil {
		return answer{}, err
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	if resumed {
		req.FromSeq = last + 1
	}
	ahead, err := a.Runs.Ahead(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	if req.FromSeq > ahead.HeadSeq+1 {
		return beyond(resumed, req.FromSeq, ahead.HeadSeq)
	}
	if ahead.Over {
		return answer{}, nil // tells an EventSource to stop
	}
	return answer{stream: func(ctx context.Context, f *feed) error {
		err := a.Runs.Follow(ctx, q.who, req, func(r history.Recorded) error { return f.send(r.Seq, "history", wire.EventOf(r, wire.Whole)) })
		if err != nil {
			return err
		}
		run, err := a.Runs.Outcome(ctx, q.who, ref, 0)
		if err != nil {
			return err
		}
		return &endedError{status: string(run.Status)}
	}}, nil
}

// lastEvent reads Last-Event-ID.
func (q *request) lastEvent() (id int64, given bool, err error) {
	text, ok := q.header("Last-Event-ID")
	if ok && text == "" {
		return 0, false, nil
	}
	id, err = strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || id < 0 || id > maxSeq {
		return 0, false, invalid("Last-Event-ID is sent once and repeats the id of an event of this stream; leave it out to begin anew")
	}
	return id, true, nil
}

// beyond answers a reader who asks for what is behind the next event: their cursor comes from another store, or is wrong.
func beyond(resumed bool, from, head int64) (answer, error) {
	if resumed {
		return answer{stream: func(context.Context, *feed) error {
			return &resyncError{reason: "the cursor is beyond the newest event"}
		}}, nil
	}
	return answer{}, &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CursorAheadOfHistory",
		Message: fmt.Sprintf("from_seq %d is beyond the next event (head_seq %d); start at most one behind the head, or without from_seq", from, head),
	}
}
