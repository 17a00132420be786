package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/application/tasks"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
	"aion/test/mcp/wire"
)

// manyDoc takes signals until one says stop; each is a visit, so a low history limit makes a chain of it.
const manyDoc = `//! Take signals until one says stop.
workflow many
  signal go: Go
  outcome done: type Done, route success

type Go { stop: Bool }
type Done { text: String }

step again
  wait go -> answer

  outcome over: when answer.stop,
    route done(text: "over")
  outcome more: otherwise,
    route again
  max 500 visits
`

func awaitedRequest(t *testing.T, a args) wire.Request {
	t.Helper()
	return request(t, "start_run", with(a, "namespace", "default", "await_completion", true)).WithTasks()
}

// task makes a task of an awaited start.
func (w *world) task(a args) wire.Task {
	w.t.Helper()
	return w.Send(w.t, awaitedRequest(w.t, a)).Task(w.t)
}

func (w *world) get(id string) wire.Task {
	w.t.Helper()
	return w.Send(w.t, wire.TaskMethod("tasks/get", id, "")).Task(w.t)
}

// awaitTask polls a task until it is as wanted.
func (w *world) awaitTask(id, what string, holds func(wire.Task) bool) wire.Task {
	w.t.Helper()
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got := w.get(id)
		if holds(got) {
			return got
		}
		select {
		case <-deadline:
			w.t.Fatalf("not %s: %+v", what, got)
		case <-tick.C:
		}
	}
}

func (w *world) ended(id string) wire.Task {
	w.t.Helper()
	return w.awaitTask(id, "ended", func(k wire.Task) bool { return k.Status != "working" })
}

// started waits for the run of a task and gives its handle, which its status message names.
func (w *world) started(id string) args {
	w.t.Helper()
	got := w.awaitTask(id, "started", func(k wire.Task) bool { return strings.HasPrefix(k.StatusMessage, "run ") })
	words := strings.Fields(got.StatusMessage)
	return args{"namespace": "default", "workflow_id": words[4]}
}

// result reads the result of a completed task and holds it against what start_run promises.
func (w *world) result(k wire.Task) (wire.Result, answer) {
	w.t.Helper()
	var r wire.Result
	if k.Status != "completed" || k.Error != nil {
		w.t.Fatalf("not completed: %+v", k)
	}
	if err := json.Unmarshal(k.Result, &r); err != nil {
		w.t.Fatal(err)
	}
	if r.Structured == nil {
		return r, answer{}
	}
	if err := w.Output("start_run").Validate(r.Structured); err != nil {
		w.t.Errorf("%v: %s", err, r.Structured)
	}
	return r, decode(w.t, r.Structured)
}

func (w *world) runCount() int {
	w.t.Helper()
	return len(w.ok("list_runs", args{"namespace": "default"}).list("runs"))
}

// mcp 65
func TestAwaitedStartNeedsTheExtension(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("greet.awl", greetDoc)
	r := request(t, "start_run", args{"namespace": "default", "workflow_type": "greet_once", "input": args{"name": "Ada"}, "await_completion": true})
	if reply := w.Send(t, r); reply.Status != 400 || reply.Code(t) != -32021 ||
		!strings.Contains(reply.Last(t).Error.Message, "without `await_completion` and follow it with describe_run") {
		t.Errorf("%s", reply.Body)
	}
	if counts, err := w.store.CountMCPTasks(t.Context()); err != nil || len(counts) != 0 || w.runCount() != 0 {
		t.Errorf("something was made: %v, %v", counts, err)
	}
	w.ok("start_run", args{"namespace": "default", "workflow_type": "greet_once", "input": args{"name": "Ada"}, "await_completion": false})
}

