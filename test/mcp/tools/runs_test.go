package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// mcp 38
func TestDescribeShowsWhereARunStands(t *testing.T) {
	t.Parallel()
	w := open(t, settings{script: script{"greet": hold}})
	w.deploy("greet.awl", greetDoc)
	run := w.start("greet_once", args{"name": "Ada"})
	d := w.await(run, "holding", func(d answer) bool {
		return d.at("current_step").text("state") == "started" && len(d.list("transcripts")) == 1
	})
	step := d.at("current_step")
	if d.text("status") != "Running" || d.text("run_id") != run.text("run_id") || !d.is("is_latest_run") || !d.null("ended_at") || !d.null("failure") || !d.null("result") {
		t.Errorf("%v", d.members)
	}
	if step.int("activity_id") != 0 || step.text("activity_type") != "greet" || step.int("attempt") != 1 || step.text("step") != "say" {
		t.Errorf("current step %v", step.members)
	}
	if open := d.list("open_steps"); len(open) != 1 || d.members["unserved"] == nil || len(d.list("unserved")) != 0 {
		t.Errorf("%v", d.members)
	}
	// The first five members of a handle are the arguments of read_transcript.
	h := d.list("transcripts")[0]
	page := w.ok("read_transcript", args{
		"namespace": h.text("namespace"), "workflow_id": h.text("workflow_id"), "run_id": h.text("run_id"),
		"activity_id": h.members["activity_id"], "attempt": h.members["attempt"],
	})
	if events := page.list("events"); len(events) != 1 || events[0].text("text") != "holding" || !page.is("attempt_open") || h.text("run_id") != run.text("run_id") {
		t.Errorf("transcript %v", page.members)
	}
	w.ok("cancel", handle(run))
}

// mcp 38
func TestUnservedStepsAreListed(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("remote.awl", remoteDoc)
	run := w.start("remote_ask", args{"name": "Ada"})
	d := w.await(run, "scheduled", func(d answer) bool { return len(d.list("unserved")) == 1 })
	if u := d.list("unserved")[0]; u.text("activity_type") != "ask" || u.text("task_queue") != "elsewhere" || u.text("state") != "scheduled" {
		t.Errorf("%v", u.members)
	}
}

// mcp 39
func TestRunOfAnotherWorkflowIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	first, second := w.start("gate", nil), w.start("gate", nil)
	for _, tool := range []string{"describe_run", "query", "signal", "cancel"} {
		a := with(handle(first), "run_id", second.text("run_id"))
		switch tool {
		case "query":
			a["query_name"] = "state"
		case "signal":
			a["signal_name"], a["payload"] = "go", args{"ok": true}
		}
		if got := w.refused(tool, a, "not_found", "RunNotFound"); !strings.Contains(got.Message, "is not a run of workflow") {
			t.Errorf("%s: %s", tool, got.Message)
		}
	}
	upper := with(handle(first), "run_id", strings.ToUpper(first.text("run_id")), "workflow_id", strings.ToUpper(first.text("workflow_id")))
	if d := w.ok("describe_run", upper); d.text("run_id") != first.text("run_id") {
		t.Errorf("ids in capitals: %v", d.members)
	}
}

