package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/actions"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/replicas"
	"aion/application/runs"
	"aion/application/timers"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/ports"
	"aion/test/fake"
)

var operator = access.Operator("")

// executor is a scripted ports.Executor: what an attempt does is a function.
type executor func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict

func (x executor) Execute(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	return x(ctx, e, out)
}

// instant completes every attempt at once with the action's name.
func instant(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	return action.Completed{Result: raw(fmt.Sprintf("%q", e.Dispatch.Name))}
}

// untilStopped runs until it is stopped, and gives the verdict that belongs to the cause.
func untilStopped(ctx context.Context, _ ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	<-ctx.Done()
	if context.Cause(ctx) == ports.StopDrain { //nolint:errorlint // a cause is the value itself
		return action.Parked{}
	}
	return action.Dropped{}
}

// realtime is the clock of a test: inside a synctest bubble its time stands still until everybody waits.
type realtime struct{ ahead *atomic.Int64 }

func (c realtime) Now() time.Time {
	if c.ahead == nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}
func (realtime) After(d time.Duration) <-chan time.Time { return time.After(d) }

// world is a whole server over a store that outlives it.
type world struct {
	t       *testing.T
	backend fake.Backend
	store   *fake.Store
	log     *fake.Log
	// mayFault: a plan that no compiler writes makes the engine pause a run.
	mayFault bool

	engine     *engine.Engine
	gate       *actions.Gate
	dispatcher *actions.Dispatcher
	runs       *runs.Service
	read       *transcripts.Service
	catalogue  *deployments.Service
	replicas   *replicas.Service // nil: the server has its store for itself
	stop       func()
}

type settings struct {
	limits  actions.Limits
	bodies  actions.Bodies
	runs    runs.Limits
	cache   int
	history int
	factors []float64
	shared  bool
	ahead   *atomic.Int64       // of the time, by nanoseconds; nil: the clock is right
	shards  func() ports.Shards // nil: those that fall to the server
}

var instances struct {
	mu sync.Mutex
	n  int
}

func instance() string {
	instances.mu.Lock()
	defer instances.mu.Unlock()
	instances.n++
	return fmt.Sprintf("server-%d", instances.n)
}

// newWorld starts a server over an empty store with the plans deployed.
func newWorld(t *testing.T, run executor, plans ...*plan.Plan) *world {
	t.Helper()
	return startWorld(t, memory.New(realtime{}), settings{}, run, plans...)
}

// startWorld starts a server over a store. Stop ends it as kill -9 does, except that goroutines end.
func startWorld(t *testing.T, backend fake.Backend, set settings, run executor, plans ...*plan.Plan) *world {
	t.Helper()
	w := &world{t: t, backend: backend, store: fake.NewStore(backend), log: &fake.Log{}}
	clock, ids, watch := realtime{ahead: set.ahead}, system.IDs{}, system.NewWatch()
	var chance ports.IDs = ids
	if set.factors != nil {
		chance = fake.NewIDs(set.factors...)
	}
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	if set.bodies == "" {
		set.bodies = actions.BodiesOn
	}
	w.gate = actions.NewGate(set.bodies, set.limits)
	w.catalogue = deployments.New(deployments.Deps{Store: w.backend, Index: w.backend, Clock: clock})
	for _, p := range plans {
		w.deploy(p)
	}
	owner := instance()
	if set.shards == nil {
		set.shards = func() ports.Shards { return w.replicas.Shards() }
	}
	if set.shared {
		w.replicas = replicas.New(replicas.Deps{Store: w.store, Clock: clock, Logger: logger, Self: ports.Replica{ID: owner, StartedAt: clock.Now()}})
		if err := w.replicas.Join(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	w.engine = engine.New(engine.Deps{
		Events: w.store, Index: w.store, Plans: w.catalogue, Admission: w.gate, Watch: watch, Clock: clock,
		Logger: logger, Owner: owner, CacheRuns: set.cache, HistoryLimit: set.history, Shared: set.shared, Shards: set.shards,
	})
	reader := engine.NewReader(w.engine, w.store)
	publisher := transcripts.NewPublisher(w.store, watch, clock, logger, transcripts.Bounds{})
	w.dispatcher = actions.New(actions.Deps{
		Engine: w.engine, Gate: w.gate, Tasks: w.store, Events: w.store, Plans: w.catalogue, Executor: run,
		Transcript: publisher, Clock: clock, IDs: chance, Logger: logger, Peers: w.replicas,
	})
	wheel := timers.New(w.engine, w.store, clock, logger, 0)
	w.runs = runs.New(runs.Deps{
		Engine: w.engine, Reader: reader, Events: w.store, Index: w.store, Changes: w.store, Transcripts: w.store, Types: w.catalogue,
		Watch: watch, Clock: clock, IDs: ids, Limits: set.runs,
		Served: func(c *deployment.Contract, queue, name string) bool {
			return set.bodies.Serves(c.Plan.Action(queue, name))
		},
	})
	w.read = transcripts.New(transcripts.Deps{Store: w.store, Index: w.store, Attempts: reader, Watch: watch, Clock: clock})

	ctx, cancel := context.WithCancel(context.Background())
	outer, cancelOuter := context.WithCancel(context.Background())
	var inner, wait sync.WaitGroup
	wait.Go(func() { _ = w.engine.Run(ctx) })
	if _, err := w.dispatcher.Recover(ctx); err != nil && !w.store.Dead() {
		t.Errorf("recover: %v", err)
	}
	inner.Go(func() { _ = w.dispatcher.Run(outer) })
	inner.Go(func() { _ = wheel.Run(outer) })
	couriers := engine.NewCouriers(w.engine, w.store, w.catalogue, ids, 0)
	inner.Go(func() { _ = couriers.Run(outer) })
	if set.shared {
		inner.Go(func() { _ = w.replicas.Run(outer) })
		inner.Go(func() { _ = w.dispatcher.KeepClaims(outer) })
		inner.Go(func() { _ = w.dispatcher.TakeOver(outer) })
	}
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancelOuter()
			inner.Wait()
			cancel()
			wait.Wait()
			if !w.mayFault && strings.Contains(w.log.String(), "faulted the engine") {
				t.Errorf("a run faulted the engine:\n%s", w.log)
			}
		})
	}
	return w
}

