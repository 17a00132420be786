package tools_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
	"aion/test/fake"
	"aion/test/mcp/wire"
)

// tenant is a caller with one namespace and without the deploy grant.
type tenant struct{}

func (tenant) Caller(*http.Request) (access.Caller, error) {
	return access.Caller{Subject: "ada", Mode: "token", Source: "header", Namespaces: []domain.Namespace{"default"}}, nil
}

// audited gives the records in short, but for the one with which the server began, and holds the chain against them.
func (w *world) audited() []string {
	w.t.Helper()
	records, err := w.store.AuditRecords(w.t.Context(), 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	var trail domain.AuditTrail
	for _, r := range records {
		if err := trail.Add(r); err != nil {
			w.t.Error(err)
		}
		if r.Action == "server.start" {
			continue
		}
		if r.At.IsZero() || r.Surface != "mcp" || r.RequestID == "" || r.Remote == "" {
			w.t.Errorf("%+v", r)
		}
		out = append(out, strings.TrimSuffix(fmt.Sprint(r.Subject, " ", r.Mode, " ", r.Action, " [", r.Namespace, "] ", r.Target, " ", r.Outcome, " ", r.Code), " "))
	}
	return out
}

// server 47, mcp 1.8: each change has one record, with it; reads have none, and what changes nothing has none.
func TestChangesAreAudited(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.deploy("gate.awl", gateDoc)
	hash := w.ok("save_document", args{"path": "gate.awl", "source": gateDoc}).text("content_hash") // the same text again
	w.ok("deploy_document", args{"path": "gate.awl", "content_hash": hash})
	run := w.start("gate", nil)
	keyed := args{"namespace": "default", "workflow_type": "gate", "idempotency_key": "once"}
	once := w.ok("start_run", keyed).text("workflow_id")
	w.ok("start_run", keyed)
	w.ok("describe_run", handle(run))
	w.ok("list_documents", nil)
	w.ok("signal", with(handle(run), "signal_name", "go", "payload", args{"ok": true}))
	w.awaitStatus(run, "Completed")
	w.refused("cancel", handle(run), "not_running", "WorkflowTerminal")
	w.refused("start_run", args{"namespace": "default", "workflow_type": "nothing"}, "not_found", "WorkflowTypeNotFound")
	task := w.task(args{"workflow_type": "gate"}).ID
	awaited := w.awaitStarted(task)
	w.Send(t, wire.TaskMethod("tasks/get", task, ""))
	w.Send(t, wire.TaskMethod("tasks/cancel", task, ""))
	w.Send(t, wire.TaskMethod("tasks/cancel", task, ""))
	w.invalid("start_run", args{"namespace": "default"})
	id := run.text("workflow_id")
	want := []string{
		"operator off document.save [] gate.awl ok", "operator off deploy.load [] gate.awl ok", "operator off deploy.load [] gate.awl ok",
		"operator off run.start [default] " + id + " ok", "operator off run.start [default] " + once + " ok",
		"operator off run.signal [default] " + id + " ok", "operator off run.cancel [default] " + id + " refused not_running",
		"operator off run.start [default] nothing refused not_found", "operator off task.create [default] " + task + " ok",
		"operator off run.start [default] " + awaited + " ok", "operator off task.cancel [default] " + task + " ok",
	}
	if diff := cmp.Diff(want, w.audited()); diff != "" {
		t.Error(diff)
	}
}

// awaitStarted waits until a task has started its workflow.
func (w *world) awaitStarted(id string) string {
	w.t.Helper()
	const of = " of workflow "
	got := w.awaitTask(id, "started", func(k wire.Task) bool { return strings.Contains(k.StatusMessage, of) })
	_, rest, _ := strings.Cut(got.StatusMessage, of)
	return strings.Fields(rest)[0]
}

// server 47: a save without its record does not happen.
func TestDocumentIsNotSavedWithoutItsRecord(t *testing.T) {
	t.Parallel()
	w := open(t, settings{faults: []fake.Fault{{Op: "Audit", Call: 1, When: fake.Before}}})
	w.refused("save_document", args{"path": "a.awl", "source": gateDoc}, "unavailable", "StoreUnavailable")
	w.refused("read_document", args{"path": "a.awl"}, "not_found", "DocumentNotFound")
	w.ok("save_document", args{"path": "a.awl", "source": gateDoc})
	want := []string{"operator off document.save [] a.awl refused unavailable", "operator off document.save [] a.awl ok"}
	if diff := cmp.Diff(want, w.audited()); diff != "" {
		t.Error(diff)
	}
}

// server 47: what is refused again and again fills no store; a refused grant is one, whatever the tool.
func TestRepeatedRefusalsAreRecordedTenTimes(t *testing.T) {
	t.Parallel()
	w := open(t, settings{callers: tenant{}, replicas: 1})
	for range 50 {
		w.refused("save_document", args{"path": "a.awl", "source": ""}, "deploy_denied", "DeployGrantMissing")
	}
	w.refused("cancel", args{"namespace": "default", "workflow_id": uuid(1)}, "not_found", "WorkflowNotFound")
	w.refused("list_runs", args{"namespace": "other"}, "namespace_denied", "NamespaceNotGranted")
	w.refused("describe_run", args{"namespace": "default", "workflow_id": uuid(1)}, "not_found", "WorkflowNotFound")
	var want []string
	for range 10 {
		want = append(want, "ada token grant.refused [] save_document refused deploy_denied")
	}
	want = append(want, "ada token run.cancel [default] "+uuid(1)+" refused not_found", "ada token grant.refused [other] list_runs refused namespace_denied")
	if diff := cmp.Diff(want, w.audited()); diff != "" {
		t.Error(diff)
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
func (c *counts) AuthFailure(reason string) { c.add("auth " + reason) }
func (c *counts) KeysFetched(ok bool)       { c.add(fmt.Sprint("keys ", ok)) }

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