// mcp 40
func TestEachEndShows(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store, script: script{"greet": func(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
		if strings.Contains(string(e.Dispatch.Input), "fail") {
			return action.Failed{Class: action.Terminal, Code: "exit_code", Message: "the command failed"}
		}
		return action.Completed{Result: json.RawMessage(`"hello"`)}
	}}})
	w.deploy("greet.awl", greetDoc)
	w.deploy("gate.awl", gateDoc)
	w.deploy("late.awl", lateDoc)
	done := w.awaitStatus(w.start("greet_once", args{"name": "Ada"}), "Completed")
	if done.text("outcome") != "done" || done.at("result").text("text") != "hello" || !done.null("failure") || done.null("ended_at") || !done.null("current_step") {
		t.Errorf("completed: %v", done.members)
	}
	failed := w.awaitStatus(w.start("greet_once", args{"name": "fail"}), "Failed")
	if f := failed.at("failure"); f.text("code") == "" || f.text("message") == "" || f.text("step") != "say" || !failed.null("outcome") {
		t.Errorf("failed: %v", failed.members)
	}
	lapsed := w.start("gate", nil)
	w.ok("signal", with(handle(lapsed), "signal_name", "go", "payload", args{"ok": false}))
	if d := w.awaitStatus(lapsed, "Failed"); d.text("outcome") != "lapsed" || d.at("result").text("text") != "no" {
		t.Errorf("failure route: %v", d.members)
	}
	cancelled := w.start("gate", nil)
	w.ok("cancel", handle(cancelled))
	w.awaitStatus(cancelled, "Cancelled")
	w.awaitStatus(w.start("late", nil), "TimedOut")

	paused := seed(t, store, 1)
	paused.add(paused.generation(), history.WorkflowPaused{By: "op", Reason: "lunch"})
	if d := w.ok("describe_run", paused.args()); d.text("status") != "Paused" || d.text("paused_reason") != "lunch" {
		t.Errorf("paused: %v", d.members)
	}
	c := chain(t, store, 2)
	latest := w.ok("describe_run", c.args())
	if latest.text("status") != "Running" || latest.text("run_id") != string(c.runID(2)) || latest.text("previous_run_id") != string(c.runID(1)) || !latest.is("is_latest_run") {
		t.Errorf("latest: %v", latest.members)
	}
	earlier := w.ok("describe_run", with(c.args(), "run_id", string(c.runID(1))))
	if earlier.text("status") != "ContinuedAsNew" || earlier.is("is_latest_run") || len(earlier.list("transcripts")) != 1 || earlier.list("transcripts")[0].int("head_seq") != 3 {
		t.Errorf("earlier: %v", earlier.members)
	}
}

// mcp 46
func TestForeignAndMissingAreTheSame(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	s := chain(t, store, 7)
	foreign, missing := with(s.args(), "namespace", "other"), args{"namespace": "other", "workflow_id": uuid(8)}
	for tool, extra := range map[string][]any{
		"read_history": nil, "describe_run": nil, "cancel": nil, "query": {"query_name", "state"}, "signal": {"signal_name", "go"},
		"read_transcript": {"run_id", string(s.runID(2)), "activity_id", 0, "attempt", 1},
	} {
		a := w.refused(tool, with(foreign, extra...), "not_found", "WorkflowNotFound")
		b := w.refused(tool, with(missing, extra...), "not_found", "WorkflowNotFound")
		if strings.ReplaceAll(a.Message, uuid(7), uuid(8)) != b.Message || !strings.Contains(a.Message, "list_runs") {
			t.Errorf("%s: foreign %q, missing %q", tool, a.Message, b.Message)
		}
	}
}

// mcp 48
func TestQuery(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store, script: script{"greet": hold}})
	w.deploy("greet.awl", greetDoc)
	run := w.start("greet_once", args{"name": "Ada"})
	w.await(run, "holding", func(d answer) bool { return d.at("current_step").text("state") == "started" })
	q := func(name string) args { return with(handle(run), "query_name", name) }
	if got := w.ok("query", q("state")); got.at("result").members == nil || got.text("query_name") != "state" || got.text("run_id") != run.text("run_id") {
		t.Errorf("state: %v", got.members)
	}
	if got := w.ok("query", q("bindings")); got.at("result").at("inputs").text("name") != "Ada" {
		t.Errorf("bindings: %v", got.members)
	}
	if got := w.ok("query", q("binding:name")); got.text("result") != "Ada" {
		t.Errorf("binding: %v", got.members)
	}
	for _, name := range []string{"nothing", "binding:nothing", "State"} {
		if got := w.refused("query", q(name), "unknown_query", "UnknownQuery"); !strings.Contains(got.Message, "state") || !strings.Contains(got.Message, "bindings") {
			t.Errorf("%s: the names are not listed: %s", name, got.Message)
		}
	}
	w.ok("cancel", handle(run))
	w.awaitStatus(run, "Cancelled")
	for _, a := range []args{q("state"), with(chain(t, store, 3).args(), "query_name", "state")} {
		if got := w.refused("query", a, "not_running", "QueryNotRunning"); !strings.Contains(got.Message, "describe_run") {
			t.Errorf("%s", got.Message)
		}
	}
}

