package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/transcript"
	"aion/ports"
)

// TranscriptStore runs the suite of ports.TranscriptStore.
func TranscriptStore(t *testing.T, open func(testing.TB) ports.TranscriptStore) {
	run(t, open, map[string]func(*testing.T, ports.TranscriptStore){
		"an unknown stream is empty":                       noStream,
		"every kind of record comes back whole":            everyRecordReturns,
		"store_seq is dense from 0 over all batches":       denseRecords,
		"what was stored before is dropped":                duplicateRecords,
		"streams of two runs and two attempts stay apart":  streamsApart,
		"readers page by cursor while a writer appends":    readWhileWriting,
		"20 producers of one stream leave no gap":          manyProducers,
		"a batch of duplicates stores nothing, not a head": onlyDuplicates,
	})
}

func line(n int64) transcript.Record {
	return transcript.Record{
		WorkerSeq: n, EmittedAt: start.Add(time.Duration(n) * time.Millisecond), AgentID: transcript.NilAgent,
		AgentRole: "command stdout", Kind: transcript.Message, Role: "tool", Text: fmt.Sprint("line ", n),
	}
}

func lines(from, n int64) []transcript.Record {
	var rs []transcript.Record
	for i := range n {
		rs = append(rs, line(from+i))
	}
	return rs
}

func records(t *testing.T, s ports.TranscriptStore, key domain.AttemptKey, from int64, limit int) ([]transcript.Record, int64) {
	t.Helper()
	rs, head, err := s.Records(t.Context(), key, from, limit)
	return must(t, rs, err), head
}

func store(t *testing.T, s ports.TranscriptStore, key domain.AttemptKey, rs []transcript.Record) int64 {
	t.Helper()
	first, err := s.AppendRecords(t.Context(), key, rs)
	return must(t, first, err)
}

func noStream(t *testing.T, s ports.TranscriptStore) {
	f := newFlow(1)
	rs, head := records(t, s, f.key(0, 1), 0, 10)
	same(t, "records", rs, []transcript.Record(nil))
	same(t, "head", head, int64(0))
	heads, err := s.Heads(t.Context(), f.id, f.run)
	same(t, "heads", must(t, heads, err), []transcript.Head(nil))
	head, seq, err := s.Tail(t.Context(), f.key(0, 1))
	same(t, "tail", []int64{must(t, head, err), seq}, []int64{0, 0})
}

func everyRecordReturns(t *testing.T, s ports.TranscriptStore) { // report 15
	payload := json.RawMessage("{\"n\": 9007199254740993, \"b\":\"\\u0000 \xff\"}")
	all := []transcript.Record{
		{Kind: transcript.Message, Role: "assistant", Text: "a\x00b\xff é\n", Partial: true, AgentID: id(5), AgentRole: "coder"},
		{Kind: transcript.Message, Role: "tool", Text: "", AgentID: transcript.NilAgent, AgentRole: "command stderr (line 2 of 5)"},
		{Kind: transcript.ToolCall, Tool: "grep", CallID: "c1", Input: payload, AgentID: id(5)},
		{Kind: transcript.ToolResult, CallID: "c1", Output: payload, IsError: true, AgentID: id(5)},
		{Kind: transcript.ToolResult, CallID: "c2", Output: json.RawMessage(`null`), AgentID: ""},
		{Kind: transcript.Progress, Detail: json.RawMessage(`{"status":"gap","lines":3}`), AgentID: transcript.NilAgent, AgentRole: "command"},
		{Kind: transcript.Stop, Reason: "end_turn", AgentID: id(5)},
		{Kind: transcript.Raw, Source: "harness", Value: payload, AgentID: id(5)},
	}
	for i := range all {
		all[i].WorkerSeq = int64(i)*3 + 1
		all[i].EmittedAt = start.Add(time.Duration(i))
	}
	key := newFlow(1).key(0, 1)
	store(t, s, key, all)
	for i := range all {
		all[i].StoreSeq, all[i].EmittedAt = int64(i), start // microseconds are kept, nanoseconds are not
	}
	rs, _ := records(t, s, key, 0, 100)
	same(t, "records", rs, all)
}

