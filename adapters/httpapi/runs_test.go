package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/action"
	"aion/ports"
)

const (
	// one runs one action and ends.
	one = `//! One action.
workflow one
  input n: Int
  outcome done: type Done, route success

type Done { text: String }

worker bench
  action touch(n: Int) -> String
    run "true" capture text

step all
  touch(n: n) -> text
  route done(text: text)
`
	// gate waits for a signal and ends with its payload.
	gate = `//! Waits for an answer.
workflow gate
  input n: Int
  signal go: Answer
  outcome done: type Done, route success
  outcome denied: type Done, route failure

type Answer { ok: Bool, n: Int }
type Done { n: Int }

step hold
  wait go -> answer

  outcome fine: when answer.ok, route done(n: answer.n)
  outcome bad: otherwise, route denied(n: answer.n)
`
)

// server 1
func TestARunIsStartedReadAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(one)
	started := w.post(runsOf, `{"workflow_type":"one","input":{"n":1},"labels":{"team":"docs"}}`).ok(http.StatusCreated)
	run := runsOf + "/" + started.text("workflow_id")
	if got := started.header.Get("Location"); got != run {
		t.Errorf("Location %q, want %q", got, run)
	}
	end := w.ended(run).object()
	if end["status"] != "Completed" || end["route"] != "success" || end["outcome"] != "done" {
		t.Errorf("the outcome is %v", end)
	}
	described := w.get(run).ok(http.StatusOK).object()
	listed := w.get(runsOf).ok(http.StatusOK).object()["runs"].([]any)[0].(map[string]any)
	for _, member := range []string{"workflow_id", "run_id", "workflow_type", "package_id", "status", "started_at", "ended_at", "outcome", "failure", "history_head_seq"} {
		if described[member] != listed[member] {
			t.Errorf("%s is %v in the run and %v in the list", member, described[member], listed[member])
		}
	}
	if d := cmp.Diff(map[string]any{"team": "docs"}, listed["labels"]); d != "" {
		t.Error(d)
	}
	counts := w.get(runsOf + "/counts").ok(http.StatusOK).object()
	if c := counts["counts"].(map[string]any); fmt.Sprintf("%v %v %v", c["Completed"], c["Running"], counts["total"]) != "1 0 1" {
		t.Errorf("counts %v", counts)
	}
	generations := w.get(run + "/generations").ok(http.StatusOK).object()["generations"].([]any)
	if len(generations) != 1 || generations[0].(map[string]any)["run_id"] != described["run_id"] {
		t.Errorf("generations %v", generations)
	}
}

// server 1
func TestEveryRefusalOfARunIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	nobody := runsOf + "/0198d6d2-5a0e-7c3f-8f1e-0a2b4c6d8e0f"
	w.post(runsOf, `{"workflow_type":"gaet"}`).refused(404, "not_found", "WorkflowTypeNotFound")
	w.post(runsOf, `{"workflow_type":"gate","input":{"n":"x"}}`).refused(400, "invalid_input", "InputRejected")
	w.post(runsOf, `{"workflow_type":"gate","input":{"n":1},"workflow_id":"`+strings.TrimPrefix(run, runsOf+"/")+`"}`).refused(409, "invalid_state", "WorkflowExists")
	for _, path := range []string{"", "/generations", "/outcome", "/history", "/history/1", "/activities", "/activities/0", "/transcripts"} {
		w.get(nobody+path).refused(404, "not_found", "WorkflowNotFound")
		w.get("/api/v1/namespaces/elsewhere/runs"+strings.TrimPrefix(run, runsOf)+path).refused(404, "not_found", "WorkflowNotFound")
	}
	for _, path := range []string{"", "/outcome", "/activities", "/transcripts"} {
		w.get(run+path+"?run_id=0198d6d2-5a0e-7c3f-8f1e-0a2b4c6d8e0f").refused(404, "not_found", "RunNotFound")
	}
	w.get(run+"/history/99").refused(404, "not_found", "EventNotFound")
	w.get(run+"/activities/7").refused(404, "not_found", "ActivityNotFound")
	w.get(run+"/history/stream?from_seq=99").refused(400, "invalid_input", "CursorAheadOfHistory")
	id := w.get(run).text("run_id")
	w.get(run+"/transcript?activity_id=0&attempt=1&run_id="+id).refused(404, "not_found", "TranscriptNotFound")
	w.get(run+"/transcript/stream?activity_id=0&attempt=1&run_id="+id).refused(404, "not_found", "TranscriptNotFound")
	w.get(run+"/transcript").refused(400, "invalid_input", "SchemaViolation")
	w.post(run+"/signals", `{"signal_name":"og"}`).refused(400, "invalid_input", "UnknownSignal")
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":1}}`).refused(400, "invalid_input", "SignalPayloadRejected")
	w.post(run+"/queries", `{"query_name":"nothing"}`).refused(400, "unknown_query", "UnknownQuery")
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":false,"n":2}}`).ok(200)
	end := w.ended(run).object()
	if end["status"] != "Failed" || end["route"] != "failure" {
		t.Errorf("the outcome is %v", end)
	}
	for path, body := range map[string]string{"/signals": `{"signal_name":"go","payload":{"ok":true,"n":2}}`, "/cancel": "", "/pause": "{}", "/resume": ""} {
		w.post(run+path, body).refused(409, "not_running", "WorkflowTerminal")
	}
	w.post(run+"/queries", `{"query_name":"nothing"}`).refused(409, "not_running", "QueryNotRunning")
}

