package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/gormstore"
	"aion/adapters/system"
	"aion/domain/task"
	"aion/test/mcp/wire"
)

// gated marks a file, waits for a go, and marks another.
const gated = `//! An effect before and after a go.
workflow gated
  input dir: String
  input key: String
  signal go: Go
  outcome done: type Done, route success

type Go { ok: Bool }
type Done { last: String }

worker shell
  action mark(dir: String, file: String) -> Nil
    run "sh -c 'echo x >> \"$1/$2\"' mark {{dir}} {{file}}"

step first
  mark(dir: dir, file: key + ".1")

step hold
  wait go -> answer

step second
  mark(dir: dir, file: key + ".2")
  route done(last: key)
`

// raw speaks MCP with tasks, which the Go SDK does not.
type raw struct {
	t *testing.T
	c *wire.Client
}

func speak(t *testing.T, s *server) raw {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	return raw{t: t, c: &wire.Client{URL: s.url + "/mcp", HTTP: client}}
}

func awaitedStart(t *testing.T, workflowType string, input map[string]any) wire.Request {
	t.Helper()
	arguments, err := json.Marshal(map[string]any{"namespace": "default", "workflow_type": workflowType, "input": input, "await_completion": true})
	if err != nil {
		t.Fatal(err)
	}
	return wire.Tool("1", "start_run", string(arguments)).WithTasks()
}

func (r raw) task(workflowType string, input map[string]any) wire.Task {
	r.t.Helper()
	return r.c.Send(r.t, awaitedStart(r.t, workflowType, input)).Task(r.t)
}

func (r raw) get(id string) wire.Task {
	r.t.Helper()
	return r.c.Send(r.t, wire.TaskMethod("tasks/get", id, "")).Task(r.t)
}

func (r raw) until(id, what string, holds func(wire.Task) bool) wire.Task {
	r.t.Helper()
	var got wire.Task
	eventually(r.t, what, func() bool { got = r.get(id); return holds(got) })
	return got
}

// workflow waits until the task's run is known and gives its workflow.
func (r raw) workflow(id string) string {
	r.t.Helper()
	got := r.until(id, "the task starts", func(k wire.Task) bool { return strings.HasPrefix(k.StatusMessage, "run ") })
	return strings.Fields(got.StatusMessage)[4]
}

func (r raw) ended(id string) wire.Task {
	r.t.Helper()
	return r.until(id, "the task ends", func(k wire.Task) bool { return k.Status != "working" })
}

// completed holds that a task has the success of its run.
func (r raw) completed(k wire.Task, last string) {
	r.t.Helper()
	var result wire.Result
	if err := json.Unmarshal(k.Result, &result); err != nil || k.Status != "completed" || result.IsError || !strings.Contains(string(result.Structured), `"result":{"last":"`+last+`"}`) {
		r.t.Errorf("task of %s: %v: %+v: %s", last, err, k, k.Result)
	}
}

func signalGo(c *client, id string) {
	c.t.Helper()
	c.must("signal", map[string]any{"namespace": "default", "workflow_id": id, "signal_name": "go", "payload": map[string]any{"ok": true}})
}

func count(c *client) int {
	c.t.Helper()
	return len(c.must("list_runs", map[string]any{"namespace": "default", "limit": 200})["runs"].([]any))
}

// mcp 75: a server that dies between the commit of a task and its start. The task is laid into the store exactly as it
// stands at that moment.
func TestTaskThatWasNotStartedIsStartedOnceAfterAKill(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	connect(t, s).deploy("gated.awl", gated)
	s.kill()
	id := task.NewID([16]byte{7})
	lay(t, home, id, map[string]any{"dir": dir, "key": "a"})

	s = serve(t, home)
	workflow := speak(t, s).workflow(string(id))
	c := connect(t, s)
	c.until(workflow, "it waits", func(d map[string]any) bool { return len(d["waiting_on"].([]any)) == 1 })
	s.kill() // and again, now that it runs
	s = serve(t, home)
	r, c := speak(t, s), connect(t, s)
	if got := r.get(string(id)); got.Status != "working" {
		t.Errorf("%+v", got)
	}
	signalGo(c, workflow)
	r.completed(r.ended(string(id)), "a")
	if n := count(c); n != 1 || lines(t, filepath.Join(dir, "a.1")) != 1 || lines(t, filepath.Join(dir, "a.2")) != 1 {
		t.Errorf("%d runs, %d and %d effects", n, lines(t, filepath.Join(dir, "a.1")), lines(t, filepath.Join(dir, "a.2")))
	}
}

