package tools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/transcript"
)

// granted is a caller with the given namespaces and no deploy grant.
type granted struct{ namespaces []domain.Namespace }

func (g granted) Caller(*http.Request) (access.Caller, error) {
	return access.Caller{Subject: "ada", Namespaces: g.namespaces, Source: "header", Mode: "token"}, nil
}

// mcp 41
func TestTranscriptOfOneGeneration(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := chain(t, store, 1)
	page := w.ok("read_transcript", s.stream(2, 0, 1))
	if events := page.list("events"); len(events) != 2 || events[0].text("text") != "four" || events[1].int("store_seq") != 1 || page.int("head_seq") != 2 || page.int("next_from_seq") != 2 || page.is("more") || !page.is("attempt_open") {
		t.Errorf("%v", page.members)
	}
	if page := w.ok("read_transcript", s.stream(1, 0, 1)); page.int("head_seq") != 3 || page.is("attempt_open") || page.text("activity_type") != "greet" {
		t.Errorf("%v", page.members)
	}
	a := s.stream(2, 0, 1)
	delete(a, "run_id")
	w.invalid("read_transcript", a)
	w.refused("read_transcript", with(s.stream(2, 0, 1), "run_id", uuid(99)), "not_found", "RunNotFound")
}

// mcp 42
func TestTranscriptOfAnAttemptThatNeverWas(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := seed(t, store, 1)
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"}, scheduled(1))
	for _, a := range []args{s.stream(1, 1, 1), s.stream(1, 0, 2), s.stream(1, 7, 1)} {
		if got := w.refused("read_transcript", a, "not_found", "TranscriptNotFound"); !strings.Contains(got.Message, "never dispatched") || !strings.Contains(got.Message, "describe_run") {
			t.Errorf("%s", got.Message)
		}
	}
	if page := w.ok("read_transcript", s.stream(1, 0, 1)); len(page.list("events")) != 0 || page.int("head_seq") != 0 || page.int("next_from_seq") != 0 || page.is("more") {
		t.Errorf("a silent attempt: %v", page.members)
	}
}

// mcp 43
func TestTranscriptCursor(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := chain(t, store, 1)
	page := w.ok("read_transcript", with(s.stream(2, 0, 1), "limit", 1))
	if len(page.list("events")) != 1 || page.int("next_from_seq") != 1 || !page.is("more") || page.int("head_seq") != 2 {
		t.Errorf("limit 1: %v", page.members)
	}
	page = w.ok("read_transcript", with(s.stream(2, 0, 1), "from_seq", 500))
	if len(page.list("events")) != 0 || page.int("next_from_seq") != 2 || page.is("more") || page.int("head_seq") != 2 {
		t.Errorf("from 500: %v", page.members)
	}
	w.ok("read_transcript", with(s.stream(2, 0, 1), "from_seq", int64(9007199254740991), "limit", 500))
}

// mcp 44
func TestHistoryCursor(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := chain(t, store, 1) // eight events in two generations
	page := w.ok("read_history", with(s.args(), "limit", 3))
	events := page.list("events")
	if len(events) != 3 || page.int("head_seq") != 8 || page.int("next_from_seq") != 4 || !page.is("more") || !page.is("page_is_immutable") {
		t.Errorf("limit 3: %v", page.members)
	}
	if events[0].text("type") != "WorkflowStarted" || events[0].int("seq") != 1 || events[0].at("data").text("workflow_type") != "seeded" || events[0].text("run_id") != string(s.runID(1)) {
		t.Errorf("first event %v", events[0].members)
	}
	page = w.ok("read_history", with(s.args(), "from_seq", 8))
	if len(page.list("events")) != 1 || page.int("next_from_seq") != 9 || page.is("more") || page.is("page_is_immutable") || page.list("events")[0].text("run_id") != string(s.runID(2)) {
		t.Errorf("from 8: %v", page.members)
	}
	page = w.ok("read_history", with(s.args(), "from_seq", 100))
	if len(page.list("events")) != 0 || page.int("next_from_seq") != 9 || page.is("more") || page.is("page_is_immutable") {
		t.Errorf("past the end: %v", page.members)
	}
	if page := w.ok("read_history", s.args()); len(page.list("events")) != 8 || page.is("page_is_immutable") {
		t.Errorf("whole: %v", page.members)
	}
}

