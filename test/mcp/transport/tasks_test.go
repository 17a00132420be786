package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/mcp"
	"aion/application/tasks"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

// working is a fixture whose tasks run.
type working struct {
	*wire.Client
	t      *testing.T
	server *fixture.Server
}

func serveTasks(t *testing.T, o fixture.Options) *working {
	t.Helper()
	server, err := fixture.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &working{t: t, server: server}
	w.Client = w.listen()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var group sync.WaitGroup
	group.Go(func() { _ = server.Tasks.Run(ctx) })
	t.Cleanup(func() { stop(); group.Wait() })
	return w
}

func (w *working) listen() *wire.Client {
	w.t.Helper()
	listening := httptest.NewServer(w.server.Host)
	w.t.Cleanup(listening.Close)
	return &wire.Client{URL: listening.URL + "/mcp", HTTP: listening.Client()}
}

func awaited() wire.Request {
	return wire.Tool("7", "greet", `{"name":"Ada","later":true}`).WithTasks()
}

func slow(seconds int) wire.Request {
	return wire.Tool("7", "slow_compute", fmt.Sprintf(`{"seconds":%d}`, seconds)).WithTasks()
}

func (w *working) get(id string) wire.Task {
	w.t.Helper()
	return w.Send(w.t, wire.TaskMethod("tasks/get", id, "")).Task(w.t)
}

// ended polls a task until it has ended.
func (w *working) ended(id string) wire.Task {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if got := w.get(id); got.Status != "working" {
			return got
		}
		select {
		case <-tick.C:
		case <-w.t.Context().Done():
			w.t.Fatal("in vain")
		}
	}
}

// mcp 65: the gate comes before anything is made.
func TestAwaitedCallNeedsTheExtension(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{})
	for what, r := range map[string]wire.Request{
		"awaited": wire.Tool("7", "greet", `{"name":"Ada","later":true}`), "deferred": wire.Tool("7", "slow_compute", `{}`),
		"extension no object": awaited().Replace(`tasks":{}`, `tasks":true`).Wrong(),
		"task parameter":      wire.Tool("7", "greet", `{"name":"Ada","later":true}`).Replace(`"arguments"`, `"task":{"ttl":1},"arguments"`).Wrong(),
	} {
		reply := w.Send(t, r)
		wantCode(t, what, reply, http.StatusBadRequest, -32021)
		var data struct {
			RequiredCapabilities []string
			ClientCapabilities   json.RawMessage
		}
		if err := json.Unmarshal(reply.Last(t).Error.Data, &data); err != nil || data.RequiredCapabilities[0] != "extensions.io.modelcontextprotocol/tasks" ||
			string(data.ClientCapabilities) != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
			t.Errorf("%s: %v: %s", what, err, reply.Body)
		}
	}
	if counts, err := w.server.Store.CountMCPTasks(t.Context()); err != nil || len(counts) != 0 {
		t.Errorf("tasks were made: %v, %v", counts, err)
	}
	for what, r := range map[string]wire.Request{
		"not awaited": wire.Tool("7", "greet", `{"name":"Ada","later":false}`), "not awaited, declared": wire.Tool("7", "greet", `{"name":"Ada"}`).WithTasks(),
		"task parameter": wire.Tool("7", "greet", `{"name":"Ada"}`).WithTasks().Replace(`"arguments"`, `"task":{"ttl":60000},"arguments"`).Wrong(),
	} {
		if got := w.Send(t, r).Result(t); got.ResultType != "complete" {
			t.Errorf("%s: became a %s", what, got.ResultType)
		}
	}
}

// mcp 66, mcp 73: flat, and there at once.
func TestTaskIsFlatAndThereAtOnce(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{})
	reply := w.Send(t, slow(3600))
	created := reply.Task(t)
	if created.ResultType != "task" || created.Status != "working" || created.TTLMs != nil || created.PollIntervalMs != 1000 {
		t.Errorf("%s", reply.Body)
	}
	if !regexp.MustCompile(`^task-[0-9a-f]{32}$`).MatchString(created.ID) {
		t.Errorf("id %s", created.ID)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(reply.Last(t).Result, &members); err != nil {
		t.Fatal(err)
	}
	want := []string{"_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status", "taskId", "ttlMs"}
	if diff := cmp.Diff(want, names(members)); diff != "" {
		t.Error(diff)
	}
	got := w.get(created.ID)
	if got.ResultType != "complete" || got.ID != created.ID || got.Status != "working" || got.TTLMs != nil || !got.CreatedAt.Equal(created.CreatedAt) {
		t.Errorf("%+v", got)
	}
	for _, r := range []wire.Request{slow(1).With("Accept", "text/event-stream"), slow(1).With("Accept", "application/json")} {
		if got := w.Send(t, r).Task(t); got.Status != "working" {
			t.Errorf("%+v", got)
		}
	}
}

