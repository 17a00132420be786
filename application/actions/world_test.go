package actions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/actions"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

type realtime struct{}

func (realtime) Now() time.Time                         { return time.Now() }
func (realtime) After(d time.Duration) <-chan time.Time { return time.After(d) }

// executor counts what reaches it.
type executor struct {
	mu   sync.Mutex
	seen []ports.Execution
	do   func(ctx context.Context, e ports.Execution) action.Verdict
}

func (x *executor) Execute(ctx context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	x.mu.Lock()
	x.seen = append(x.seen, e)
	x.mu.Unlock()
	if x.do != nil {
		return x.do(ctx, e)
	}
	return action.Completed{Result: json.RawMessage(`"ran"`)}
}

func (x *executor) executions() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.seen)
}

// answers is a double of the catalogue.
type answers struct {
	mu    sync.Mutex
	asked []actions.Question
	give  func(q actions.Question) actions.Answer
}

func (a *answers) Lookup(_ context.Context, q actions.Question) actions.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, q)
	return a.give(q)
}

// world is a dispatcher on an engine over a store in memory.
type world struct {
	t          *testing.T
	store      *memory.Store
	faulty     *fake.Store
	catalogue  *deployments.Service
	runs       *runs.Service
	engine     *engine.Engine
	dispatcher *actions.Dispatcher
	gate       *actions.Gate
	x          *executor
	log        *fake.Log
	stop       func()
}

type settings struct {
	bodies    actions.Bodies
	catalogue interface {
		Lookup(context.Context, actions.Question) actions.Answer
	}
	do func(ctx context.Context, e ports.Execution) action.Verdict
}

func newWorld(t *testing.T, set settings, plans ...*plan.Plan) *world {
	t.Helper()
	w := &world{t: t, store: memory.New(realtime{}), x: &executor{do: set.do}, log: &fake.Log{}}
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	w.faulty = fake.NewStore(w.store)
	watch, ids := system.NewWatch(), system.IDs{}
	if set.bodies == "" {
		set.bodies = actions.BodiesOn
	}
	w.gate = actions.NewGate(set.bodies, actions.Limits{})
	w.catalogue = deployments.New(deployments.Deps{Store: w.store, Index: w.store, Clock: realtime{}})
	for _, p := range plans {
		w.deploy(p)
	}
	w.engine = engine.New(engine.Deps{
		Events: w.faulty, Index: w.store, Plans: w.catalogue, Admission: w.gate, Watch: watch, Clock: realtime{},
		Logger: logger, Owner: "server",
	})
	d := actions.Deps{
		Engine: w.engine, Gate: w.gate, Tasks: w.faulty, Events: w.store, Plans: w.catalogue, Index: w.store, Executor: w.x,
		Transcript: transcripts.NewPublisher(w.store, watch, realtime{}, logger, transcripts.Bounds{}), Clock: realtime{}, IDs: ids, Logger: logger,
	}
	if set.catalogue != nil {
		d.Catalogue = set.catalogue
	}
	w.dispatcher = actions.New(d)
	w.runs = runs.New(runs.Deps{
		Engine: w.engine, Reader: engine.NewReader(w.engine, w.store), Events: w.store, Index: w.store, Transcripts: w.store,
		Types: w.catalogue, Watch: watch, Clock: realtime{}, IDs: ids, Served: func(c *deployment.Contract, queue, name string) bool {
			return set.bodies.Serves(c.Plan.Action(queue, name))
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	outer, cancelOuter := context.WithCancel(context.Background())
	var inner, wait sync.WaitGroup
	wait.Go(func() { _ = w.engine.Run(ctx) })
	inner.Go(func() { _ = w.dispatcher.Run(outer) })
	inner.Go(func() { _ = w.dispatcher.KeepClaims(outer) })
	w.stop = func() { cancelOuter(); inner.Wait(); cancel(); wait.Wait() }
	return w
}

func (w *world) deploy(p *plan.Plan) {
	w.t.Helper()
	text, err := plan.Encode(p)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _, err = w.catalogue.Deploy(context.Background(), deployment.Version{
		DeploymentID: system.IDs{}.UUIDv7(), WorkflowType: p.WorkflowType,
		ContentHash: p.ContentHash, Plan: text, DocumentPath: p.WorkflowType + ".awl", DeployedAt: time.Now().UTC(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) start(workflowType string) runs.Summary {
	w.t.Helper()
	s, err := w.runs.Start(context.Background(), access.Operator(""), runs.StartRequest{Namespace: "default", WorkflowType: workflowType})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Run
}

// failure is the recorded failure of the only activity; empty: there is none.
func (w *world) failure(id domain.WorkflowID) string {
	w.t.Helper()
	for _, e := range w.history(id) {
		if e.Type == "ActivityFailed" {
			ev, err := e.Event()
			if err != nil {
				w.t.Fatal(err)
			}
			f := ev.(history.ActivityFailed)
			return f.Code + " " + string(f.Class) + ":" + f.Message
		}
	}
	return ""
}

func (w *world) history(id domain.WorkflowID) []history.Recorded {
	w.t.Helper()
	events, err := w.store.History(context.Background(), id, 1, 10_000)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

func (w *world) count(id domain.WorkflowID, typ string) (n int) {
	for _, e := range w.history(id) {
		if e.Type == typ {
			n++
		}
	}
	return n
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// one is a workflow that calls `work` of queue `shell` once. The content hash follows from name and body.
func one(name, command string) *plan.Plan {
	act := plan.Action{Name: "work", InputSchema: raw(`{"type":"object"}`), OutputSchema: raw(`{"type":"string"}`)}
	if command != "" {
		act.Body = &action.Body{Run: &action.RunBody{Command: command, Capture: action.CaptureText}}
	}
	return &plan.Plan{
		Format: plan.Format, WorkflowType: name, ContentHash: hash(name + command), TimeoutMS: 3_600_000,
		InputSchema: raw(`{"type":"object"}`), OutcomeSchema: raw(`{}`),
		Outcomes: []plan.Outcome{{Name: "done", Schema: raw(`{"type":"string"}`), Status: plan.Success}},
		Workers:  []plan.Worker{{Name: "shell", Actions: []plan.Action{act}}},
		Flow: plan.Flow{Steps: []plan.Step{{Name: "a", Kind: plan.KindPlain, Body: []plan.Stmt{
			{Op: plan.OpCall, Queue: "shell", Name: "work", Bind: "x"},
			{Op: plan.OpRoute, Target: &plan.Target{Kind: plan.TargetOutcome, Name: "done", Payload: &plan.Expr{Op: plan.ExprRef, Name: "x"}}},
		}}}},
	}
}

func hash(s string) string {
	h := uint32(2166136261)
	for _, c := range []byte(s) {
		h = (h ^ uint32(c)) * 16777619
	}
	return strings.Repeat(fmt.Sprintf("%08x", h), 8)
}
