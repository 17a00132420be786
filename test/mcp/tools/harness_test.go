package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aion/adapters/auth"
	"aion/adapters/mcp"
	"aion/adapters/mcp/general"
	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/adapters/workspace"
	"aion/application/actions"
	"aion/application/audit"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/runs"
	"aion/application/tasks"
	"aion/application/timers"
	"aion/application/transcripts"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/task"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/fake"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is an executor whose actions are functions by name; an action without one answers with a greeting.
type script map[string]func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict

func (s script) Execute(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	if do := s[e.Dispatch.Name]; do != nil {
		return do(ctx, e, out)
	}
	var input struct{ Name string }
	if err := json.Unmarshal(e.Dispatch.Input, &input); err != nil {
		return action.Failed{Class: action.Terminal, Message: err.Error()}
	}
	line(out, "hello")
	line(out, input.Name)
	result, err := json.Marshal("hello " + input.Name)
	if err != nil {
		return action.Failed{Class: action.Terminal, Message: err.Error()}
	}
	return action.Completed{Result: result}
}

func line(out ports.TranscriptWriter, text string) {
	out.Write(transcript.Record{EmittedAt: time.Now().UTC(), AgentID: transcript.NilAgent, AgentRole: "command stdout", Kind: transcript.Message, Role: "tool", Text: text})
}

// hold writes a line and runs until it is stopped.
func hold(ctx context.Context, _ ports.Execution, out ports.TranscriptWriter) action.Verdict {
	line(out, "holding")
	<-ctx.Done()
	if context.Cause(ctx) == ports.StopDrain { //nolint:errorlint // a cause is the value itself
		return action.Parked{}
	}
	return action.Dropped{}
}

// settings of a world; zero members are the product's defaults.
type settings struct {
	backend   *memory.Store
	workspace string // directory; "none": not configured; empty: one that does not exist yet
	script    script
	limits    runs.Limits
	maxResult int
	callers   web.Callers
	faults    []fake.Fault

	replicas     int // 0: as the environment says
	historyLimit int
	tasks        taskSettings
	meter        ports.Meter
	callTimeout  time.Duration
}

// taskSettings are those of the tasks service; Hold keeps starts back until it is closed.
type taskSettings struct {
	tasks.Deps
	Hold <-chan struct{}
}

// held keeps starts back.
type held struct {
	tasks.Work
	until <-chan struct{}
}

func (h held) Begin(ctx context.Context, t task.Task) (tasks.Begun, error) {
	select {
	case <-h.until:
		return h.Work.Begin(ctx, t)
	case <-ctx.Done():
		return tasks.Begun{}, context.Cause(ctx)
	}
}

// world is one server or more over one memory store and real documents, each behind a listener. With more, requests go to
// them in turn.
type world struct {
	*wire.Client
	t       *testing.T
	servers []*httptest.Server
	store   *memory.Store
	dir     string
	runs    *runs.Service // of the first server
	tasks   *tasks.Service
}

