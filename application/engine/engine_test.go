package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/engine"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
	"aion/test/fake"
)

type realtime struct{}

func (realtime) Now() time.Time                         { return time.Now() }
func (realtime) After(d time.Duration) <-chan time.Time { return time.After(d) }

// shelf is a catalogue of one version.
type shelf struct{ contract *deployment.Contract }

func (s shelf) Contract(context.Context, string) (*deployment.Contract, error) {
	return s.contract, nil
}

// nobody grants no slot: what is scheduled stays queued.
type nobody struct{}

func (nobody) Admit(history.Task, *plan.Action) bool { return false }
func (nobody) Revoke(domain.AttemptKey)              {}

// waiting is a workflow that waits for the signal go, three times.
func waiting(t *testing.T) *deployment.Contract {
	t.Helper()
	text := []byte(`{"type":"string"}`)
	p := &plan.Plan{
		Format: plan.Format, WorkflowType: "w", ContentHash: "h", TimeoutMS: 3_600_000, InputSchema: []byte(`{"type":"object"}`),
		OutcomeSchema: []byte(`{}`), Signals: []plan.Port{{Name: "go", Schema: text}, {Name: "noise", Schema: text}},
		Outcomes: []plan.Outcome{{Name: "done", Schema: text, Status: plan.Success}},
	}
	for i, name := range []string{"a", "b", "c"} {
		p.Flow.Steps = append(p.Flow.Steps, plan.Step{Name: name, Kind: plan.KindPlain, Body: []plan.Stmt{{Op: plan.OpWait, Name: "go", Bind: "x" + name}}})
		if i > 0 {
			p.Flow.Steps[i-1].FallThrough = name
		}
	}
	last := &p.Flow.Steps[2]
	last.Body = append(last.Body, plan.Stmt{Op: plan.OpRoute, Target: &plan.Target{
		Kind: plan.TargetOutcome, Name: "done",
		Payload: &plan.Expr{Op: plan.ExprRef, Name: "xc"},
	}})
	text, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := deployment.Load(deployment.Version{WorkflowType: "w", ContentHash: "h", Plan: text})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// replica is one engine over a store that others may share.
type replica struct {
	*engine.Engine
	stop func()
}

func newReplica(store fake.Backend, c *deployment.Contract, owner string) replica {
	e := engine.New(engine.Deps{
		Events: store, Index: store, Plans: shelf{c}, Admission: nobody{}, Watch: system.NewWatch(), Clock: realtime{},
		Logger: slog.New(slog.DiscardHandler), Owner: owner, Shared: true,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = e.Run(ctx) })
	return replica{e, func() { cancel(); wait.Wait() }}
}

const wid = domain.WorkflowID("0198aaaa-0000-7000-8000-000000000001")

func start(c *deployment.Contract, key *history.Idempotency) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		if v.Run != nil {
			return engine.Change{}, nil
		}
		return engine.Change{
			Facts: []history.Event{history.WorkflowStarted{WorkflowType: "w", PackageVersion: "h", Input: []byte(`{}`), Deadline: v.At.Add(time.Hour)}},
			Begin: &engine.Begin{Namespace: "default", RunID: "0198aaaa-0000-7000-8000-000000000002", Contract: c, Started: key},
		}, nil
	}
}

func signal(id string) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		if v.Run == nil {
			return engine.Change{}, run.WorkflowNotFound(wid, "default")
		}
		if err := v.Run.Alive(); err != nil {
			return engine.Change{}, err
		}
		return engine.Change{Facts: []history.Event{history.SignalReceived{SignalID: id, SignalName: "go", Payload: []byte(`"x"`)}}}, nil
	}
}