func names(members map[string]json.RawMessage) []string {
	out := make([]string, 0, len(members))
	for name := range members {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// mcp 68, mcp 78: how tasks end.
func TestTaskEndsAsItsCallWouldHave(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{MCP: mcpOptions(250 * time.Millisecond), Tasks: tasks.Deps{TTL: time.Hour}})
	good := w.ended(w.Send(t, awaited()).Task(t).ID)
	var result wire.Result
	if err := json.Unmarshal(good.Result, &result); err != nil || good.Status != "completed" || result.IsError || result.ResultType != "complete" {
		t.Fatalf("%v: %+v", err, good)
	}
	if string(result.Structured) != `{"greeting":"done after 0s"}` || result.Content[0].Text != string(result.Structured) || result.Meta["io.modelcontextprotocol/serverInfo"] == nil {
		t.Errorf("%s", good.Result)
	}
	settled := good.LastUpdatedAt.Sub(good.CreatedAt)
	if good.TTLMs == nil || *good.TTLMs != (settled+time.Hour).Milliseconds() || good.PollIntervalMs != 250 {
		t.Errorf("ttl %v, poll %d, settled after %v", good.TTLMs, good.PollIntervalMs, settled)
	}
	refused := w.ended(w.Send(t, wire.Tool("7", "failing_job", `{}`).WithTasks()).Task(t).ID)
	if err := json.Unmarshal(refused.Result, &result); err != nil || refused.Status != "completed" || refused.Error != nil || !result.IsError ||
		!strings.HasPrefix(result.Content[1].Text, `{"code":"invalid_state"`) {
		t.Errorf("%v: %+v", err, refused)
	}
	failed := w.ended(w.Send(t, wire.Tool("7", "protocol_error_job", `{}`).WithTasks()).Task(t).ID)
	if failed.Status != "failed" || failed.Result != nil || failed.Error == nil || failed.Error.Code != -32603 || !bytes.Contains(failed.Error.Data, []byte(`"reference"`)) {
		t.Errorf("%+v", failed)
	}
	again := w.get(failed.ID)
	if diff := cmp.Diff(failed, again); diff != "" {
		t.Errorf("a settled task changed: %s", diff)
	}
}

// mcp 70, mcp 74: whatever is not the caller's is unknown, in the same words; the gate comes before the look.
func TestTasksOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{MCP: asNamed()})
	ada := func(r wire.Request) wire.Request { return r.With("X-Aion-Subject", "ada") }
	bob := func(r wire.Request) wire.Request { return r.With("X-Aion-Subject", "bob") }
	mine := w.Send(t, ada(slow(3600))).Task(t).ID
	unknown := "task-" + strings.Repeat("0", 32)
	var first []byte
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		further := ""
		if method == "tasks/update" {
			further = `"inputResponses":{}`
		}
		for what, r := range map[string]wire.Request{
			"another's": bob(wire.TaskMethod(method, mine, further)), "nobody": wire.TaskMethod(method, mine, further),
			"unknown": ada(wire.TaskMethod(method, unknown, further)), "malformed": ada(wire.TaskMethod(method, "7", further)),
			"capitals": ada(wire.TaskMethod(method, strings.ToUpper(mine), further)), "long": ada(wire.TaskMethod(method, mine+"0", further)),
		} {
			reply := w.Send(t, r)
			wantCode(t, method+" "+what, reply, http.StatusBadRequest, -32602)
			if first == nil {
				first = reply.Body
			}
			if !bytes.Equal(first, reply.Body) || !strings.Contains(string(reply.Body), "Unknown task") {
				t.Errorf("%s %s: %s, want %s", method, what, reply.Body, first)
			}
		}
		undeclared := ada(wire.TaskMethod(method, unknown, further).Replace(wire.MetaTasks, wire.Meta))
		wantCode(t, method+" undeclared", w.Send(t, undeclared), http.StatusBadRequest, -32021)
	}
	if got := w.Send(t, ada(wire.TaskMethod("tasks/get", mine, ""))).Task(t); got.Status != "working" {
		t.Errorf("%+v", got)
	}
	if got := w.Send(t, slow(1)).Refusal(t); got.Code != "unauthenticated" {
		t.Errorf("a task for nobody: %+v", got)
	}
	if got := w.Send(t, slow(1).With("X-Aion-Subject", "stranger")).Refusal(t); got.Code != "namespace_denied" {
		t.Errorf("a task without the grant: %+v", got)
	}
}

