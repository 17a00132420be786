package schedules_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/engine"
	"aion/application/runs"
	"aion/application/schedules"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
	"aion/test/fake"
)

// shelf has the deployed types: quick ends at once, and slow never does.
type shelf struct {
	mu        sync.Mutex
	contracts map[string]*deployment.Contract
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{contracts: map[string]*deployment.Contract{}}
	end := plan.Stmt{Op: plan.OpRoute, Target: &plan.Target{
		Kind: plan.TargetOutcome, Name: "done", Payload: &plan.Expr{Op: plan.ExprLit, Value: []byte(`null`)},
	}}
	for name, body := range map[string][]plan.Stmt{"quick": {end}, "slow": {{Op: plan.OpSleep, DurationMS: 1 << 40}, end}} {
		p := &plan.Plan{
			Format: plan.Format, WorkflowType: name, ContentHash: name, TimeoutMS: 1 << 41, InputSchema: []byte(`{"type":"object"}`),
			OutcomeSchema: []byte(`{}`), Outcomes: []plan.Outcome{{Name: "done", Schema: []byte(`{"type":"null"}`), Status: plan.Success}},
			Flow: plan.Flow{Steps: []plan.Step{{Name: "a", Kind: plan.KindPlain, Body: body}}},
		}
		text, err := plan.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if s.contracts[name], err = deployment.Load(deployment.Version{WorkflowType: name, ContentHash: name, Plan: text}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *shelf) Contract(ctx context.Context, hash string) (*deployment.Contract, error) {
	return s.Routed(ctx, hash)
}

func (s *shelf) Routed(_ context.Context, name string) (*deployment.Contract, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.contracts[name]; c != nil {
		return c, nil
	}
	return nil, ports.WorkflowTypeNotFound(name)
}

func (s *shelf) Source(ctx context.Context, hash string) (string, error) {
	_, err := s.Routed(ctx, hash)
	return "", err
}

func (s *shelf) Types(context.Context) ([]string, error) { return nil, nil }

func (s *shelf) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.contracts, name)
}

type nobody struct{}

func (nobody) Admit(history.Task, *plan.Action) bool { return false }
func (nobody) Revoke(domain.AttemptKey)              {}

var operator = access.Operator("")

// world is a server with its schedules, over a store that outlives it and a clock that stands.
type world struct {
	t       *testing.T
	clock   *fake.Clock
	backend fake.Backend
	store   *fake.Store
	shelf   *shelf
	log     *fake.Log
	runs    *runs.Service
	*schedules.Service
	stop func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clock := fake.NewClock(time.Time{})
	w := &world{t: t, clock: clock, backend: memory.New(clock), shelf: newShelf(t)}
	return w.another()
}

// another is a further server over the same store.
func (w *world) another() *world {
	w.t.Helper()
	n := &world{t: w.t, clock: w.clock, backend: w.backend, store: fake.NewStore(w.backend), shelf: w.shelf, log: &fake.Log{}}
	log := slog.New(slog.NewTextHandler(n.log, nil))
	watch, ids := system.NewWatch(), system.IDs{}
	e := engine.New(engine.Deps{
		Events: n.store, Index: n.store, Plans: n.shelf, Admission: nobody{}, Watch: watch, Clock: n.clock, Logger: log, Owner: "o", Shared: true,
	})
	n.runs = runs.New(runs.Deps{
		Engine: e, Reader: engine.NewReader(e, n.store), Events: n.store, Index: n.store, Transcripts: n.store, Types: n.shelf, Watch: watch,
		Clock: n.clock, IDs: ids, Served: func(*deployment.Contract, string, string) bool { return false },
	})
	n.Service = schedules.New(schedules.Deps{
		Store: n.store, Queue: n.store, Runs: n.runs, Zones: &system.Zones{}, Clock: n.clock, IDs: ids, Log: log, Shared: true,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = e.Run(ctx) })
	wait.Go(func() { _ = n.Run(ctx) })
	n.stop = func() { cancel(); wait.Wait() }
	return n
}

// pass lets time go by second by second, so that every part sees each of them.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	for end := w.clock.Now().Add(d); ; {
		synctest.Wait()
		if !w.clock.Now().Before(end) {
			return
		}
		w.clock.Advance(min(time.Second, end.Sub(w.clock.Now())))
	}
}

func settings(workflowType, spec string, overlap schedule.Overlap) schedule.Settings {
	return schedule.Settings{WorkflowType: workflowType, Spec: spec, Zone: "UTC", Overlap: overlap, CatchUp: time.Minute}
}

func (w *world) create(id string, set schedule.Settings) {
	w.t.Helper()
	if _, err := w.Create(context.Background(), operator, schedules.CreateRequest{Namespace: "default", ID: id, Settings: set}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) shown(id string) schedules.Shown {
	w.t.Helper()
	got, err := w.Describe(context.Background(), operator, "default", id)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// fires are all that is recorded of a schedule, oldest first.
func (w *world) fires(id string) []schedule.Fire {
	w.t.Helper()
	list, _, err := w.Fires(context.Background(), operator, [2]string{"default", id}, 0, 500)
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// told are the actions of the fires, in order.
func (w *world) told(id string) string {
	w.t.Helper()
	var words []string
	for _, f := range w.fires(id) {
		words = append(words, string(f.Action))
	}
	return strings.Join(words, " ")
}

func (w *world) want(id, told string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.told(id); got != told {
		w.t.Errorf("%s: %s\nwant %s\n%v", id, got, told, w.fires(id))
	}
}

// runsOf are the runs that a schedule has started, oldest first.
func (w *world) runsOf(id string) []history.ListedRun {
	w.t.Helper()
	rows, err := w.backend.List(context.Background(), ports.RunFilter{Namespace: "default", ScheduleID: id, Order: ports.OldestFirst}, nil, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// once checks that each time has one record, and one run when its record says so.
func (w *world) once(id string) {
	w.t.Helper()
	nominal, started := map[time.Time]bool{}, map[domain.WorkflowID]bool{}
	for _, f := range w.fires(id) {
		if f.Action == schedule.Buffered { // it has another record when it no longer waits
			continue
		}
		if nominal[f.Nominal] {
			w.t.Errorf("%s is recorded twice: %v", f.Nominal, w.fires(id))
		}
		nominal[f.Nominal] = true
		if f.WorkflowID != "" {
			started[f.WorkflowID] = true
		}
	}
	rows := w.runsOf(id)
	for _, r := range rows {
		if !started[r.WorkflowID] {
			w.t.Errorf("run %s is of no fire: %v", r.WorkflowID, w.fires(id))
		}
	}
	if len(rows) != len(started) {
		w.t.Errorf("%d runs of %d fires", len(rows), len(started))
	}
}

// bubble runs a test whose time is the clock's alone.
func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer func() { w.stop() }()
		f(w)
	})
}

func refused(t *testing.T, err error, code domain.Code, typ string) {
	t.Helper()
	if domain.CodeOf(err) != code || domain.TypeOf(err) != typ {
		t.Errorf("got %v, want %s/%s", err, code, typ)
	}
}