func replay(t *testing.T, store fake.Backend, c *deployment.Contract) []history.Recorded {
	t.Helper()
	events, err := store.History(context.Background(), wid, 1, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	r := machine.NewReplayer(c.Plan)
	for i, rec := range events {
		if rec.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d", i+1, rec.Seq)
		}
		if err := r.Feed(rec); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Done(); err != nil {
		t.Fatal(err)
	}
	return events
}

// engine 8 (safety needs no owner): callers of two servers that write to one workflow without a pause never learn of the
// races between them, and read what anyone has been told.
func TestCallersOfTwoEnginesMeetNoConflict(t *testing.T) {
	t.Parallel()
	store, c := memory.New(realtime{}), waiting(t)
	a, b := newReplica(store, c, "a"), newReplica(store, c, "b")
	defer a.stop()
	defer b.stop()
	if _, err := a.Do(context.Background(), wid, start(c, nil)); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for n := range 32 {
		wait.Go(func() {
			for i := range 20 {
				here, there := a, b
				if (n+i)%2 == 0 {
					here, there = b, a
				}
				receipt, err := here.Do(context.Background(), wid, noise(fmt.Sprint(n, "/", i)))
				if err != nil {
					t.Error(err)
					return
				}
				err = there.Look(context.Background(), wid, func(v engine.View) error {
					if v.Run.Head() < receipt.First() {
						t.Errorf("event %d is acknowledged, and a read shows %d", receipt.First(), v.Run.Head())
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	signals := 0
	for _, rec := range replay(t, store, c) {
		if rec.Type == (history.SignalReceived{}).Type() {
			signals++
		}
	}
	if signals != 32*20 {
		t.Errorf("%d signals", signals)
	}
}

// engine 8 (safety needs no owner): whichever engine takes a fact, the loser of a race decides again.
func TestTwoEnginesOverOneStoreLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, c := memory.New(realtime{}), waiting(t)
		a, b := newReplica(store, c, "a"), newReplica(store, c, "b")
		defer a.stop()
		defer b.stop()
		if _, err := a.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		recorded := map[string]bool{}
		var mu sync.Mutex
		for i := range 40 {
			wait.Go(func() {
				id := fmt.Sprint(i)
				_, err := []replica{a, b}[i%2].Do(context.Background(), wid, signal(id))
				mu.Lock()
				defer mu.Unlock()
				switch domain.CodeOf(err) {
				case domain.CodeNotRunning:
				default:
					if err != nil {
						t.Error(err)
					}
					recorded[id] = true
				}
			})
		}
		wait.Wait()
		events := replay(t, store, c)
		if last := events[len(events)-1]; last.Type != "WorkflowCompleted" {
			t.Errorf("ended with %s", last.Type)
		}
		for _, rec := range events {
			if ev, err := rec.Event(); err == nil {
				if s, ok := ev.(history.SignalReceived); ok {
					delete(recorded, s.SignalID)
				}
			}
		}
		if len(recorded) != 0 {
			t.Errorf("acknowledged and not recorded: %v", recorded)
		}
	})
}

func TestStoppedEngineRefusesAndLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, c := memory.New(realtime{}), waiting(t)
		store := fake.NewStore(backend)
		e := newReplica(store, c, "a")
		hold := make(chan struct{})
		store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold})
		var mu sync.Mutex
		var errs []error
		var wait sync.WaitGroup
		for i := range 10 {
			decide := signal(fmt.Sprint(i))
			if i == 0 {
				decide = start(c, nil)
			}
			wait.Go(func() {
				_, err := e.Do(context.Background(), wid, decide)
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			})
			synctest.Wait()
		}
		wait.Go(e.stop)
		synctest.Wait()
		close(hold)
		wait.Wait()
		shut := 0
		for _, err := range errs {
			if err != nil && domain.CodeOf(err) != domain.CodeUnavailable {
				t.Errorf("%v", err)
			}
			if err != nil {
				shut++
			}
		}
		if shut != 9 {
			t.Errorf("%d calls were refused; the start was on its way", shut)
		}
		if _, err := e.Do(context.Background(), wid, signal("late")); domain.CodeOf(err) != domain.CodeUnavailable || !e.Stopped() {
			t.Errorf("%v", err)
		}
		if events := replay(t, backend, c); events[0].Type != "WorkflowStarted" {
			t.Errorf("%s", events[0].Type)
		}
	})
}