func denseRecords(t *testing.T, s ports.TranscriptStore) {
	key := newFlow(1).key(0, 1)
	same(t, "first", store(t, s, key, lines(1, 3)), int64(0))
	same(t, "first", store(t, s, key, lines(10, 2)), int64(3))
	same(t, "first of none", store(t, s, key, nil), int64(5))
	for _, c := range []struct {
		from  int64
		limit int
		want  []int64
	}{{0, 10, []int64{0, 1, 2, 3, 4}}, {2, 2, []int64{2, 3}}, {4, 10, []int64{4}}, {5, 10, nil}, {900, 10, nil}, {-4, 1, []int64{0}}, {0, 0, nil}} {
		rs, head := records(t, s, key, c.from, c.limit)
		var got []int64
		for _, r := range rs {
			got = append(got, r.StoreSeq)
		}
		same(t, fmt.Sprintf("store_seq from %d, limit %d", c.from, c.limit), got, c.want)
		same(t, "head", head, int64(5))
	}
	head, seq, err := s.Tail(t.Context(), key)
	same(t, "tail", []int64{must(t, head, err), seq}, []int64{5, 11})
}

func duplicateRecords(t *testing.T, s ports.TranscriptStore) { // actions 7.3
	key := newFlow(1).key(0, 1)
	store(t, s, key, lines(1, 4))
	same(t, "first", store(t, s, key, lines(3, 4)), int64(4)) // 3 and 4 are known
	same(t, "first", store(t, s, key, []transcript.Record{line(9), line(8), line(9), line(10)}), int64(6))
	rs, _ := records(t, s, key, 0, 100)
	var got []int64
	for _, r := range rs {
		got = append(got, r.WorkerSeq)
	}
	same(t, "worker_seq", got, []int64{1, 2, 3, 4, 5, 6, 9, 10})
}

func onlyDuplicates(t *testing.T, s ports.TranscriptStore) {
	f := newFlow(1)
	store(t, s, f.key(0, 1), []transcript.Record{line(0), line(-1)}) // nothing is above 0
	heads, err := s.Heads(t.Context(), f.id, f.run)
	same(t, "heads", must(t, heads, err), []transcript.Head(nil))
}

func streamsApart(t *testing.T, s ports.TranscriptStore) { // engine 6
	f := newFlow(1)
	other := f.key(0, 1)
	other.RunID = domain.RunID(id(5))
	store(t, s, f.key(2, 1), lines(1, 1))
	store(t, s, f.key(0, 2), lines(1, 2))
	store(t, s, f.key(0, 1), lines(1, 3))
	store(t, s, other, lines(1, 4))
	heads, err := s.Heads(t.Context(), f.id, f.run)
	same(t, "heads", must(t, heads, err), []transcript.Head{{Key: f.key(0, 1), Head: 3}, {Key: f.key(0, 2), Head: 2}, {Key: f.key(2, 1), Head: 1}})
	rs, head := records(t, s, other, 0, 100)
	same(t, "records of the other run", []int64{int64(len(rs)), head}, []int64{4, 4})
}

func readWhileWriting(t *testing.T, s ports.TranscriptStore) {
	const batches, each = 20, 25
	key := newFlow(1).key(0, 1)
	errs := together(4, func(n int) error {
		if n == 0 {
			for b := range int64(batches) {
				if _, err := s.AppendRecords(t.Context(), key, lines(b*each+1, each)); err != nil {
					return err
				}
			}
			return nil
		}
		for next := int64(0); next < batches*each; {
			rs, head, err := s.Records(t.Context(), key, next, 40)
			if err != nil {
				return err
			}
			for _, r := range rs {
				if r.StoreSeq != next || r.WorkerSeq != next+1 || next >= head {
					return fmt.Errorf("record %d (worker %d) where %d is due, head %d", r.StoreSeq, r.WorkerSeq, next, head)
				}
				next++
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func manyProducers(t *testing.T, s ports.TranscriptStore) {
	key := newFlow(1).key(0, 1)
	errs := together(20, func(n int) error {
		_, err := s.AppendRecords(t.Context(), key, lines(int64(n)*10+1, 10))
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	rs, head := records(t, s, key, 0, 1000)
	same(t, "head", head, int64(len(rs)))
	for i, r := range rs {
		if r.StoreSeq != int64(i) || i > 0 && r.WorkerSeq <= rs[i-1].WorkerSeq {
			t.Fatalf("record %d has store_seq %d and worker_seq %d", i, r.StoreSeq, r.WorkerSeq)
		}
	}
}
