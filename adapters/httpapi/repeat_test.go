package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// together sends the same request n times at once.
func together(n int, send func() reply) []reply {
	replies := make([]reply, n)
	var wait sync.WaitGroup
	for i := range replies {
		wait.Go(func() { replies[i] = send() })
	}
	wait.Wait()
	return replies
}

// once holds that all replies are the same accepted one, and all but one of them repeats.
func once(t *testing.T, status int, replies []reply) {
	t.Helper()
	replayed := 0
	for _, r := range replies {
		r.ok(status)
		if d := cmp.Diff(replies[0].object(), r.object()); d != "" {
			t.Error(d)
		}
		if r.header.Get("Idempotency-Replayed") == "true" {
			replayed++
		}
	}
	if replayed != len(replies)-1 {
		t.Errorf("%d of %d answers say that they repeat", replayed, len(replies))
	}
}

// server 13, report 8
func TestARepeatedKeyChangesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	start := func() reply {
		return w.post(runsOf, `{"workflow_type":"gate","input":{"n":1}}`, "Idempotency-Key", "k-1")
	}
	once(t, http.StatusCreated, together(20, start))
	w.post(runsOf, `{"workflow_type":"gate","input":{"n":2}}`, "Idempotency-Key", "k-1").refused(409, "idempotency_conflict", "IdempotencyConflict")
	if n := len(w.get(runsOf).object()["runs"].([]any)); n != 1 {
		t.Fatalf("%d runs", n)
	}
	run := runsOf + "/" + start().text("workflow_id")
	for _, c := range []struct{ path, body, other string }{
		{"/pause", `{"reason":"a"}`, `{"reason":"b"}`},
		{"/resume", `{"reason":"a"}`, `{"reason":"b"}`},
		{"/signals", `{"signal_name":"go","payload":{"ok":true,"n":2}}`, `{"signal_name":"go","payload":{"ok":true,"n":3}}`},
	} {
		once(t, http.StatusOK, together(8, func() reply { return w.post(run+c.path, c.body, "Idempotency-Key", "k-1") }))
		w.post(run+c.path, c.other, "Idempotency-Key", "k-1").refused(409, "idempotency_conflict", "IdempotencyConflict")
	}
	w.ended(run)
	history := string(w.get(run + "/history").body)
	for _, kind := range []string{"WorkflowPaused", "WorkflowResumed", "SignalReceived"} {
		if n := strings.Count(history, `"`+kind+`"`); n != 1 {
			t.Errorf("%d events %s", n, kind)
		}
	}
	again := start().ok(http.StatusCreated).object()
	if again["status"] != "Running" {
		t.Errorf("the first answer comes again as %v", again)
	}
	other := w.start("gate", `{"n":1}`)
	cancel := func() reply { return w.post(other+"/cancel", `{"reason":"x"}`, "Idempotency-Key", "k-1") }
	once(t, http.StatusOK, together(8, cancel))
	w.post(other+"/cancel", "").refused(409, "not_running", "WorkflowTerminal")
}

func TestAKeyHasItsShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	for _, key := range []string{"a b", "ä", strings.Repeat("x", 129)} {
		w.post(runsOf, `{"workflow_type":"gate","input":{"n":1}}`, "Idempotency-Key", key).refused(400, "invalid_input", "SchemaViolation")
	}
	run := w.start("gate", `{"n":1}`)
	w.get(run, "Idempotency-Key", "not looked at").ok(200)
}

// A key is the caller's own, and that of one route of one workflow.
func TestKeysOfTwoRoutesNeverMeet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	one, two := w.start("gate", `{"n":1}`), w.start("gate", `{"n":1}`)
	for _, run := range []string{one, two} {
		for _, path := range []string{"/pause", "/resume", "/cancel"} {
			if r := w.post(run+path, "", "Idempotency-Key", "k").ok(200); r.header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s repeats another one", path)
			}
		}
	}
}

