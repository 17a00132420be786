package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// server 17, server 18
func TestRunsAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	w.deploy(one)
	all, ones := w.live(t.Context(), runsOf+"/stream"), w.live(t.Context(), runsOf+"/stream?workflow_type=one&status=Running")
	run := w.start("gate", `{"n":1}`)
	status := func(e event) string {
		t.Helper()
		var row map[string]any
		if err := json.Unmarshal([]byte(e.data), &row); err != nil || e.name != "run" || e.id == "" {
			t.Fatalf("%v: %v", e, err)
		}
		return row["workflow_type"].(string) + " " + row["status"].(string)
	}
	begun := w.next(all)
	if got := status(begun); got != "gate Running" {
		t.Errorf("first came %s", got)
	}
	page := w.get(runsOf).object()
	listed := page["runs"].([]any)[0].(map[string]any)
	var told map[string]any
	if err := json.Unmarshal([]byte(begun.data), &told); err != nil || len(told) != len(listed) || told["run_id"] != listed["run_id"] {
		t.Errorf("a row is %v in the list and %v in the stream", listed, told)
	}
	w.post(run+"/cancel", "").ok(200)
	if got := status(w.next(all)); got != "gate Cancelled" {
		t.Errorf("then came %s", got)
	}
	if got := status(w.next(w.live(t.Context(), runsOf+"/stream", "Last-Event-ID", begun.id))); got != "gate Cancelled" {
		t.Errorf("behind %s came %s", begun.id, got)
	}
	w.ended(w.start("one", `{"n":1}`))
	if got := status(w.next(ones)); !strings.HasPrefix(got, "one ") {
		t.Errorf("of one type came %s", got)
	}
	if got := status(w.next(w.live(t.Context(), runsOf+"/stream", "Last-Event-ID", page["changes"].(string)))); got != "gate Cancelled" {
		t.Errorf("behind the list came %s", got)
	}
	if got := events(w.stream(runsOf+"/stream", "Last-Event-ID", "0-999999")); len(got) != 1 || got[0].name != "resync" {
		t.Errorf("a cursor of another store: %v", got)
	}
	for _, id := range []string{"7", "a-b", "-1-2", "1-", "99999999999999999999-1"} {
		w.get(runsOf+"/stream", "Last-Event-ID", id).refused(400, "invalid_input", "SchemaViolation")
	}
	w.get(runsOf+"/stream?status=running").refused(400, "invalid_input", "SchemaViolation")
}