func (w *world) deploy(p *plan.Plan) {
	w.t.Helper()
	text, err := plan.Encode(p)
	if err != nil {
		w.t.Fatal(err)
	}
	v := deployment.Version{
		DeploymentID: system.IDs{}.UUIDv7(), WorkflowType: p.WorkflowType, ContentHash: p.ContentHash, Plan: text,
		DocumentPath: p.WorkflowType + ".awl", DeployedAt: time.Now().UTC(),
	}
	if _, _, err := w.catalogue.Deploy(context.Background(), v); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) start(workflowType string) runs.Started {
	w.t.Helper()
	s, err := w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: workflowType})
	if err != nil {
		w.t.Fatalf("start %s: %v", workflowType, err)
	}
	return s
}

func refOf(s runs.Started) runs.Ref {
	return runs.Ref{Namespace: "default", WorkflowID: string(s.Run.WorkflowID)}
}

func (w *world) describe(s runs.Started) runs.Description {
	w.t.Helper()
	d, err := w.runs.Describe(context.Background(), operator, refOf(s))
	if err != nil {
		w.t.Fatalf("describe: %v", err)
	}
	return d
}

func (w *world) signal(s runs.Started, payload string) error {
	_, err := w.runs.Signal(context.Background(), operator, runs.SignalRequest{Ref: refOf(s), Name: "go", Payload: raw(payload)})
	return err
}

// await follows a workflow to its end and describes it.
func (w *world) await(s runs.Started) runs.Description {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Hour) // of the bubble's time
	defer cancel()
	err := w.runs.Follow(ctx, operator, runs.HistoryRequest{Namespace: "default", WorkflowID: string(s.Run.WorkflowID)},
		func(history.Recorded) error { return nil })
	if err != nil {
		w.t.Fatalf("follow: %v\nlog:\n%s", err, w.log)
	}
	return w.describe(s)
}

func (w *world) history(id domain.WorkflowID) []history.Recorded {
	w.t.Helper()
	events, err := w.backend.History(context.Background(), id, 1, 1_000_000)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// types is a history as its event types.
func types(events []history.Recorded) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.Type
	}
	return out
}

func count(events []history.Recorded, typ string) int {
	n := 0
	for _, e := range events {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// decode reads the members of an event.
func decode(t *testing.T, e history.Recorded) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(e.Data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// verify holds the invariants of every history: dense seqs, one live terminal at its end, and replay equals record.
func verify(t *testing.T, p *plan.Plan, events []history.Recorded) {
	t.Helper()
	replay := machine.NewReplayer(p)
	for i, rec := range events {
		if rec.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d", i+1, rec.Seq)
		}
		ev, err := rec.Event()
		if err != nil {
			t.Fatal(err)
		}
		_, goesOn := ev.(history.WorkflowContinuedAsNew)
		again := i+1 < len(events) && events[i+1].Type == (history.WorkflowReopened{}).Type()
		if history.Terminal(ev) && !goesOn && !again && i != len(events)-1 {
			t.Errorf("event %d (%s) is a terminal, and %d events follow", rec.Seq, rec.Type, len(events)-1-i)
		}
		if err := replay.Feed(rec); err != nil {
			t.Fatalf("replay of event %d (%s): %v\n%v", rec.Seq, rec.Type, err, types(events))
		}
	}
	if _, err := replay.Done(); err != nil {
		t.Fatalf("replay: %v\n%v", err, types(events))
	}
}
