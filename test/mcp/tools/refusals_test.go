package tools_test

import (
	"strings"
	"testing"

	"aion/domain"
)

// A refusal is written for a reader who knows nothing but this endpoint: each names what is wrong with which value, and
// the tool, argument or form that mends it. Codes and types are the contract's (mcp 2.2), the parts are what the next call
// is made of.
func TestRefusalNamesTheNextStep(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	hash := w.deploy("greet.awl", greetDoc).at("deployment").text("content_hash")
	w.deploy("gate.awl", gateDoc)
	waiting, done, stopped := w.start("gate", nil), w.start("gate", nil), w.start("gate", nil)
	w.ok("signal", with(handle(done), "signal_name", "go", "payload", args{"ok": true}))
	w.awaitStatus(done, "Completed")
	w.ok("cancel", with(handle(stopped), "reason", "no longer wanted"))
	started := args{"namespace": "default", "workflow_type": "greet_once"}
	signal := with(handle(waiting), "signal_name", "go")
	for what, c := range map[string]struct {
		tool      string
		a         args
		code, typ string
		parts     []string
	}{
		"a document for a type": {"start_run", with(started, "workflow_type", "greet_once.awl"), "not_found", "WorkflowTypeNotFound", []string{"deployed are greet_once, gate;", "deploy_document"}},
		"no input":              {"start_run", started, "invalid_input", "InputRejected", []string{"/name is missing; expected string", "takes {name: string}"}},
		"input as text":         {"start_run", with(started, "input", `{"name":"Ada"}`), "invalid_input", "InputRejected", []string{"expected object, got string", "pass the object itself, not its JSON text"}},
		"a null member":         {"start_run", with(started, "input", args{"name": nil}), "invalid_input", "InputRejected", []string{"/name: expected string, got null"}},
		"a misspelt member":     {"start_run", with(started, "input", args{"nam": "x", "name": "x"}), "invalid_input", "InputRejected", []string{"/nam is an unknown member; the members are: name"}},
		"no payload":            {"signal", signal, "invalid_input", "SignalPayloadRejected", []string{"the payload of signal go is missing", "it takes {ok: boolean}"}},
		"a null payload":        {"signal", with(signal, "payload", nil), "invalid_input", "SignalPayloadRejected", []string{"expected object, got null", "it takes {ok: boolean}"}},
		"payload as text":       {"signal", with(signal, "payload", `{"ok":true}`), "invalid_input", "SignalPayloadRejected", []string{"pass the object itself, not its JSON text"}},
		"another signal":        {"signal", with(signal, "signal_name", "going"), "invalid_input", "UnknownSignal", []string{"going", "it declares: go"}},
		"an unbound name":       {"query", with(handle(waiting), "query_name", "binding:answer"), "unknown_query", "UnknownQuery", []string{`nothing is bound to "answer" now`, "state, bindings"}},
		"a result too early":    {"query", with(handle(waiting), "query_name", "result"), "unknown_query", "UnknownQuery", []string{"describe_run shows it when the run has ended"}},
		"a query afterwards":    {"query", with(handle(done), "query_name", "state"), "not_running", "QueryNotRunning", []string{"already ended (Completed, outcome done)", "describe_run"}},
		"a signal afterwards":   {"signal", with(handle(done), "signal_name", "go", "payload", args{"ok": true}), "not_running", "WorkflowTerminal", []string{"already ended (Completed, outcome done)", "describe_run"}},
		"a cancel afterwards":   {"cancel", handle(done), "not_running", "WorkflowTerminal", []string{"already ended (Completed, outcome done)", "describe_run"}},
		"a repeated cancel":     {"cancel", handle(stopped), "not_running", "WorkflowTerminal", []string{"cancelled already", "Cancelled", "nothing is left to do", "describe_run"}}, // mcp 52
		"a stale hash":          {"deploy_document", args{"path": "greet.awl", "content_hash": strings.Repeat("0", 64)}, "invalid_input", "RevisionMismatch", []string{"does not match the saved document", "Re-read", "read_document"}},
		"a hash of nothing":     {"save_document", args{"path": "new.awl", "source": greetDoc, "expected_content_hash": hash}, "invalid_input", "RevisionMismatch", []string{"does not match the saved document", "there is none", "list_documents"}},
	} {
		got := w.refused(c.tool, c.a, c.code, c.typ)
		for _, part := range c.parts {
			if !strings.Contains(got.Message, part) {
				t.Errorf("%s: %q lacks %q", what, got.Message, part)
			}
		}
		if len(got.Message) > 2000 {
			t.Errorf("%s: %d bytes", what, len(got.Message))
		}
	}
}

