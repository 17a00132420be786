package tools_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
	"aion/test/mcp/wire"
)

// tenant is a caller with one namespace and without the deploy grant.
type tenant struct{}

func (tenant) Caller(*http.Request) (access.Caller, error) {
	return access.Caller{Subject: "ada", Mode: "token", Source: "header", Namespaces: []domain.Namespace{"default"}}, nil
}

// audited gives the records in short.
func (w *world) audited() []string {
	w.t.Helper()
	records, err := w.store.AuditRecords(w.t.Context(), 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		if r.At.IsZero() || r.Surface != "mcp" || r.RequestID == "" {
			w.t.Errorf("%+v", r)
		}
		out = append(out, fmt.Sprint(r.Subject, " ", r.Mode, " ", r.Action, " [", r.Namespace, "] ", r.Target, " ", r.Outcome))
	}
	return out
}

// Each change has one record, reads have none (mcp 1.8).
func TestChangesAreAudited(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	run := w.start("gate", nil)
	w.ok("describe_run", handle(run))
	w.ok("list_documents", nil)
	w.ok("signal", with(handle(run), "signal_name", "go", "payload", args{"ok": true}))
	w.awaitStatus(run, "Completed")
	w.refused("cancel", handle(run), "not_running", "WorkflowTerminal")
	w.refused("start_run", args{"namespace": "default", "workflow_type": "nothing"}, "not_found", "WorkflowTypeNotFound")
	task := w.task(args{"workflow_type": "gate"}).ID
	w.Send(t, wire.TaskMethod("tasks/get", task, ""))
	w.Send(t, wire.TaskMethod("tasks/cancel", task, ""))
	w.invalid("start_run", args{"namespace": "default"})
	id := run.text("workflow_id")
	want := []string{
		"operator off save_document [] gate.awl ok", "operator off deploy_document [] gate.awl ok", "operator off start_run [default] " + id + " ok",
		"operator off signal [default] " + id + " ok", "operator off cancel [default] " + id + " not_running", "operator off start_run [default] nothing not_found",
		"operator off start_run [default] " + task + " ok", "operator off tasks/cancel [default] " + task + " ok",
	}
	if diff := cmp.Diff(want, w.audited()); diff != "" {
		t.Error(diff)
	}
}

// What is refused again and again fills no store.
func TestRepeatedRefusalsAreRecordedTenTimes(t *testing.T) {
	t.Parallel()
	w := open(t, settings{callers: tenant{}, replicas: 1})
	for range 50 {
		w.refused("save_document", args{"path": "a.awl", "source": ""}, "deploy_denied", "DeployGrantMissing")
	}
	w.refused("cancel", args{"namespace": "default", "workflow_id": uuid(1)}, "not_found", "WorkflowNotFound")
	// A minute may have turned meanwhile.
	if n := len(w.audited()); n < 11 || n > 21 {
		t.Errorf("%d records of 51 refusals", n)
	}
}

// counts is a meter that keeps what it counted.
type counts struct {
	mu   sync.Mutex
	seen map[string]int
}

var _ ports.Meter = (*counts)(nil)

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[what]++
}

func (c *counts) MCPRequest(method, code string) { c.add(method + " " + code) }
func (c *counts) MCPToolCall(tool, code string, took time.Duration) {
	c.add("tool " + tool + " " + code)
}

// mcp 1.8: labels are of closed sets, whatever a client sends.
func TestRequestsAndCallsAreCounted(t *testing.T) {
	t.Parallel()
	meter := &counts{seen: map[string]int{}}
	w := open(t, settings{meter: meter})
	w.ok("list_documents", nil)
	w.refused("describe_run", args{"namespace": "default", "workflow_id": uuid(1)}, "not_found", "WorkflowNotFound")
	w.invalid("describe_run", nil)
	w.Send(t, wire.RPC("1", "tools/list", ""))
	w.Send(t, wire.RPC("1", "very/strange", ""))
	w.Send(t, wire.Raw("", "", `{`).Wrong())
	w.Send(t, wire.Raw("", "notifications/odd", `{"jsonrpc":"2.0","method":"notifications/odd"}`))
	want := map[string]int{
		"tools/call ok": 2, "tools/call -32602": 1, "tools/list ok": 1, "other -32601": 1, "none -32700": 1, "notification ok": 1,
		"tool list_documents ok": 1, "tool describe_run not_found": 1,
	}
	meter.mu.Lock()
	defer meter.mu.Unlock()
	if diff := cmp.Diff(want, meter.seen); diff != "" {
		t.Error(diff)
	}
}
