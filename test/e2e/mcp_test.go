package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/google/go-cmp/cmp"
)

// The whole authoring loop with the official client: list, check (bad, then good), save, read back, deploy, start,
// describe until the end, transcript, history.
func TestTheOfficialClientRunsTheWholeLoop(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	tools, err := c.s.ListTools(context.Background(), &mcp.ListToolsParams{})
	if err != nil || len(tools.Tools) != 13 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	if n := c.must("list_documents", map[string]any{})["count"]; n != 0.0 {
		t.Errorf("an empty workspace has %v documents", n)
	}
	good := fixture(t, "hello.awl")
	bad := strings.Replace(good, "route greeted", "route gretted", 1)
	report := c.must("check_document", map[string]any{"source": bad})
	if report["deploys_green"] != false || len(report["diagnostics"].([]any)) == 0 {
		t.Errorf("a bad document checks: %v", report)
	}
	report = c.must("check_document", map[string]any{"source": good})
	if report["deploys_green"] != true {
		t.Errorf("a good document does not check: %v", report)
	}
	saved := c.must("save_document", map[string]any{"path": "demo/hello.awl", "source": good})
	read := c.must("read_document", map[string]any{"path": "demo/hello.awl"})
	if read["source"] != good || read["content_hash"] != saved["content_hash"] {
		t.Error("the document does not read back byte for byte")
	}
	deployed := c.must("deploy_document", map[string]any{"path": "demo/hello.awl", "content_hash": saved["content_hash"]})
	if steps := deployed["steps"].([]any); len(steps) != 4 {
		t.Errorf("steps %v", steps)
	}
	id := c.start("hello", map[string]any{"name": "Ada"})
	d := c.untilEnded(id)
	want := map[string]any{"stdout": "hello Ada", "stderr": "", "exit_code": 0.0}
	if diff := cmp.Diff([]any{"Completed", "greeted", want}, []any{d["status"], d["outcome"], d["result"]}); diff != "" {
		t.Error(diff)
	}
	handles := d["transcripts"].([]any)
	if len(handles) != 1 {
		t.Fatalf("%d transcripts", len(handles))
	}
	handle := handles[0].(map[string]any)
	page := c.must("read_transcript", map[string]any{
		"namespace": handle["namespace"], "workflow_id": handle["workflow_id"], "run_id": handle["run_id"],
		"activity_id": handle["activity_id"], "attempt": handle["attempt"],
	})
	events := page["events"].([]any)
	if len(events) != 1 || events[0].(map[string]any)["text"] != "hello Ada" {
		t.Errorf("transcript %v", events)
	}
	wantTypes := []string{"WorkflowStarted", "TimerStarted", "StepEntered", "ActivityScheduled", "ActivityStarted", "ActivityCompleted", "OutcomeTaken", "WorkflowCompleted"}
	if diff := cmp.Diff(wantTypes, types(c.history(id))); diff != "" {
		t.Error(diff)
	}
}

// kill -9 in the middle of step 2 of 3: the run completes after the restart, step 1 ran once, step 2's second attempt is
// in history.
func TestARunSurvivesAKill(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	c := connect(t, s)
	id := c.start(c.deploy("three.awl", threeSteps), map[string]any{"dir": dir})
	eventually(t, "the second step begins", func() bool { _, err := os.Stat(filepath.Join(dir, "two.begun")); return err == nil })
	s.kill()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = connect(t, serve(t, home))
	if d := c.untilEnded(id); d["status"] != "Completed" {
		t.Fatalf("%v", d)
	}
	if one, two, three := lines(t, filepath.Join(dir, "one.ran")), lines(t, filepath.Join(dir, "two.ran")), lines(t, filepath.Join(dir, "three.ran")); one != 1 || two != 2 || three != 1 {
		t.Errorf("the steps ran %d, %d and %d times", one, two, three)
	}
	events := c.history(id)
	lost := slices.ContainsFunc(events, func(e map[string]any) bool {
		data := e["data"].(map[string]any)
		return e["type"] == "ActivityFailed" && data["class"] == "lost" && data["code"] == "server_died" && data["activity_id"] == 1.0
	})
	second := slices.ContainsFunc(events, func(e map[string]any) bool {
		data := e["data"].(map[string]any)
		return e["type"] == "ActivityStarted" && data["activity_id"] == 1.0 && data["attempt"] == 2.0
	})
	if !lost || !second {
		t.Errorf("lost attempt %v, second attempt %v in %v", lost, second, types(events))
	}
}