// mcp 53: arguments that do not fit are told in the same way.
func TestArgumentErrorNamesWhatIsWanted(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	for _, c := range []struct {
		tool string
		a    args
		part string
	}{
		{"check_document", args{"path": "a.awl"}, "`source` is missing: Complete AWL source text"},
		{"describe_run", args{"workflow_id": uuid(1)}, "`namespace` is missing: Namespace the workflow lives in"},
		{"list_documents", args{"namespace": "default"}, "unknown argument `namespace`; no argument is taken here"},
		{"read_document", args{"path": "flaky_demo"}, "must end in `.awl`, not `flaky_demo`"},
	} {
		if got := w.invalid(c.tool, c.a); !strings.Contains(got.Message, c.part) {
			t.Errorf("%s: %q lacks %q", c.tool, got.Message, c.part)
		}
	}
}

// The refusal of a call to an ended run sends its reader to describe_run, so that shows why, also for an end that
// somebody else decided.
func TestDescribeShowsWhyARunWasEnded(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	w.deploy("late.awl", lateDoc)
	wanted := func(run answer, status, code, message string) {
		t.Helper()
		d := w.awaitStatus(run, status)
		if f := d.at("failure"); f.text("code") != code || f.text("message") != message || !f.null("step") || !f.null("activity_id") {
			t.Errorf("%s: failure %v, want %s: %s", status, f.members, code, message)
		}
		if !d.null("outcome") || !d.null("result") {
			t.Errorf("%s: %v", status, d.members)
		}
	}
	reasoned, bare := w.start("gate", nil), w.start("gate", nil)
	w.ok("cancel", with(handle(reasoned), "reason", "no longer wanted"))
	w.refused("cancel", with(handle(reasoned), "reason", "another"), "not_running", "WorkflowTerminal")
	w.ok("cancel", handle(bare))
	wanted(reasoned, "Cancelled", "cancelled", "no longer wanted")
	wanted(bare, "Cancelled", "cancelled", "no reason was given")
	wanted(w.start("late", nil), "TimedOut", "timed_out", "the run reached its timeout of 50ms")
}

// What a deploy takes over, and what nothing of this server can execute, is told at the deploy.
func TestDeployWarns(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	warnings := func(path, source string) string {
		list, _ := w.deploy(path, source).at("deployment").members["warnings"].([]any)
		texts := make([]string, 0, len(list))
		for _, text := range list {
			texts = append(texts, text.(string))
		}
		return strings.Join(texts, "\n")
	}
	if got := warnings("greet.awl", greetDoc); got != "" {
		t.Errorf("a first deploy: %s", got)
	}
	if got := warnings("other/copy.awl", greetDoc+"// mine\n"); !strings.Contains(got, "greet.awl") || !strings.Contains(got, "greet_once") {
		t.Errorf("a type that another document serves: %q", got)
	}
	if got := warnings("remote.awl", remoteDoc); !strings.Contains(got, "ask of worker elsewhere") || !strings.Contains(got, "unserved") {
		t.Errorf("an action without a body: %q", got)
	}
}

// mcp 83: a caller who guessed a namespace learns which ones are granted, and only that.
func TestNamespaceRefusalNamesTheGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grants []domain.Namespace
		part   string
	}{{[]domain.Namespace{"mine", "ours"}, "granted are mine, ours;"}, {nil, "nor any other"}} {
		w := open(t, settings{callers: granted{namespaces: c.grants}})
		if got := w.refused("list_runs", args{"namespace": "prod"}, "namespace_denied", "NamespaceNotGranted"); !strings.Contains(got.Message, c.part) {
			t.Errorf("%q lacks %q", got.Message, c.part)
		}
	}
}