// mcp 45
func TestPagingGivesEachEntryOnceWhileEntriesAreAppended(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	const total = 10_000
	s := seed(t, store, 1)
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"})
	appendEvents := func(n int) {
		events := make([]history.Event, 0, n)
		texts := make([]string, 0, n)
		for i := range n {
			events = append(events, signalled(int(s.head)+i, `1`))
			texts = append(texts, "x")
		}
		s.add(events...)
		s.lines(1, 0, 1, texts...)
	}
	appendEvents(total / 2)
	for tool, a := range map[string]args{"read_history": s.args(), "read_transcript": s.stream(1, 0, 1)} {
		next, member, pages := int64(0), "store_seq", 0
		if tool == "read_history" {
			next, member = 1, "seq"
		}
		for {
			page := w.ok(tool, with(a, "from_seq", next))
			for _, e := range page.list("events") {
				if e.int(member) != next {
					t.Fatalf("%s: %d where %d is due", tool, e.int(member), next)
				}
				next++
			}
			if page.int("next_from_seq") != next {
				t.Fatalf("%s: next_from_seq %d, want %d", tool, page.int("next_from_seq"), next)
			}
			if !page.is("more") {
				break
			}
			if pages++; pages <= 50 {
				appendEvents(total / 100 / 2)
			}
		}
		if next < total/2 {
			t.Errorf("%s: %d entries", tool, next)
		}
	}
	if s.head < total/2+5000/2 {
		t.Errorf("only %d events", s.head)
	}
}

// mcp 54, report 60
func TestLargeValuesAreReplacedAndPagesBounded(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := seed(t, store, 1)
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"})
	text := func(n int) string { return `"` + strings.Repeat("ä", (n-2)/2) + `"` }
	for i, n := range []int{8_192, 8_194, 65_536, 65_538, 1 << 20} {
		s.add(signalled(i, text(n)))
	}
	truncated := func(e answer) answer { return e.at("data").at("payload") }
	page := w.ok("read_history", with(s.args(), "from_seq", 4, "limit", 500))
	events := page.list("events")
	for i, whole := range []bool{true, true, true, false, false} {
		if (events[i].at("data").text("payload") != "") != whole {
			t.Errorf("event %d with a limit: whole is %v", i, !whole)
		}
	}
	if p := truncated(events[4]); !p.is("$truncated") || p.int("bytes") != 1<<20 || p.text("preview") != `"`+strings.Repeat("ä", 1023) {
		t.Errorf("replaced: %.100v", p.members)
	}
	page = w.ok("read_history", with(s.args(), "from_seq", 4))
	for i, e := range page.list("events") {
		if (e.at("data").text("payload") != "") != (i == 0) {
			t.Errorf("event %d without a limit", i)
		}
	}
	for range 600 {
		s.add(signalled(int(s.head), text(1000)))
	}
	bounded := func(tool string, a args, limit int) {
		next, seen := int64(1), 0
		for {
			structured := w.call(tool, with(a, "from_seq", next)).Result(t).Structured
			if len(structured) > limit {
				t.Errorf("%s %v: a page of %d bytes", tool, a["limit"], len(structured))
			}
			page := decode(t, structured)
			seen += len(page.list("events"))
			next = page.int("next_from_seq")
			if !page.is("more") {
				break
			}
		}
		if seen != int(s.head) {
			t.Errorf("%s %v: %d entries of %d", tool, a["limit"], seen, s.head)
		}
	}
	bounded("read_history", s.args(), 32_768)
	bounded("read_history", with(s.args(), "limit", 500), 262_144)
	// A single entry that is larger than a page still comes.
	small := open(t, settings{backend: store, maxResult: 1000})
	if page := small.ok("read_history", with(s.args(), "from_seq", 4, "limit", 500)); len(page.list("events")) != 1 || !page.is("more") || page.int("next_from_seq") != 5 {
		t.Errorf("a single huge entry: %d events", len(page.list("events")))
	}
}

