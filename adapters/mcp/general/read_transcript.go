package general

import (
	"context"
	"encoding/json"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/transcripts"
	domaintranscript "aion/domain/transcript"
)

type transcriptPage struct {
	wire.Address
	ActivityID   int64             `json:"activity_id"`
	Attempt      int               `json:"attempt"`
	ActivityType string            `json:"activity_type"`
	AttemptOpen  bool              `json:"attempt_open"`
	Events       []json.RawMessage `json:"events"`
	HeadSeq      int64             `json:"head_seq"`
	NextFromSeq  int64             `json:"next_from_seq"`
	More         bool              `json:"more"`
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
			fill = wire.NewPage(pageBytes, len(frame))
		}
		full, err := fillRecords(fill, read.Records, valueBytes)
		if err != nil {
			return nil, err
		}
		req.FromSeq = from + int64(len(fill.Entries))
		if full || len(read.Records) < req.Limit {
			break
		}
	}
	out.Events = fill.Entries
	out.NextFromSeq = from + int64(len(fill.Entries))
	if len(fill.Entries) == 0 {
		out.NextFromSeq = min(from, out.HeadSeq)
	}
	out.More = out.NextFromSeq < out.HeadSeq
	return out, nil
}

func fillRecords(fill *page, records []domaintranscript.Record, valueBytes int) (full bool, err error) {
	for _, r := range records {
		entry, err := mcp.Encode(wire.RecordOf(r, valueBytes))
		if err != nil {
			return false, err
		}
		if !fill.Add(entry) {
			return true, nil
		}
	}
	return false, nil
}

func toTranscriptPage(namespace string, read transcripts.Page) transcriptPage {
	return transcriptPage{
		Address:    wire.Address{Namespace: namespace, WorkflowID: string(read.Key.WorkflowID), RunID: string(read.Key.RunID)},
		ActivityID: read.Key.ActivityID, Attempt: read.Key.Attempt, ActivityType: read.ActivityType, AttemptOpen: read.AttemptOpen,
		HeadSeq: read.HeadSeq,
	}
}