// mcp 66, mcp 67, mcp 68
func TestAwaitedStartEndsAsItsRun(t *testing.T) {
	t.Parallel()
	w := open(t, settings{script: script{"greet": func(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
		if strings.Contains(string(e.Dispatch.Input), "fail") {
			return action.Failed{Class: action.Terminal, Code: "exit_code", Message: "the command failed"}
		}
		return action.Completed{Result: json.RawMessage(`"hello"`)}
	}}})
	for path, text := range map[string]string{"greet.awl": greetDoc, "gate.awl": gateDoc, "late.awl": lateDoc} {
		w.deploy(path, text)
	}
	greet := func(name string) args { return args{"workflow_type": "greet_once", "input": args{"name": name}} }

	done := w.ended(w.task(greet("Ada")).ID)
	r, run := w.result(done)
	if r.IsError || run.text("status") != "Completed" || run.text("outcome") != "done" || run.at("result").text("text") != "hello" || !run.null("failure") ||
		r.Content[0].Text != string(r.Structured) || len(r.Content) != 1 {
		t.Errorf("%s", done.Result)
	}
	if want := fmt.Sprintf("run %s of workflow %s is Completed", run.text("run_id"), run.text("workflow_id")); done.StatusMessage != want {
		t.Errorf("status message %q, want %q", done.StatusMessage, want)
	}
	cancelled := w.task(args{"workflow_type": "gate"})
	w.ok("cancel", w.started(cancelled.ID))
	lapsed := w.task(args{"workflow_type": "gate"})
	w.ok("signal", with(w.started(lapsed.ID), "signal_name", "go", "payload", args{"ok": false}))
	for what, c := range map[string]struct{ id, kind, status string }{
		"failed":        {w.task(greet("fail")).ID, "RunFailed", "Failed"},
		"failure route": {lapsed.ID, "RunFailed", "Failed"},
		"timed out":     {w.task(args{"workflow_type": "late"}).ID, "RunTimedOut", "TimedOut"},
		"cancelled":     {cancelled.ID, "RunCancelled", "Cancelled"},
	} {
		got := w.ended(c.id)
		r, run := w.result(got)
		if !r.IsError || run.text("status") != c.status || len(r.Content) != 2 || !strings.HasPrefix(r.Content[1].Text, `{"code":"run_failed","message":"`) ||
			!strings.Contains(r.Content[1].Text, c.kind) || r.ResultType != "complete" {
			t.Errorf("%s: %s", what, got.Result)
		}
		for _, part := range []string{run.text("run_id"), run.text("workflow_id"), c.status} {
			if !strings.Contains(r.Content[0].Text, part) {
				t.Errorf("%s: %q does not name %s", what, r.Content[0].Text, part)
			}
		}
	}
	before := w.runCount()
	for what, c := range map[string]struct {
		a         args
		code, typ string
	}{
		"undeployed": {args{"workflow_type": "nothing"}, "not_found", "WorkflowTypeNotFound"},
		"input":      {args{"workflow_type": "greet_once", "input": args{"nom": "Ada"}}, "invalid_input", "InputRejected"},
	} {
		got := w.ended(w.task(c.a).ID)
		r, run := w.result(got)
		if !r.IsError || run.members != nil || !strings.HasPrefix(r.Content[1].Text, `{"code":"`+c.code+`"`) || !strings.Contains(r.Content[1].Text, c.typ) {
			t.Errorf("%s: %s", what, got.Result)
		}
	}
	if w.runCount() != before {
		t.Error("a refused start made a run")
	}
}

// mcp 69, mcp 40: the wait follows the chain to its last run.
func TestAwaitedStartFollowsTheChain(t *testing.T) {
	t.Parallel()
	w := open(t, settings{historyLimit: 20})
	w.deploy("many.awl", manyDoc)
	id := w.task(args{"workflow_type": "many"}).ID
	run := w.started(id)
	first := w.ok("describe_run", run).text("run_id")
	for range 15 {
		w.ok("signal", with(run, "signal_name", "go", "payload", args{"stop": false}))
	}
	latest := w.await(answer{run}, "in its third run", func(d answer) bool {
		return d.text("previous_run_id") != "" && d.text("previous_run_id") != first
	})
	open := w.get(id)
	if open.Status != "working" || !strings.Contains(open.StatusMessage, latest.text("run_id")) || !open.LastUpdatedAt.After(open.CreatedAt) {
		t.Errorf("%+v, latest run %s", open, latest.text("run_id"))
	}
	w.ok("signal", with(run, "signal_name", "go", "payload", args{"stop": true}))
	_, end := w.result(w.ended(id))
	if end.text("run_id") == first || end.text("workflow_id") != run["workflow_id"] || end.text("status") != "Completed" {
		t.Errorf("%v, first run %s", end.members, first)
	}
}

