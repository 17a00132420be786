package tools_test

import (
	"slices"
	"testing"
)

// mcp 35: the client holds every success of this suite against the tool's output schema and its text copy; here each of the
// thirteen tools has one.
func TestEveryToolAnswersByItsOutputSchema(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	answered := []string{}
	ok := func(tool string, a args) answer {
		answered = append(answered, tool)
		return w.ok(tool, a)
	}
	ok("check_document", args{"source": greetDoc})
	saved := ok("save_document", args{"path": "a.awl", "source": greetDoc})
	ok("list_documents", nil)
	ok("read_document", args{"path": "a.awl"})
	ok("deploy_document", args{"path": "a.awl", "content_hash": saved.text("content_hash")})
	run := ok("start_run", args{"namespace": "default", "workflow_type": "greet_once", "input": args{"name": "Ada"}})
	w.awaitStatus(run, "Completed")
	ok("describe_run", handle(run))
	ok("read_history", handle(run))
	ok("read_transcript", with(handle(run), "run_id", run.text("run_id"), "activity_id", 0, "attempt", 1))
	ok("list_runs", args{"namespace": "default"})
	w.deploy("gate.awl", gateDoc)
	waiting := w.start("gate", nil)
	ok("query", with(handle(waiting), "query_name", "state"))
	ok("signal", with(handle(waiting), "signal_name", "go", "payload", args{"ok": true}))
	ok("cancel", handle(w.start("gate", nil)))
	slices.Sort(answered)
	if want := slices.Sorted(slices.Values(allTools())); !slices.Equal(answered, want) {
		t.Errorf("answered %v, want %v", answered, want)
	}
	for tool, schema := range map[string]string{"describe_run": `{"status":"Running"}`, "cancel": `{}`} {
		if w.Output(tool).Validate([]byte(schema)) == nil {
			t.Errorf("the output schema of %s admits %s", tool, schema)
		}
	}
}
