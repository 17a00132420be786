package httpapi

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"aion/adapters/web/wire"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/transcript"
)

func (a *API) transcriptRoutes() []route {
	handle := []string{"run_id", "activity_id", "attempt", "from_seq"}
	return []route{
		{method: "GET", path: runPath + "/transcripts", grant: namespaced, query: []string{"run_id", "limit", "cursor"}, serve: a.listTranscripts},
		{
			method: "GET", path: runPath + "/transcript", grant: namespaced, media: []string{mediaJSON, mediaLines, mediaText}, serve: a.readTranscript,
			query: append([]string{"limit"}, handle...),
		},
		{
			method: "GET", path: runPath + "/transcript/stream", grant: namespaced, media: []string{mediaEvents}, timeout: endless, serve: a.followTranscript,
			query: handle,
		},
	}
}

type openTranscript struct {
	wire.Transcript
	AttemptOpen bool `json:"attempt_open"`
}

func (a *API) listTranscripts(ctx context.Context, q *request) (answer, error) {
	limit := q.limit()
	position, err := q.offset()
	if err != nil {
		return answer{}, err
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	runID, all, err := a.Runs.TranscriptList(ctx, q.who, q.ref())
	if err != nil {
		return answer{}, err
	}
	out := struct {
		RunID       string           `json:"run_id"`
		Transcripts []openTranscript `json:"transcripts"`
		NextCursor  wire.Nullable    `json:"next_cursor"`
	}{RunID: string(runID), Transcripts: []openTranscript{}}
	shown, next := q.portion(len(all), position, limit)
	out.NextCursor = next
	for _, t := range all[shown[0]:shown[1]] {
		out.Transcripts = append(out.Transcripts, openTranscript{wire.TranscriptOf(q.param("ns"), t.TranscriptHandle), t.Open})
	}
	return answer{value: out}, nil
}

// handle is the stream that the query names: run, activity and attempt must be given.
func (q *request) handle() transcripts.ReadRequest {
	if !q.query.has("run_id") {
		q.query.faults.add("?run_id", "run_id is missing")
	}
	return transcripts.ReadRequest{
		Namespace: q.param("ns"), WorkflowID: q.param("wid"), RunID: q.query.text("run_id"),
		ActivityID: q.query.required("activity_id", 0, maxSeq), Attempt: int(q.query.required("attempt", 1, math.MaxInt32)),
		FromSeq: q.query.whole("from_seq", 0, 0, maxSeq),
	}
}

type transcriptPage struct {
	wire.Address
	ActivityID   int64             `json:"activity_id"`
	Attempt      int               `json:"attempt"`
	ActivityType string            `json:"activity_type"`
	AttemptOpen  bool              `json:"attempt_open"`
	Events       []json.RawMessage `json:"events"`
	HeadSeq      int64             `json:"head_seq"`
	Next         int64             `json:"next_from_seq"`
	More         bool              `json:"more"`
}

// recordsAtOnce is how many records are read from the store together.
const recordsAtOnce = 64

func (a *API) readTranscript(ctx context.Context, q *request) (answer, error) {
	req := q.handle()
	limit := int(q.query.whole("limit", defaultEntries, 1, maxEntries))
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	if q.media != mediaJSON {
		write := func(r transcript.Record, line func(any) error) error { return line(wire.RecordOf(r, wire.Whole)) }
		if q.media == mediaText {
			write = plainLine
		}
		return answer{lines: func(ctx context.Context, line func(any) error) error {
			_, err := a.records(ctx, q, req, func(r transcript.Record) (bool, error) { return true, write(r, line) })
			return err
		}}, nil
	}
	fill := wire.NewPage(maxPageBytes, pageFrame)
	from := req.FromSeq
	read, err := a.records(ctx, q, req, func(r transcript.Record) (bool, error) {
		if len(fill.Entries) == limit {
			return false, nil
		}
		entry, err := domain.Encode(wire.RecordOf(r, wire.MaxValue))
		if err != nil {
			return false, err
		}
		return fill.Add(entry), nil
	})
	if err != nil {
		return answer{}, err
	}
	out := transcriptPage{
		Address:    wire.Address{Namespace: req.Namespace, WorkflowID: string(read.Key.WorkflowID), RunID: string(read.Key.RunID)},
		ActivityID: read.Key.ActivityID, Attempt: read.Key.Attempt, ActivityType: read.ActivityType, AttemptOpen: read.AttemptOpen,
		Events: fill.Entries, HeadSeq: read.HeadSeq, Next: from + int64(len(fill.Entries)),
	}
	if len(fill.Entries) == 0 {
		out.Next = min(from, out.HeadSeq)
	}
	out.More = out.Next < out.HeadSeq
	return answer{value: out}, nil
}

// records gives stored records to each until it takes no more, and tells what the last reading told.
func (a *API) records(ctx context.Context, q *request, req transcripts.ReadRequest, each func(transcript.Record) (bool, error)) (transcripts.Page, error) {
	req.Limit = recordsAtOnce
	for {
		read, err := a.Transcripts.Read(ctx, q.who, req)
		if err != nil {
			return read, err
		}
		for _, r := range read.Records {
			if taken, err := each(r); err != nil || !taken {
				return read, err
			}
			req.FromSeq = r.StoreSeq + 1
		}
		if len(read.Records) < req.Limit {
			return read, nil
		}
	}
}

// plainLine writes the text of a message; other records have none.
func plainLine(r transcript.Record, line func(any) error) error {
	if r.Kind != transcript.Message {
		return nil
	}
	return line([]byte(strings.TrimSuffix(plain(r.Text), "\n")))
}

func (a *API) followTranscript(ctx context.Context, q *request) (answer, error) {
	req := q.handle()
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
	first := req
	first.Limit = 1
	read, err := a.Transcripts.Read(ctx, q.who, first)
	if err != nil {
		return answer{}, err
	}
	if req.FromSeq > read.HeadSeq {
		return beyond(resumed, req.FromSeq, read.HeadSeq-1)
	}
	if !read.AttemptOpen && req.FromSeq == read.HeadSeq && resumed {
		return answer{}, nil
	}
	return answer{stream: func(ctx context.Context, f *feed) error {
		return a.Transcripts.Follow(ctx, q.who, req, func(r transcript.Record) error {
			id := r.StoreSeq
			if r.Ephemeral {
				id = -1
			}
			return f.send(id, "transcript", wire.RecordOf(r, wire.Whole))
		})
	}}, nil
}