// mcp 71, report 70
func TestCancelledTaskLeavesItsRunAlone(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	id := w.task(args{"workflow_type": "gate"}).ID
	run := w.started(id)
	w.Send(t, wire.TaskMethod("tasks/cancel", id, ""))
	got := w.get(id)
	if got.Status != "cancelled" || got.Result != nil || !strings.Contains(got.StatusMessage, "goes on") || !strings.Contains(got.StatusMessage, run["workflow_id"].(string)) {
		t.Errorf("%+v", got)
	}
	w.ok("signal", with(run, "signal_name", "go", "payload", args{"ok": true}))
	w.awaitStatus(answer{run}, "Completed")
	if diff := cmp.Diff(got, w.get(id)); diff != "" {
		t.Errorf("the end of the run changed a cancelled task: %s", diff)
	}
}

// mcp 71: whatever was on its way, nothing starts after the answer to the cancel.
func TestCancelledTaskNeverStarts(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := open(t, settings{tasks: taskSettings{Hold: hold}})
	w.deploy("gate.awl", gateDoc)
	var ids []string
	for range 10 {
		id := w.task(args{"workflow_type": "gate"}).ID
		if got := w.get(id); got.Status != "working" || got.StatusMessage != "starting" {
			t.Errorf("%+v", got)
		}
		w.Send(t, wire.TaskMethod("tasks/cancel", id, ""))
		ids = append(ids, id)
	}
	last := w.task(args{"workflow_type": "gate"}).ID
	close(hold)
	w.started(last)
	for _, id := range ids {
		if got := w.get(id); got.Status != "cancelled" || !strings.Contains(got.StatusMessage, "none will be") {
			t.Errorf("%+v", got)
		}
	}
	if n := w.runCount(); n != 1 {
		t.Errorf("%d runs, want only the one that nobody cancelled", n)
	}
}

// mcp 50, mcp 68: the caller's key is the engine's.
func TestAwaitedStartsShareTheCallersKey(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	keyed := args{"workflow_type": "gate", "idempotency_key": "k"}
	first, second := w.task(keyed).ID, w.task(keyed).ID
	run := w.started(first)
	if again := w.started(second); again["workflow_id"] != run["workflow_id"] || w.runCount() != 1 {
		t.Errorf("%v and %v", run, again)
	}
	plain := w.ok("start_run", with(keyed, "namespace", "default"))
	if plain.text("workflow_id") != run["workflow_id"] {
		t.Errorf("not awaited: %v", plain.members)
	}
	r, _ := w.result(w.ended(w.task(args{"workflow_type": "gate", "idempotency_key": "k", "input": args{"x": 1}}).ID))
	if !r.IsError || !strings.Contains(r.Content[1].Text, "IdempotencyConflict") {
		t.Errorf("another request with the key: %+v", r)
	}
	w.ok("signal", with(run, "signal_name", "go", "payload", args{"ok": true}))
	for _, id := range []string{first, second} {
		if r, end := w.result(w.ended(id)); r.IsError || end.text("workflow_id") != run["workflow_id"] {
			t.Errorf("%+v", r)
		}
	}
}

// mcp 67: what a plain start would refuse for the caller's sake makes no task.
func TestCallerThatMayNotStartMakesNoTask(t *testing.T) {
	t.Parallel()
	w := open(t, settings{callers: tenant{}})
	for _, ns := range []string{"other", "NO such name"} {
		reply := w.Send(t, awaitedRequest(t, args{"workflow_type": "x"}).Replace(`"default"`, `"`+ns+`"`))
		if got := reply.Refusal(t); got.Code != "namespace_denied" {
			t.Errorf("%s: %+v", ns, got)
		}
	}
	if counts, err := w.store.CountMCPTasks(t.Context()); err != nil || len(counts) != 0 {
		t.Errorf("%v, %v", counts, err)
	}
}

