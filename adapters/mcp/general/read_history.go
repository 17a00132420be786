package general

import (
	"context"
	"encoding/json"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain/history"
)

type historyPage struct {
	Namespace   string            `json:"namespace"`
	WorkflowID  string            `json:"workflow_id"`
	Events      []json.RawMessage `json:"events"`
	HeadSeq     history.Seq       `json:"head_seq"`
	NextFromSeq history.Seq       `json:"next_from_seq"`
	More        bool              `json:"more"`
	Immutable   bool              `json:"page_is_immutable"`
}

func (s *Service) readHistory(ctx context.Context, call mcp.Call) (any, error) {
	a := call.Arguments
	from := history.Seq(1)
	if a.Has("from_seq") {
		from = a.Int("from_seq")
	}
	req := runs.HistoryRequest{Namespace: a.Text("namespace"), WorkflowID: a.Text("workflow_id"), FromSeq: from}
	out := historyPage{Namespace: req.Namespace}
	pageBytes, valueBytes := s.bounds(a.Has("limit"))
	const frame = 400 // the members beside the events, at their longest
	fill := wire.NewPage(pageBytes, frame+len(req.Namespace))
	for left := entries(call); left > 0; left -= req.Limit {
		req.Limit = min(left, readAtOnce)
		read, err := s.runs.History(ctx, call.Caller, req)
		if err != nil {
			return nil, err
		}
		out.WorkflowID, out.HeadSeq = string(read.WorkflowID), read.HeadSeq
		full, err := fillEvents(fill, read.Events, valueBytes)
		if err != nil {
			return nil, err
		}
		req.FromSeq = from + int64(len(fill.Entries))
		if full || len(read.Events) < req.Limit {
			break
		}
	}
	out.Events = fill.Entries
	out.NextFromSeq = from + int64(len(fill.Entries))
	if len(fill.Entries) == 0 {
		out.NextFromSeq = out.HeadSeq + 1
	}
	out.More = out.NextFromSeq <= out.HeadSeq
	out.Immutable = out.More && len(fill.Entries) > 0
	return out, nil
}

func fillEvents(fill *page, events []history.Recorded, valueBytes int) (full bool, err error) {
	for _, r := range events {
		entry, err := mcp.Encode(wire.EventOf(r, valueBytes))
		if err != nil {
			return false, err
		}
		if !fill.Add(entry) {
			return true, nil
		}
	}
	return false, nil
}