func TestACancelKillsTheWholeCommandTree(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	mark := "3141592"
	doc := "//! Two sleepers.\nworkflow sleepers\n  outcome done: type Nil, route success\n\nworker shell\n  action rest() -> Nil\n" +
		"    run \"sh -c 'sleep " + mark + " & sleep " + mark + "'\"\n\nstep only\n  rest()\n  route done\n"
	doc = strings.Replace(doc, "  route done\n", "  outcome ok: otherwise, route done\n", 1)
	doc = strings.Replace(doc, "type Nil", "type Done", 1)
	doc = strings.Replace(doc, "worker shell", "type Done { ok: Bool }\n\nworker shell", 1)
	doc = strings.Replace(doc, "route done\n", "route done(ok: true)\n", 1)
	id := c.start(c.deploy("sleepers.awl", doc), map[string]any{})
	eventually(t, "both sleep", func() bool { return processes(t, "sleep\x00"+mark) >= 2 })
	c.must("cancel", map[string]any{"namespace": "default", "workflow_id": id, "reason": "enough"})
	if d := c.describe(id); d["status"] != "Cancelled" {
		t.Errorf("the next read shows %v", d["status"])
	}
	eventually(t, "no process is left", func() bool { return processes(t, mark) == 0 })
	if names := types(c.history(id)); names[len(names)-1] != "WorkflowCancelled" {
		t.Errorf("something follows the cancellation: %v", names)
	}
}

// A signal before, during and after the wait; a wait that times out; a run timeout.
func TestSignalsAndTimeouts(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	hold := c.deploy("hold.awl", strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 30s", 1))
	signal := func(id string) (result, error) {
		return c.call("signal", map[string]any{
			"namespace": "default", "workflow_id": id, "signal_name": "decision",
			"payload": map[string]any{"approve": true, "reviewer": "Bo"},
		})
	}
	early := c.start(hold, map[string]any{"change": "early"})
	if r, err := signal(early); err != nil || r.refused != nil {
		t.Fatalf("%v %v", r.refused, err)
	}
	if d := c.untilEnded(early); d["outcome"] != "shipped" {
		t.Errorf("a signal before the wait: %v", d)
	}
	during := c.start(hold, map[string]any{"change": "during"})
	c.until(during, "it waits", func(d map[string]any) bool { return len(d["waiting_on"].([]any)) == 1 })
	if r, err := signal(during); err != nil || r.refused != nil {
		t.Fatalf("%v %v", r.refused, err)
	}
	if d := c.untilEnded(during); d["outcome"] != "shipped" {
		t.Errorf("a signal during the wait: %v", d)
	}
	if r, err := signal(during); err != nil || r.refused["error_type"] != "WorkflowTerminal" {
		t.Errorf("a signal after the end: %v %v", r, err)
	}
	brief := strings.Replace(strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 100ms", 1), "workflow wait_signal", "workflow brief", 1)
	if d := c.untilEnded(c.start(c.deploy("brief.awl", brief), map[string]any{"change": "x"})); d["outcome"] != "expired" {
		t.Errorf("a wait that times out: %v", d)
	}
	bounded := strings.Replace(strings.Replace(fixture(t, "wait_signal.awl"), "timeout 3d", "timeout 300ms", 1), "workflow wait_signal", "workflow bounded", 1)
	if d := c.untilEnded(c.start(c.deploy("bounded.awl", bounded), map[string]any{"change": "x"})); d["status"] != "TimedOut" {
		t.Errorf("a run timeout: %v", d)
	}
}

func TestARetryRecordsItsTimes(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	id := c.start(c.deploy("flaky.awl", fixture(t, "retry_flaky.awl")), map[string]any{})
	if d := c.untilEnded(id); d["outcome"] != "recovered" {
		t.Fatalf("%v", d)
	}
	var retryAt string
	retries := 0
	for _, e := range c.history(id) {
		data := e["data"].(map[string]any)
		switch e["type"] {
		case "ActivityFailed":
			retryAt = data["retry_at"].(string)
			retries++
		case "ActivityStarted":
			if retryAt != "" && e["recorded_at"].(string) < retryAt {
				t.Errorf("attempt %v started at %v, before %v", data["attempt"], e["recorded_at"], retryAt)
			}
		}
	}
	if retries != 2 {
		t.Errorf("%d retries", retries)
	}
}