// mcp 48
func TestQueryThatTakesTooLong(t *testing.T) {
	t.Parallel()
	store := newStore()
	first := open(t, settings{backend: store})
	first.deploy("gate.awl", gateDoc)
	run := first.start("gate", nil)
	never := make(chan struct{})
	w := open(t, settings{backend: store, limits: runs.Limits{QueryTimeout: 20 * time.Millisecond}, faults: []fake.Fault{{Op: "History", Call: 1, Hold: never}}})
	w.refused("query", with(handle(run), "query_name", "state"), "query_timeout", "QueryTimeout")
	close(never)
}

// mcp 49
func TestStartRun(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	if got := w.refused("start_run", args{"namespace": "default", "workflow_type": "greet_once"}, "not_found", "WorkflowTypeNotFound"); !strings.Contains(got.Message, "deploy_document") {
		t.Errorf("%s", got.Message)
	}
	w.deploy("greet.awl", greetDoc)
	for what, input := range map[string]any{"missing": args{}, "wrong type": args{"name": 1}, "extra": args{"name": "x", "nam": "y"}, "no object": []any{1}, "null": nil} {
		a := args{"namespace": "default", "workflow_type": "greet_once", "input": input}
		if got := w.refused("start_run", a, "invalid_input", "InputRejected"); what == "wrong type" && !strings.Contains(got.Message, "/name") {
			t.Errorf("%s: no pointer: %s", what, got.Message)
		}
	}
	w.refused("start_run", args{"namespace": "Not A Namespace", "workflow_type": "greet_once", "input": args{"name": "Ada"}}, "not_found", "NamespaceNotFound")
	run := w.start("greet_once", args{"name": "Ada"})
	for _, name := range []string{"ended_at", "outcome", "result", "failure"} {
		if !run.null(name) {
			t.Errorf("%s is %v", name, run.members[name])
		}
	}
	if run.text("status") != "Running" || run.text("workflow_type") != "greet_once" || len(run.text("package_id")) != 64 || run.text("namespace") != "default" {
		t.Errorf("%v", run.members)
	}
	w.ok("describe_run", handle(run)) // usable at once
	w.awaitStatus(run, "Completed")
}

// mcp 50
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	w.deploy("greet.awl", greetDoc)
	a := args{"namespace": "default", "workflow_type": "gate", "idempotency_key": "k"}
	ids := make([]string, 20)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() { ids[i] = w.ok("start_run", a).text("workflow_id") })
	}
	group.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("several workflows: %v", ids)
		}
	}
	if got := w.ok("list_runs", args{"namespace": "default"}); len(got.list("runs")) != 1 {
		t.Errorf("%d runs", len(got.list("runs")))
	}
	if got := w.refused("start_run", with(a, "workflow_type", "greet_once", "input", args{"name": "x"}), "idempotency_conflict", "IdempotencyConflict"); !strings.Contains(got.Message, ids[0]) {
		t.Errorf("%s", got.Message)
	}
	if other := w.ok("start_run", with(a, "namespace", "other")); other.text("workflow_id") == ids[0] {
		t.Error("the key reaches into another namespace")
	}
}

