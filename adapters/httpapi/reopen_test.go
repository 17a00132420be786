package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"aion/domain/action"
	"aion/ports"
)

// permitted is what the view of a run says about a reopening.
func (w *world) permitted(run string) (allowed bool, reason any) {
	w.t.Helper()
	permit := w.get(run).ok(200).object()["actions"].(map[string]any)["reopen"].(map[string]any)
	return permit["allowed"] == true, permit["reason"]
}

// server 1, engine 10
func TestAFailedRunIsReopened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hands.say(func(context.Context, ports.Execution) action.Verdict {
		return action.Fail(action.Terminal, "broken", "it is broken", nil)
	})
	w.deploy(one)
	run := w.start("one", `{"n":1}`)
	if end := w.ended(run).object(); end["status"] != "Failed" {
		t.Fatalf("ended %v", end)
	}
	if yes, reason := w.permitted(run); !yes || reason != nil {
		t.Errorf("allowed %v: %v", yes, reason)
	}
	w.post(run+"/reopen", `{}`).refused(400, "invalid_input", "SchemaViolation")
	w.post(run+"/reopen", `{"reason":""}`).refused(400, "invalid_input", "SchemaViolation")
	w.post(run+"/reopen", `{"reason":"x","run_id":"0198aaaa-0000-7000-8000-000000000001"}`).refused(404, "not_found", "RunNotFound")
	w.hands.say(nil)
	reopen := func() reply { return w.post(run+"/reopen", `{"reason":"mended"}`, "Idempotency-Key", "k") }
	once(t, http.StatusOK, together(8, reopen))
	if end := w.ended(run).object(); end["status"] != "Completed" || end["failure"] != nil {
		t.Errorf("ended %v", end)
	}
	got := reopen().object()
	event := w.get(run + "/history?type=WorkflowReopened").ok(200).object()["events"].([]any)
	if len(event) != 1 || got["changed"] != true || got["status"] != "Running" || event[0].(map[string]any)["data"].(map[string]any)["reason"] != "mended" {
		t.Errorf("%v by %v", got, event)
	}
	if stream := w.stream(run + "/history/stream"); strings.Count(stream, "event: close") != 1 || !strings.Contains(stream, `"WorkflowCompleted"`) {
		t.Errorf("the stream ends with the failure: %s", stream)
	}
	w.post(run+"/reopen", `{"reason":"x"}`).refused(409, "invalid_state", "NotReopenable")
	if yes, reason := w.permitted(run); yes || reason == nil {
		t.Errorf("allowed %v: %v", yes, reason)
	}
	records := w.get("/api/v1/audit?action=run.reopen&outcome=ok").ok(200).object()["records"].([]any)
	if len(records) != 1 {
		t.Errorf("%d records", len(records))
	}
}

// server 15, engine 4
func TestARunWithoutItsVersionIsNotReopened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	version := w.get(run).text("package_id")
	w.post(run+"/cancel", "").ok(200)
	w.deploy(strings.Replace(gate, "an answer", "any answer", 1))
	w.do("DELETE", "/api/v1/workflow-types/gate/versions/"+version, "").ok(http.StatusOK)
	w.post(run+"/reopen", `{"reason":"x"}`).refused(409, "invalid_state", "PlanGone")
	if yes, reason := w.permitted(run); yes || !strings.Contains(reason.(string), version) {
		t.Errorf("allowed %v: %v", yes, reason)
	}
}