func open(t *testing.T, set settings) *world {
	t.Helper()
	w := &world{t: t, store: set.backend, dir: set.workspace}
	if w.store == nil {
		w.store = memory.New(system.Clock{})
	}
	if w.dir == "" {
		w.dir = filepath.Join(t.TempDir(), "authoring")
	}
	if set.replicas == 0 {
		set.replicas = wire.Replicas()
	}
	if set.replicas > 1 && set.faults != nil {
		t.Skip("faults are scripted for one server")
	}
	c, err := general.Catalogue("1.2.3", time.Hour, 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range set.replicas {
		w.servers = append(w.servers, w.serve(c, set))
	}
	outputs := outputSchemas(t, c)
	w.Client = &wire.Client{URL: w.servers[0].URL + "/mcp", HTTP: w.servers[0].Client(), Output: func(tool string) *wire.Schema { return outputs[tool] }}
	if set.replicas > 1 {
		var hosts []string
		for _, server := range w.servers {
			hosts = append(hosts, server.Listener.Addr().String())
		}
		w.HTTP = wire.InTurn(hosts...)
		t.Cleanup(w.HTTP.CloseIdleConnections)
	}
	return w
}

// serve starts one server, all of it, and stops it when the test ends.
func (w *world) serve(c mcp.Catalogue, set settings) *httptest.Server {
	t := w.t
	t.Helper()
	clock, ids, watch, log := system.Clock{}, system.IDs{}, system.NewWatch(), slog.New(slog.DiscardHandler)
	store := fake.NewStore(w.store)
	gate := actions.NewGate(actions.BodiesOn, actions.Limits{})
	catalogue := deployments.New(deployments.Deps{Store: store, Index: store, Clock: clock})
	core := engine.New(engine.Deps{
		Events: store, Index: store, Plans: catalogue, Admission: gate, Watch: watch, Clock: clock, Logger: log, Owner: ids.UUIDv7(),
		HistoryLimit: set.historyLimit,
	})
	reader := engine.NewReader(core, store)
	publisher := transcripts.NewPublisher(store, watch, clock, log, transcripts.Bounds{})
	dispatcher := actions.New(actions.Deps{
		Engine: core, Gate: gate, Tasks: store, Events: store, Plans: catalogue, Executor: set.script,
		Transcript: publisher, Clock: clock, IDs: ids, Logger: log,
	})
	wheel := timers.New(core, store, clock, log, 0)
	run := runs.New(runs.Deps{
		Engine: core, Reader: reader, Events: store, Index: store, Transcripts: store, Types: catalogue, Watch: watch,
		Clock: clock, IDs: ids, Limits: set.limits,
		Served: func(c *deployment.Contract, queue, name string) bool {
			return actions.BodiesOn.Serves(c.Plan.Action(queue, name))
		},
	})
	d := set.tasks
	d.Store, d.Work, d.Clock, d.Random, d.IDs, d.Log = w.store, general.NewAwaited(run), clock, fixture.Random, ids, log
	if d.Hold != nil {
		d.Work = held{Work: d.Work, until: d.Hold}
	}
	waiting := tasks.New(d.Deps)
	w.runs, w.tasks = run, waiting
	trail := audit.New(audit.Deps{Log: store, Chain: ids.UUIDv7(), Clock: clock, Logger: log})
	if err := trail.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	writer := authoring.New(authoring.Deps{Documents: w.documents(set), Deployments: catalogue, Clock: clock, IDs: ids, Audit: trail.Record})
	service := general.New(run, transcripts.New(transcripts.Deps{Store: store, Index: store, Attempts: reader, Watch: watch, Clock: clock}), writer, set.maxResult)
	options := mcp.Options{Callers: set.callers, IDs: ids, Log: log, Tasks: waiting, Audit: trail.Refused, Meter: set.meter, CallTimeout: set.callTimeout}
	if options.Callers == nil {
		options.Callers = web.NewCallers(web.Door{Auth: auth.Off{}, Log: options.Log})
	}
	endpoint, err := mcp.NewEndpoint(c, service, options)
	if err != nil {
		t.Fatal(err)
	}
	host := web.New(web.Config{}, web.NewHealth(), ids, log)
	mcp.Mount(host.Router(), "/mcp", endpoint)
	server := httptest.NewServer(host)

	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(t.Context()))
	outer, stopOuter := context.WithCancel(context.WithoutCancel(t.Context()))
	var engineDone, outerDone sync.WaitGroup
	engineDone.Go(func() { _ = core.Run(engineCtx) })
	if _, err := dispatcher.Recover(engineCtx); err != nil {
		t.Fatal(err)
	}
	outerDone.Go(func() { _ = dispatcher.Run(outer) })
	outerDone.Go(func() { _ = wheel.Run(outer) })
	outerDone.Go(func() { _ = waiting.Run(outer) })
	t.Cleanup(func() {
		server.Close()
		stopOuter()
		outerDone.Wait()
		stopEngine()
		engineDone.Wait()
	})
	store.Script(set.faults...)
	return server
}