// lay stores a task that was made and not started.
func lay(t *testing.T, home string, id task.ID, input map[string]any) {
	t.Helper()
	store, err := gormstore.Open(t.Context(), gormstore.Options{Path: filepath.Join(home, "aion.db"), Clock: system.Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	k := task.New(id, "operator", time.Now(), 30*time.Second)
	k.Caller, k.Namespace, k.Tool = task.Caller{Subject: "operator", Mode: "off", Source: "none"}, "default", "start_run"
	k.Arguments, err = json.Marshal(map[string]any{"namespace": "default", "workflow_type": "gated", "input": input, "await_completion": true})
	if err == nil {
		err = store.CreateMCPTask(t.Context(), k, 1000)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// mcp 75: kills right behind the answer: whatever moment they hit, each acknowledged task has exactly one run.
func TestEachAcknowledgedTaskHasOneRunWhateverMomentAKillHits(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	// The limit of lost attempts in a row is for commands that kill their server; here the kills come from outside.
	patient := []string{"--engine.lost_attempts", "1000"}
	s := serve(t, home, patient...)
	connect(t, s).deploy("gated.awl", gated)
	acknowledged := map[string]string{}
	for round := range 10 {
		r := speak(t, s)
		for n := range 3 {
			key := fmt.Sprintf("r%d-%d", round, n)
			acknowledged[key] = r.task("gated", map[string]any{"dir": dir, "key": key}).ID
		}
		time.Sleep(time.Duration(round) * time.Millisecond)
		s.kill()
		s = serve(t, home, patient...)
	}
	r, c := speak(t, s), connect(t, s)
	workflows := map[string]bool{}
	for _, id := range acknowledged {
		workflow := r.workflow(id)
		workflows[workflow] = true
		signalGo(c, workflow)
	}
	for key, id := range acknowledged {
		r.completed(r.ended(id), key)
	}
	if n := count(c); n != len(acknowledged) || len(workflows) != len(acknowledged) {
		t.Errorf("%d runs and %d workflows for %d tasks", n, len(workflows), len(acknowledged))
	}
}

// mcp 75: a run that ended while nobody asked is the result at the first question after a kill; a settled task comes back
// byte for byte.
func TestTaskOfAnEndedRunIsCompletedAtTheFirstQuestion(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	r, c := speak(t, s), connect(t, s)
	c.deploy("gated.awl", gated)
	settled, open, cancelled := r.task("gated", map[string]any{"dir": dir, "key": "a"}).ID, r.task("gated", map[string]any{"dir": dir, "key": "b"}).ID,
		r.task("gated", map[string]any{"dir": dir, "key": "c"}).ID
	workflow, other := r.workflow(settled), r.workflow(open)
	r.c.Send(t, wire.TaskMethod("tasks/cancel", cancelled, ""))
	signalGo(c, workflow)
	before := []wire.Task{r.ended(settled), r.get(cancelled)}
	signalGo(c, other)
	c.untilEnded(other)
	s.kill()

	s = serve(t, home)
	r = speak(t, s)
	r.completed(r.get(open), "b")
	if diff := cmp.Diff(before, []wire.Task{r.get(settled), r.get(cancelled)}); diff != "" {
		t.Errorf("settled tasks changed: %s", diff)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the clean stop ends with %d:\n%s", code, s.log)
	}
}

// mcp 1.8, server 5.4: the metrics of the server, as text.
func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	s := serve(t, newHome(t))
	r, c := speak(t, s), connect(t, s)
	c.deploy("gated.awl", gated)
	r.workflow(r.task("gated", map[string]any{"dir": t.TempDir(), "key": "a"}).ID)
	res, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %s %v", res.StatusCode, res.Header.Get("Content-Type"), err)
	}
	for _, want := range []string{
		`aion_mcp_requests_total{code="ok",method="tools/call"}`, `aion_mcp_tool_calls_total{code="ok",tool="deploy_document"} 1`,
		`aion_mcp_tool_seconds_count{tool="start_run"} 1`, `aion_mcp_tasks{status="working"} 1`, `aion_mcp_tasks{status="failed"} 0`, "go_goroutines", "process_open_fds",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s", want)
		}
	}
}