// server 13: what one caller's key stands for is neither given to another caller nor in the way of them.
func TestAKeyIsItsCallersOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	ada, bob := as("ada", "*", true), as("bob", "*", true)
	w.post("/api/v1/deployments", `{"source":`+quoted(gate)+`}`, ada...).ok(http.StatusCreated)
	start := func(input string, who []string) reply {
		return w.post(runsOf, `{"workflow_type":"gate","input":`+input+`}`, append([]string{"Idempotency-Key", "k-1"}, who...)...).ok(http.StatusCreated)
	}
	first, other := start(`{"n":1}`, ada), start(`{"n":2}`, bob)
	if first.text("workflow_id") == other.text("workflow_id") || other.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("bob's key was answered with %s", other.body)
	}
	for _, c := range []struct {
		input string
		who   []string
		want  reply
	}{{`{"n":1}`, ada, first}, {`{"n":2}`, bob, other}} {
		again := start(c.input, c.who)
		if again.text("workflow_id") != c.want.text("workflow_id") || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("the repeated start was answered with %s", again.body)
		}
	}
}

func TestAStartNamesItsVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	old := w.get(w.start("gate", `{"n":1}`)).text("package_id")
	w.deploy(strings.Replace(gate, "Waits for an answer.", "Waits for one answer.", 1))
	got := w.post(runsOf, fmt.Sprintf(`{"workflow_type":"gate","input":{"n":1},"package_id":%q}`, old)).ok(201)
	if got.text("package_id") != old {
		t.Errorf("pinned to %s, want %s", got.text("package_id"), old)
	}
	if w.get(w.start("gate", `{"n":1}`)).text("package_id") == old {
		t.Error("a start without a version is not routed")
	}
	w.deploy(one)
	w.post(runsOf, fmt.Sprintf(`{"workflow_type":"one","input":{"n":1},"package_id":%q}`, old)).refused(404, "not_found", "VersionNotFound")
	w.post(runsOf, `{"workflow_type":"gate","input":{"n":1},"package_id":"ff"}`).refused(404, "not_found", "VersionNotFound")
}

// server 5, server 6
func TestRunsAreFoundByEveryFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	w.deploy(one)
	var ids []string
	for i := range 6 {
		r := w.post(runsOf, fmt.Sprintf(`{"workflow_type":"gate","input":{"n":1},"labels":{"n":"%d","kind":"%d"}}`, i, i%2)).ok(201)
		ids = append(ids, r.text("workflow_id"))
	}
	done := strings.TrimPrefix(w.start("one", `{"n":1}`), runsOf+"/")
	w.ended(runsOf + "/" + done)
	found := func(query string) []string {
		var got []string
		for _, r := range w.get(runsOf + "?" + query).ok(200).object()["runs"].([]any) {
			got = append(got, r.(map[string]any)["workflow_id"].(string))
		}
		return got
	}
	started := w.get(runsOf + "/" + ids[2]).text("started_at")
	ended := w.get(runsOf + "/" + done).text("ended_at")
	version := w.get(runsOf + "/" + done).text("package_id")
	for query, want := range map[string][]string{
		"label=kind=1&label=n=3": {ids[3]}, "label=kind=0": {ids[4], ids[2], ids[0]}, "label=kind=2": nil,
		"status=Completed": {done}, "status=Completed&status=Paused": {done}, "package_id=" + version: {done}, "q=" + done: {done}, "q=on": {done},
		"ended_after=" + ended: {done}, "ended_before=" + ended: nil, "workflow_type=gate&order=started_asc&limit=2": {ids[0], ids[1]},
		"started_before=" + started + "&order=started_asc": {ids[0], ids[1]}, "parent_workflow_id=" + ids[0]: nil,
	} {
		if d := cmp.Diff(want, found(query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	for _, order := range []string{"started_desc", "started_asc"} {
		var walked []string
		cursor := ""
		for {
			page := w.get(runsOf + "?workflow_type=gate&limit=2&order=" + order + cursor).ok(200).object()
			for _, r := range page["runs"].([]any) {
				walked = append(walked, r.(map[string]any)["workflow_id"].(string))
			}
			if page["next_cursor"] == nil {
				break
			}
			w.start("one", `{"n":1}`)
			cursor = "&cursor=" + page["next_cursor"].(string)
		}
		want := append([]string{}, ids...)
		if order == "started_desc" {
			for i := range want {
				want[i] = ids[len(ids)-1-i]
			}
		}
		if d := cmp.Diff(want, walked); d != "" {
			t.Errorf("%s: %s", order, d)
		}
		w.get(runsOf+"?workflow_type=one&limit=2&order="+order+cursor).refused(400, "invalid_input", "CursorInvalid")
	}
	if got := fmt.Sprint(w.get(runsOf + "/counts?label=kind=0").ok(200).object()["total"]); got != "3" {
		t.Errorf("counted %s", got)
	}
}
