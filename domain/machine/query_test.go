package machine_test

import (
	"errors"
	"strings"
	"testing"

	"aion/domain"
	"aion/domain/history"
)

func ask(t *testing.T, r *run, name string) string {
	t.Helper()
	b, err := r.s.Query(r.p, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// awl 3.8: the built-in queries read the folded state.
func TestQueriesReadTheState(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()
  xs |> count -> n
  fork
    a(x: "1") -> y
    wait word timeout 1h -> w
    sleep 1h
  join
  route done(y)

  on failure
    route lost("")
`), xs3)
	if got, want := ask(t, r, "state"), `{"bindings":{"xs":["p","q","r"]},"status":"Running","steps":[`+
		`{"scope":"","step":"s","visit":1,"waiting_on":{"activity":0}}],"workflow_type":"case"}`; got != want {
		t.Errorf("state %s", got)
	}
	r.done("c", `null`)
	if got, want := ask(t, r, "state"), `{"bindings":{"n":3,"xs":["p","q","r"]},"status":"Running","steps":[`+
		`{"scope":"s.fork1[0]","step":"s","visit":1,"waiting_on":{"activity":1}},`+
		`{"scope":"s.fork1[1]","step":"s","visit":1,"waiting_on":{"signal":"word"}},`+
		`{"scope":"s.fork1[2]","step":"s","visit":1,"waiting_on":{"timer":2}}],"workflow_type":"case"}`; got != want {
		t.Errorf("state %s", got)
	}
	r.done("a", `"A"`)
	if got, want := ask(t, r, "bindings"), `{"inputs":{"xs":["p","q","r"]},"scopes":[`+
		`{"bindings":{"n":3,"xs":["p","q","r"]},"scope":"s.fork1[1]","step":"s"},`+
		`{"bindings":{"n":3,"xs":["p","q","r"]},"scope":"s.fork1[2]","step":"s"}]}`; got != want {
		t.Errorf("bindings %s", got)
	}
	if got := ask(t, r, "binding:n"); got != `3` {
		t.Errorf("n is %s", got)
	}
}

func TestUnknownQueryListsWhatTheRunAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, callThenWait), xs3)
	for name, why := range map[string]string{
		"": `no query is called ""`, "stat": `no query is called "stat"`, "Bindings": "no query is called", "binding:": `nothing is bound to "" now`,
		"binding:y": `nothing is bound to "y" now`, "result": "describe_run shows it when the run has ended",
	} {
		_, err := r.s.Query(r.p, name)
		var refusal *domain.Error
		if !errors.As(err, &refusal) || refusal.Code != domain.CodeUnknownQuery || refusal.Type != "UnknownQuery" ||
			!strings.Contains(refusal.Message, "state, bindings, binding:xs") || !strings.Contains(refusal.Message, why) {
			t.Errorf("%q: %v", name, err)
		}
	}
	r.fact(history.WorkflowCancelled{})
	if _, err := r.s.Query(r.p, "state"); domain.CodeOf(err) != domain.CodeNotRunning {
		t.Errorf("%v", err)
	}
}

// awl 3.8: a child is named by its workflow id; a step of a subflow stands beside the step that called it.
func TestStateNamesChildrenAndInnerSteps(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "order_parent"), `{"order_id":"o1","quantity":2}`)
	if got := ask(t, r, "state"); !strings.Contains(got, `"waiting_on":{"child":"11af2ec0-dedd-5ee8-8ded-7976c237e06a"}`) {
		t.Errorf("state %s", got)
	}
	r = start(t, document(t, "subflow_shout"), `{"first":"a","second":"b"}`)
	if got := ask(t, r, "state"); !strings.Contains(got, `"steps":[{"scope":"","step":"one","visit":1,"waiting_on":null},`+
		`{"scope":"one.shout","step":"raise","visit":1,"waiting_on":{"activity":0}}]`) {
		t.Errorf("state %s", got)
	}
	// A subflow sees its parameters only; the oldest step that sees a name answers.
	if got := ask(t, r, "binding:text"); got != `"a"` {
		t.Errorf("text is %s", got)
	}
}