// mcp 51
func TestSignal(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store, limits: runs.Limits{PendingSignals: 2}})
	w.deploy("gate.awl", gateDoc)
	run := w.start("gate", nil)
	d := w.await(run, "waiting", func(d answer) bool { return len(d.list("waiting_on")) == 1 })
	if wait := d.list("waiting_on")[0]; wait.text("kind") != "signal" || wait.text("name") != "go" || wait.null("due_at") {
		t.Errorf("waiting on %v", wait.members)
	}
	a := with(handle(run), "signal_name", "go")
	if got := w.refused("signal", with(a, "signal_name", "og", "payload", args{"ok": true}), "invalid_input", "UnknownSignal"); !strings.Contains(got.Message, "go") {
		t.Errorf("%s", got.Message)
	}
	for _, payload := range []any{args{}, args{"ok": "yes"}, nil, 7} {
		w.refused("signal", with(a, "payload", payload), "invalid_input", "SignalPayloadRejected")
	}
	w.refused("signal", a, "invalid_input", "SignalPayloadRejected")
	got := w.ok("signal", with(a, "payload", args{"ok": true}))
	if !got.is("delivered") || got.text("signal_name") != "go" || got.text("run_id") != run.text("run_id") {
		t.Errorf("%v", got.members)
	}
	events := w.ok("read_history", with(handle(run), "from_seq", got.int("history_seq"), "limit", 1)).list("events")
	if len(events) != 1 || events[0].text("type") != "SignalReceived" || events[0].at("data").text("signal_name") != "go" {
		t.Errorf("the event at history_seq: %v", events)
	}
	w.awaitStatus(run, "Completed")
	if got := w.refused("signal", with(a, "payload", args{"ok": true}), "not_running", "WorkflowTerminal"); !strings.Contains(got.Message, "Completed") {
		t.Errorf("%s", got.Message)
	}
	w.refused("signal", with(chain(t, store, 4).args(), "signal_name", "go", "payload", 1), "not_running", "NoLiveExecution")
}

// mcp 52
func TestCancel(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store, script: script{"greet": hold}})
	w.deploy("greet.awl", greetDoc)
	run := w.start("greet_once", args{"name": "Ada"})
	got := w.ok("cancel", with(handle(run), "reason", "no longer wanted"))
	if !got.is("cancelled") || got.text("reason") != "no longer wanted" || got.text("workflow_id") != run.text("workflow_id") || got.text("run_id") != run.text("run_id") {
		t.Errorf("%v", got.members)
	}
	if d := w.ok("describe_run", handle(run)); d.text("status") != "Cancelled" {
		t.Errorf("the next describe shows %s", d.text("status"))
	}
	if got := w.refused("cancel", handle(run), "not_running", "WorkflowTerminal"); !strings.Contains(got.Message, "Cancelled") {
		t.Errorf("%s", got.Message)
	}
	s := chain(t, store, 5)
	if got := w.ok("cancel", s.args()); !got.null("reason") {
		t.Errorf("no plan loaded, no reason given: %v", got.members)
	}
	if d := w.ok("describe_run", s.args()); d.text("status") != "Cancelled" {
		t.Errorf("no plan loaded: %s", d.text("status"))
	}
	if got := w.ok("cancel", with(seedRunning(t, w, 6).args(), "reason", "")); got.null("reason") {
		t.Error("an empty reason is not echoed")
	}
}

func seedRunning(t *testing.T, w *world, n int) *seeded {
	t.Helper()
	s := seed(t, w.store, n)
	s.add(s.generation())
	return s
}

// Nothing of a caller without grants is looked up.
func TestNamespaceIsDecidedBeforeAnythingIsLookedUp(t *testing.T) {
	t.Parallel()
	w := open(t, settings{callers: granted{namespaces: []domain.Namespace{"mine"}}})
	for _, tool := range []string{"describe_run", "read_history", "cancel"} {
		got := w.refused(tool, args{"namespace": "default", "workflow_id": uuid(1)}, "namespace_denied", "NamespaceNotGranted")
		if !strings.Contains(got.Message, "default") || !strings.Contains(got.Message, "x-aion-namespaces") {
			t.Errorf("%s", got.Message)
		}
	}
	w.refused("list_runs", args{"namespace": "default"}, "namespace_denied", "NamespaceNotGranted")
	w.refused("start_run", args{"namespace": "default", "workflow_type": "x"}, "namespace_denied", "NamespaceNotGranted")
	w.ok("list_runs", args{"namespace": "mine"})
	for _, tool := range []string{"save_document", "deploy_document"} {
		a := args{"path": "a.awl", "source": "x"}
		if tool == "deploy_document" {
			a = args{"path": "a.awl", "content_hash": fmt.Sprintf("%064d", 0)}
		}
		got := w.refused(tool, a, "deploy_denied", "DeployGrantMissing") // mcp 82
		if !strings.Contains(got.Message, "deploy grant") || !strings.Contains(got.Message, "x-aion-deploy") {
			t.Errorf("%s", got.Message)
		}
	}
	w.ok("list_documents", nil)
	w.ok("check_document", args{"source": greetDoc})
}