// server 4, report 76
func TestNumbersSurviveTheWholeWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	for _, n := range []string{"9007199254740993", "9223372036854775807", "-9223372036854775808"} {
		run := w.start("gate", `{"n":`+n+`}`)
		w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":true,"n":`+n+`}}`).ok(200)
		if got := fmt.Sprint(w.ended(run).object()["result"]); got != "map[n:"+n+"]" {
			t.Errorf("%s came back as %s", n, got)
		}
		for _, accept := range []string{"application/json", "application/x-ndjson"} {
			history := string(w.get(run+"/history", "Accept", accept).ok(200).body)
			if got := strings.Count(history, `:`+n); got != 3 {
				t.Errorf("%s stands %d times in the history as %s, want 3: %s", n, got, accept, history)
			}
		}
		if got := w.stream(run + "/history/stream"); strings.Count(got, `:`+n) != 3 {
			t.Errorf("the stream has %s otherwise: %s", n, got)
		}
	}
}

func TestARunIsHeldAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	paused := w.post(run+"/pause", `{"reason":"audit"}`).ok(200).object()
	if paused["status"] != "Paused" || paused["changed"] != true || paused["history_seq"] == nil {
		t.Errorf("paused %v", paused)
	}
	if again := w.post(run+"/pause", "").ok(200).object(); again["changed"] != false || again["history_seq"] != nil || again["status"] != "Paused" {
		t.Errorf("paused again %v", again)
	}
	if d := w.get(run).object(); d["paused_reason"] != "audit" || d["status"] != "Paused" {
		t.Errorf("described %v", d)
	}
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":true,"n":2}}`).ok(200)
	if open := w.get(run + "/outcome").ok(http.StatusAccepted).object(); open["status"] != "Paused" {
		t.Errorf("a paused run took a signal: %v", open)
	}
	if resumed := w.post(run+"/resume", "").ok(200).object(); resumed["changed"] != true {
		t.Errorf("resumed %v", resumed)
	}
	if end := w.ended(run).object(); end["status"] != "Completed" {
		t.Errorf("ended %v", end)
	}
}

func TestACancelledRunTellsWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	got := w.post(run+"/cancel", `{"reason":"withdrawn"}`).ok(200).object()
	event := w.get(run + "/history/" + got["history_seq"].(json.Number).String()).ok(200).object()
	if event["type"] != "WorkflowCancelled" || got["reason"] != "withdrawn" {
		t.Errorf("cancelled %v by %v", got, event)
	}
	if end := w.ended(run).object(); end["status"] != "Cancelled" || end["failure"].(map[string]any)["message"] != "withdrawn" {
		t.Errorf("ended %v", end)
	}
}

// server 1.5, 1.6
func TestAListShowsWhereRunsStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(one)
	w.deploy(gate)
	release := make(chan struct{})
	w.hands.say(func(ctx context.Context, _ ports.Execution) action.Verdict {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return action.Fail(action.Terminal, "broken", strings.Repeat("é", 2000), nil)
	})
	run := w.start("one", `{"n":1}`)
	cancelled := w.start("gate", `{"n":1}`)
	w.post(cancelled+"/cancel", `{"reason":"withdrawn"}`).ok(200)
	listed := func(filter string) []any {
		return w.get(runsOf + "?" + filter).ok(http.StatusOK).object()["runs"].([]any)
	}
	for _, order := range []string{"started_desc", "started_asc"} {
		row := listed("workflow_type=one&order=" + order)[0].(map[string]any)
		described := w.get(run).object()
		want := map[string]any{"activity_id": json.Number("0"), "activity_type": "touch", "attempt": json.Number("1"), "step": "all"}
		if d := cmp.Diff(want, row["current_step"]); d != "" {
			t.Error(d)
		}
		if row["failure"] != nil || row["history_head_seq"] != described["history_head_seq"] {
			t.Errorf("%v and %v", row, described)
		}
	}
	if n := len(listed("attention=true")) + len(listed("order=ended_desc&workflow_type=one")); n != 0 {
		t.Errorf("%d runs ask for attention or have ended", n)
	}
	close(release)
	w.ended(run)
	row := listed("attention=true&order=ended_desc")[0].(map[string]any)
	failure := row["failure"].(map[string]any)
	if text := []rune(failure["message"].(string)); failure["code"] != "activity_failed" || len(text) != 1000 || row["current_step"] != nil {
		t.Errorf("%v with %d", row, len(text))
	}
	rows := listed("order=ended_desc")
	if len(rows) != 2 || rows[1].(map[string]any)["failure"].(map[string]any)["message"] != "withdrawn" {
		t.Errorf("%v", rows)
	}
	version := row["package_id"].(string)
	if n := len(listed("package_id=" + version)); n != 1 {
		t.Errorf("%d runs of the version", n)
	}
	first := w.get(runsOf + "?order=ended_desc&limit=1").object()
	w.get(runsOf+"?limit=1&cursor="+first["next_cursor"].(string)).refused(400, "invalid_input", "CursorInvalid")
	second := w.get(runsOf + "?order=ended_desc&limit=1&cursor=" + first["next_cursor"].(string)).ok(200).object()
	if second["runs"].([]any)[0].(map[string]any)["workflow_id"] != rows[1].(map[string]any)["workflow_id"] || second["next_cursor"] != nil {
		t.Errorf("%v", second)
	}
}