// mcp 71
func TestCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{})
	id := w.Send(t, slow(3600)).Task(t).ID
	for _, what := range []string{"first", "again"} {
		var ack map[string]json.RawMessage
		reply := w.Send(t, wire.TaskMethod("tasks/cancel", id, ""))
		if err := json.Unmarshal(reply.Last(t).Result, &ack); err != nil || len(ack) != 2 || string(ack["resultType"]) != `"complete"` || ack["_meta"] == nil {
			t.Errorf("%s: %v: %s", what, err, reply.Body)
		}
		if got := w.get(id); got.Status != "cancelled" || got.TTLMs == nil || *got.TTLMs < 24*time.Hour.Milliseconds() {
			t.Errorf("%s: %+v", what, got)
		}
	}
	done := w.ended(w.Send(t, awaited()).Task(t).ID)
	w.Send(t, wire.TaskMethod("tasks/cancel", done.ID, ""))
	if diff := cmp.Diff(done, w.get(done.ID)); diff != "" {
		t.Errorf("a completed task was changed by a cancel: %s", diff)
	}
}

// mcp 72
func TestUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{})
	id := w.Send(t, slow(3600)).Task(t).ID
	for what, further := range map[string]string{"absent": "", "null": `"inputResponses":null`, "array": `"inputResponses":[]`} {
		wantCode(t, what, w.Send(t, wire.TaskMethod("tasks/update", id, further).Wrong()), http.StatusBadRequest, -32602)
	}
	for _, further := range []string{`"inputResponses":{}`, `"inputResponses":{"x":{"action":"accept"}}`} {
		reply := w.Send(t, wire.TaskMethod("tasks/update", id, further).Wrong())
		wantServed(t, further, reply)
	}
	if got := w.get(id); got.Status != "working" {
		t.Errorf("%+v", got)
	}
}

// mcp 79
func TestWorkingTasksAreBounded(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{MCP: asNamed(), Tasks: tasks.Deps{MaxWorking: 2}})
	ada := func(r wire.Request) wire.Request { return r.With("X-Aion-Subject", "ada") }
	first := w.Send(t, ada(slow(3600))).Task(t).ID
	w.Send(t, ada(slow(3600))).Task(t)
	if got := w.Send(t, ada(slow(3600))).Refusal(t); got.Code != "resource_exhausted" || got.ErrorType != "TooManyTasks" || !strings.Contains(got.Message, "2 of your tasks") {
		t.Errorf("%+v", got)
	}
	w.Send(t, slow(3600).With("X-Aion-Subject", "bob")).Task(t)
	w.Send(t, ada(wire.TaskMethod("tasks/cancel", first, "")))
	w.Send(t, ada(slow(3600))).Task(t) // settled ones do not count
}

// mcp 55: a call that becomes a task is a call.
func TestTasksCountAgainstTheRate(t *testing.T) {
	t.Parallel()
	o := asNamed()
	o.RatePerSecond, o.RateBurst = 1, 1
	w := serveTasks(t, fixture.Options{MCP: o})
	for range 50 { // a slow machine earns further tokens meanwhile
		if reply := w.Send(t, slow(1).With("X-Aion-Subject", "ada")); bytes.Contains(reply.Body, []byte("RateLimited")) {
			return
		}
	}
	t.Error("50 tasks at one per second")
}

// mcp 29, mcp 76: what one server made, another shows and ends.
func TestTasksAreServedByEveryServerOfAStore(t *testing.T) {
	t.Parallel()
	one := serveTasks(t, fixture.Options{})
	other := serveTasks(t, fixture.Options{Store: one.server.Store})
	id := one.Send(t, slow(3600)).Task(t).ID
	if got := other.get(id); got.Status != "working" {
		t.Errorf("%+v", got)
	}
	other.Send(t, wire.TaskMethod("tasks/cancel", id, ""))
	if got := one.get(id); got.Status != "cancelled" {
		t.Errorf("%+v", got)
	}
}

// mcp 31: who declares the extension hears of it.
func TestDiscoverAdvertisesTasksToWhoDeclaresThem(t *testing.T) {
	t.Parallel()
	w := serveTasks(t, fixture.Options{})
	capabilities := func(r wire.Request) string {
		var result struct{ Capabilities json.RawMessage }
		if err := json.Unmarshal(w.Send(t, r).Last(t).Result, &result); err != nil {
			t.Fatal(err)
		}
		return string(result.Capabilities)
	}
	discover := wire.RPC("1", "server/discover", "")
	if got := capabilities(discover); got != `{"tools":{}}` {
		t.Error(got)
	}
	if got := capabilities(discover.WithTasks()); got != `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
		t.Error(got)
	}
}

func mcpOptions(poll time.Duration) mcp.Options { return mcp.Options{PollInterval: poll} }

func asNamed() mcp.Options { return mcp.Options{Callers: named{}} }