func (w *world) documents(set settings) ports.DocumentStore {
	w.t.Helper()
	dir := w.dir
	if set.workspace == "none" {
		dir = ""
	}
	documents, err := workspace.New(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return documents
}

func outputSchemas(t *testing.T, c mcp.Catalogue) map[string]*wire.Schema {
	t.Helper()
	schemas := map[string]*wire.Schema{}
	for _, tool := range c.Tools {
		var d struct {
			Name   string          `json:"name"`
			Output json.RawMessage `json:"outputSchema"`
		}
		if err := json.Unmarshal(tool.Descriptor, &d); err != nil {
			t.Fatal(err)
		}
		schema, err := wire.NewSchema(d.Output)
		if err != nil {
			t.Fatal(err)
		}
		schemas[d.Name] = schema
	}
	return schemas
}

// args are the arguments of a tool.
type args map[string]any

// call sends one tool call; the client holds it against the protocol and the output schema.
func (w *world) call(tool string, a args) wire.Reply {
	w.t.Helper()
	return w.Send(w.t, request(w.t, tool, a))
}

func request(t *testing.T, tool string, a args) wire.Request {
	t.Helper()
	if a == nil {
		a = args{}
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Tool("1", tool, string(text))
}

// ok is the structured content of a call that must succeed.
func (w *world) ok(tool string, a args) answer {
	w.t.Helper()
	reply := w.call(tool, a)
	got := reply.Result(w.t)
	if got.IsError {
		w.t.Fatalf("%s was refused: %s", tool, got.Content[0].Text)
	}
	return decode(w.t, got.Structured)
}

func decode(t *testing.T, text []byte) answer {
	t.Helper()
	v, err := wire.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return answer{v.(map[string]any)}
}

// refused is the refusal of a call that must be refused with a code and type.
func (w *world) refused(tool string, a args, code, errorType string) wire.Refusal {
	w.t.Helper()
	got := w.call(tool, a).Refusal(w.t)
	if got.Code != code || got.ErrorType != errorType {
		w.t.Errorf("%s: refused with %s/%s, want %s/%s: %s", tool, got.Code, got.ErrorType, code, errorType, got.Message)
	}
	return got
}

// invalid holds that arguments do not reach the tool.
func (w *world) invalid(tool string, a args) wire.Error {
	w.t.Helper()
	reply := w.Send(w.t, request(w.t, tool, a))
	if reply.Status != 400 || reply.Code(w.t) != -32602 {
		w.t.Errorf("%s %v: status %d: %.300s", tool, a, reply.Status, reply.Body)
		return wire.Error{}
	}
	return *reply.Last(w.t).Error
}

// deploy saves and deploys a document, and gives the answer of the deploy.
func (w *world) deploy(path, source string) answer {
	w.t.Helper()
	saved := w.ok("save_document", args{"path": path, "source": source})
	return w.ok("deploy_document", args{"path": path, "content_hash": saved.text("content_hash")})
}

// start starts a run in namespace default.
func (w *world) start(workflowType string, input any) answer {
	w.t.Helper()
	a := args{"namespace": "default", "workflow_type": workflowType}
	if input != nil {
		a["input"] = input
	}
	return w.ok("start_run", a)
}

func handle(run answer) args {
	return args{"namespace": run.text("namespace"), "workflow_id": run.text("workflow_id")}
}

func with(a args, pairs ...any) args {
	out := args{}
	for k, v := range a {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// await describes a run until it is as wanted.
func (w *world) await(run answer, what string, holds func(answer) bool) answer {
	w.t.Helper()
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		d := w.ok("describe_run", handle(run))
		if holds(d) {
			return d
		}
		select {
		case <-deadline:
			w.t.Fatalf("not %s: %v", what, d.members)
		case <-tick.C:
		}
	}
}

func (w *world) awaitStatus(run answer, status string) answer {
	w.t.Helper()
	return w.await(run, status, func(d answer) bool { return d.text("status") == status })
}

func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