// mcp 54: transcripts, with every kind of record.
func TestLargeRecordsAreCut(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := seed(t, store, 1)
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"})
	key := domain.AttemptKey{WorkflowID: s.id, RunID: s.runID(1), ActivityID: 0, Attempt: 1}
	large := json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`)
	records := []transcript.Record{
		{Kind: transcript.Message, Role: "assistant", Text: "a" + strings.Repeat("ä", 5000), Partial: true},
		{Kind: transcript.ToolCall, Tool: "grep", CallID: "c1", Input: large},
		{Kind: transcript.ToolResult, CallID: "c1", Output: large, IsError: true},
		{Kind: transcript.Progress, Detail: json.RawMessage(`{"status":"full"}`)},
		{Kind: transcript.Stop, Reason: "end_turn"},
		{Kind: transcript.Raw, Source: "x", Value: json.RawMessage(`[1, 2]`)},
		{Kind: transcript.Message, Role: "tool", Text: ""},
	}
	for i := range records {
		records[i].WorkerSeq, records[i].EmittedAt, records[i].AgentID, records[i].AgentRole = int64(i+1), s.at, transcript.NilAgent, "agent"
	}
	if _, err := store.AppendRecords(t.Context(), key, records); err != nil {
		t.Fatal(err)
	}
	e := w.ok("read_transcript", s.stream(1, 0, 1)).list("events")
	if text := e[0].text("text"); len(text) > 8192 || len(text) < 8190 || !strings.HasSuffix(text, "ä") || !e[0].is("truncated") || !e[0].is("partial") || e[0].text("role") != "assistant" {
		t.Errorf("message: %d bytes %v", len(text), e[0].members["truncated"])
	}
	if !e[1].at("input").is("$truncated") || e[1].text("tool") != "grep" || !e[2].at("output").is("$truncated") || !e[2].is("is_error") || e[2].text("call_id") != "c1" {
		t.Errorf("tool call: %.300v %.300v", e[1].members, e[2].members)
	}
	if e[3].at("detail").text("status") != "full" || e[4].text("reason") != "end_turn" || fmt.Sprint(e[5].members["value"]) != "[1 2]" || e[5].text("source") != "x" {
		t.Errorf("%v %v %v", e[3].members, e[4].members, e[5].members)
	}
	if _, there := e[6].members["text"]; !there || e[6].members["partial"] != nil || e[6].members["truncated"] != nil {
		t.Errorf("an empty line: %v", e[6].members)
	}
	e = w.ok("read_transcript", with(s.stream(1, 0, 1), "limit", 500)).list("events")
	if len(e[0].text("text")) != 10_001 || e[0].members["truncated"] != nil || e[1].text("input") == "" {
		t.Error("with a limit nothing is cut under 64 KiB")
	}
}

// report 60
func TestDescribeOfALongRunStaysSmall(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := seed(t, store, 1)
	s.add(s.generation())
	const activities = 300
	for id := range int64(activities) {
		s.add(scheduled(id), history.ActivityStarted{ActivityID: id, Attempt: 1, Executor: "server"},
			history.ActivityCompleted{ActivityID: id, Attempt: 1, Result: json.RawMessage(`"x"`)})
		s.lines(1, id, 1, "x")
	}
	reply := w.Send(t, request(t, "describe_run", s.args()))
	structured := reply.Result(t).Structured
	d := decode(t, structured)
	handles := d.list("transcripts")
	if len(structured) > 40<<10 || len(handles) == 0 || int64(len(handles))+d.int("transcripts_omitted") != activities {
		t.Errorf("%d bytes, %d transcripts, %d omitted", len(structured), len(handles), d.int("transcripts_omitted"))
	}
	if last := handles[len(handles)-1]; last.int("activity_id") != activities-1 || handles[0].int("activity_id") != activities-int64(len(handles)) {
		t.Errorf("not the newest: %v to %v", handles[0].members, last.members)
	}
	for _, tool := range []string{"list_runs", "read_history"} {
		a := s.args()
		if tool == "list_runs" {
			delete(a, "workflow_id")
		}
		if n := len(w.call(tool, a).Result(t).Structured); n > 40<<10 {
			t.Errorf("%s: %d bytes", tool, n)
		}
	}
}