// engine 6: facts that wait together are written together, and a refused one harms no other.
func TestWaitingFactsShareACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, c := memory.New(realtime{}), waiting(t)
		store := fake.NewStore(backend)
		e := newReplica(store, c, "a")
		defer e.stop()
		if _, err := e.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		hold := make(chan struct{})
		store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold}, fake.Fault{Op: "Append", Call: 4, When: fake.Before})
		var wait sync.WaitGroup
		var refused atomic.Int64
		for i := range 20 {
			wait.Go(func() {
				r, err := e.Do(context.Background(), wid, signal(fmt.Sprint(i)))
				switch {
				case domain.CodeOf(err) == domain.CodeNotRunning && err != nil:
					refused.Add(1)
				case err != nil:
					t.Error(err)
				case len(r.Events) == 0 || r.Events[0].Type != "SignalReceived":
					t.Errorf("receipt %v", r.Events)
				}
			})
			synctest.Wait()
		}
		close(hold)
		wait.Wait()
		replay(t, backend, c)
		if n := refused.Load(); n != 17 {
			t.Errorf("%d of 20 were refused", n)
		}
		if n := store.Struck(); n != 1 {
			t.Errorf("more than 3 commits were written")
		}
	})
}

// A look sees what was acknowledged before it, and nothing that is not durable.
func TestLookSeesCommittedStateOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, c := memory.New(realtime{}), waiting(t)
		store := fake.NewStore(backend)
		e := newReplica(store, c, "a")
		defer e.stop()
		if _, err := e.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		head := func() (n history.Seq) {
			if err := e.Look(context.Background(), wid, func(v engine.View) error { n = v.Run.Head(); return nil }); err != nil {
				t.Error(err)
			}
			return n
		}
		before := head()
		hold := make(chan struct{})
		store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold, When: fake.Before})
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := e.Do(context.Background(), wid, signal("1")); domain.CodeOf(err) != domain.CodeUnavailable {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		var seen history.Seq
		wait.Go(func() { seen = head() })
		synctest.Wait()
		close(hold)
		wait.Wait()
		if seen != before {
			t.Errorf("a look saw event %d of a commit that failed", seen)
		}
	})
}

func TestPanicOfALookIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, c := memory.New(realtime{}), waiting(t)
		e := newReplica(store, c, "a")
		defer e.stop()
		if _, err := e.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		if err := e.Look(context.Background(), wid, func(engine.View) error { panic("look") }); domain.CodeOf(err) != domain.CodeBackend {
			t.Errorf("%v", err)
		}
		if _, err := e.Do(context.Background(), wid, signal("1")); err != nil {
			t.Error(err)
		}
	})
}

func TestDecisionThatWantsNothingNeedsNoWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newReplica(memory.New(realtime{}), waiting(t), "a")
		defer e.stop()
		r, err := e.Do(context.Background(), wid, func(v engine.View) (engine.Change, error) {
			if v.Run != nil {
				t.Errorf("run %s of a workflow that nobody started", v.Run.ID())
			}
			return engine.Change{}, nil
		})
		if err != nil || len(r.Events) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// A look that waits behind a change is not shown the change before that is durable.
func TestLookBehindAChangeWaitsForItsCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, c := memory.New(realtime{}), waiting(t)
		store := fake.NewStore(backend)
		e := newReplica(store, c, "a")
		defer e.stop()
		if _, err := e.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		hold := make(chan struct{})
		store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold}, fake.Fault{Op: "Append", Call: 2, When: fake.Before})
		var wait sync.WaitGroup
		for i := range 2 { // the second one waits in the box, and its commit will fail
			wait.Go(func() { _, _ = e.Do(context.Background(), wid, signal(fmt.Sprint(i))) })
			synctest.Wait()
		}
		var seen, durable history.Seq
		wait.Go(func() {
			if err := e.Look(context.Background(), wid, func(v engine.View) error { seen = v.Run.Head(); return nil }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(hold)
		wait.Wait()
		if durable = history.Seq(len(replay(t, backend, c))); seen != durable {
			t.Errorf("seen %d, durable %d", seen, durable)
		}
	})
}
