package tools_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"aion/domain/history"
	"aion/test/mcp/wire"
)

// report 60: a run of 200,000 events answers every reading tool in a page of at most 40 KB.
func TestDefaultPagesOfA200000EventRunStaySmall(t *testing.T) {
	t.Parallel()
	if wire.Replicas() > 1 {
		t.Skip("once is enough")
	}
	store := newStore()
	// The plan is not loaded here, so each call folds the whole history; with the race detector on a busy machine that takes long.
	w := open(t, settings{backend: store, callTimeout: 10 * time.Minute})
	s := seed(t, store, 1)
	s.add(s.generation())
	const activities, batch = 66_666, 500
	result, err := json.Marshal(map[string]string{"text": "what a step gave, in a sentence of some length", "path": "dir/file.txt"})
	if err != nil {
		t.Fatal(err)
	}
	events := make([]history.Event, 0, 3*batch)
	for id := range int64(activities) {
		events = append(events, scheduled(id), history.ActivityStarted{ActivityID: id, Attempt: 1, Executor: "server"},
			history.ActivityCompleted{ActivityID: id, Attempt: 1, Result: result})
		if len(events) == cap(events) || id == activities-1 {
			s.add(events...)
			events = events[:0]
		}
		if id%100 == 0 {
			s.lines(1, id, 1, "x")
		}
	}
	texts := make([]string, 2000)
	for i := range texts {
		texts[i] = fmt.Sprintf("line %d of a command that says what it does", i)
	}
	for range 100 {
		s.lines(1, activities-1, 1, texts...)
	}
	if s.head < 199_999 {
		t.Fatalf("%d events", s.head)
	}
	for tool, a := range map[string]args{
		"describe_run": s.args(), "read_history": s.args(), "list_runs": {"namespace": "default"},
		"read_transcript": s.stream(1, activities-1, 1), "list_documents": nil,
	} {
		reply := w.call(tool, a)
		if got := reply.Result(t); got.IsError || len(got.Structured) > 40_000 {
			t.Errorf("%s: %d bytes, %.300s", tool, len(got.Structured), reply.Body)
		}
	}
	last := w.ok("read_history", with(s.args(), "from_seq", s.head-5))
	if last.is("more") || last.int("head_seq") != s.head || len(last.list("events")) != 6 {
		t.Errorf("the end of the history: %v", last.members["next_from_seq"])
	}
}