// mcp 73: after its time a task is unknown, and gone.
func TestTaskIsGoneAfterItsTime(t *testing.T) {
	t.Parallel()
	w := open(t, settings{tasks: taskSettings{Deps: tasks.Deps{TTL: time.Millisecond, Sweep: 5 * time.Millisecond}}})
	w.deploy("gate.awl", gateDoc)
	id := w.task(args{"workflow_type": "gate"}).ID
	run := w.started(id) // a working task is never dropped
	w.ok("signal", with(run, "signal_name", "go", "payload", args{"ok": true}))
	w.awaitStatus(answer{run}, "Completed")
	deadline := time.After(60 * time.Second)
	for {
		reply := w.Send(t, wire.TaskMethod("tasks/get", id, ""))
		if reply.Code(t) == -32602 {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("still there: %s", reply.Body)
		case <-time.After(time.Millisecond):
		}
	}
	for {
		counts, err := w.store.CountMCPTasks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(counts) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("never deleted: %v", counts)
		case <-time.After(time.Millisecond):
		}
	}
}

// mcp 68: nobody has to ask for a task to be settled.
func TestTaskIsSettledUnasked(t *testing.T) {
	t.Parallel()
	w := open(t, settings{tasks: taskSettings{Deps: tasks.Deps{Settle: 5 * time.Millisecond, Sweep: 5 * time.Millisecond}}})
	w.deploy("greet.awl", greetDoc)
	id := w.task(args{"workflow_type": "greet_once", "input": args{"name": "Ada"}}).ID
	deadline := time.After(60 * time.Second)
	for {
		counts, err := w.store.CountMCPTasks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if counts["completed"] == 1 {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("%v", counts)
		case <-time.After(time.Millisecond):
		}
	}
	if r, _ := w.result(w.get(id)); r.IsError {
		t.Errorf("%+v", r)
	}
}

// mcp 68: a run that is paused has not ended.
func TestPausedRunKeepsItsTaskWorking(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	w.deploy("gate.awl", gateDoc)
	id := w.task(args{"workflow_type": "gate"}).ID
	w.started(id)
	paused := seed(t, store, 3)
	paused.add(paused.generation(), history.WorkflowPaused{By: "op", Reason: "lunch"})
	list, err := store.WorkingMCPTasks(t.Context(), ports.WorkingMCPTasks{Started: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := store.MCPTask(t.Context(), list[0])
	if err != nil {
		t.Fatal(err)
	}
	moved.ID, moved.WorkflowID, moved.RunID = "task-00000000000000000000000000000001", paused.id, paused.runID(1)
	if err := store.CreateMCPTask(t.Context(), moved, 10); err != nil {
		t.Fatal(err)
	}
	if got := w.get(string(moved.ID)); got.Status != "working" || !strings.HasSuffix(got.StatusMessage, "is Paused") {
		t.Errorf("%+v", got)
	}
}

// mcp 76: the maker dies before the start; the other server starts the run, once.
func TestAnotherServerStartsWhatTheMakerDidNot(t *testing.T) {
	t.Parallel()
	store, never := newStore(), make(chan struct{})
	lease := taskSettings{Deps: tasks.Deps{Lease: 20 * time.Millisecond, Sweep: 5 * time.Millisecond}}
	maker := lease
	maker.Hold = never
	one := open(t, settings{backend: store, tasks: maker, replicas: 1})
	one.deploy("gate.awl", gateDoc)
	var ids []string
	for range 5 {
		ids = append(ids, one.task(args{"workflow_type": "gate"}).ID)
	}
	other := open(t, settings{backend: store, tasks: lease, replicas: 1})
	for _, id := range ids {
		other.started(id)
	}
	close(never) // the maker was only slow: it finds that there is nothing to do
	for _, id := range ids {
		if got := one.get(id); got.Status != "working" || !strings.HasPrefix(got.StatusMessage, "run ") {
			t.Errorf("%+v", got)
		}
	}
	if n := other.runCount(); n != len(ids) {
		t.Errorf("%d runs for %d tasks", n, len(ids))
	}
}
