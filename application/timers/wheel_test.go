package timers_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/engine"
	"aion/application/timers"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/test/fake"
)

type shelf struct{ contract *deployment.Contract }

func (s shelf) Contract(context.Context, string) (*deployment.Contract, error) {
	return s.contract, nil
}

type nobody struct{}

func (nobody) Admit(history.Task, *plan.Action) bool { return false }
func (nobody) Revoke(domain.AttemptKey)              {}

const wid = domain.WorkflowID("0198aaaa-0000-7000-8000-000000000001")

// sleeper is a workflow that sleeps for a minute.
func sleeper(t *testing.T) *deployment.Contract {
	t.Helper()
	p := &plan.Plan{
		Format: plan.Format, WorkflowType: "w", ContentHash: "h", TimeoutMS: 360_000_000, InputSchema: []byte(`{"type":"object"}`),
		OutcomeSchema: []byte(`{}`), Outcomes: []plan.Outcome{{Name: "done", Schema: []byte(`{"type":"null"}`), Status: plan.Success}},
		Flow: plan.Flow{Steps: []plan.Step{{Name: "a", Kind: plan.KindPlain, Body: []plan.Stmt{
			{Op: plan.OpSleep, DurationMS: 60_000},
			{Op: plan.OpRoute, Target: &plan.Target{Kind: plan.TargetOutcome, Name: "done", Payload: &plan.Expr{Op: plan.ExprLit, Value: []byte(`null`)}}},
		}}}},
	}
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

type bench struct {
	t     *testing.T
	clock *fake.Clock
	store *memory.Store
	stop  func()
	*engine.Engine
}

// newBench starts a sleeping workflow, with an engine and a wheel on a clock that stands.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: fake.NewClock(time.Time{})}
	b.store = memory.New(b.clock)
	c := sleeper(t)
	logger := slog.New(slog.DiscardHandler)
	e := engine.New(engine.Deps{
		Events: b.store, Index: b.store, Plans: shelf{c}, Admission: nobody{}, Watch: system.NewWatch(), Clock: b.clock,
		Logger: logger, Owner: "o",
	})
	b.Engine = e
	wheel := timers.New(e, b.store, b.clock, logger, 0)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = e.Run(ctx) })
	wait.Go(func() { _ = wheel.Run(ctx) })
	b.stop = func() { cancel(); wait.Wait() }
	_, err := e.Do(context.Background(), wid, func(v engine.View) (engine.Change, error) {
		return engine.Change{
			Facts: []history.Event{history.WorkflowStarted{WorkflowType: "w", PackageVersion: "h", Input: []byte(`{}`), Deadline: v.At.Add(100 * time.Hour)}},
			Begin: &engine.Begin{Namespace: "default", RunID: "0198aaaa-0000-7000-8000-000000000002", Contract: c},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fired gives the firings so far.
func (b *bench) fired() (at []time.Time) {
	b.t.Helper()
	synctest.Wait()
	events, err := b.store.History(context.Background(), wid, 1, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == "TimerFired" {
			at = append(at, e.At)
		}
	}
	return at
}

// engine 11 (fault matrix): whatever the wall clock does, no timer is early by its own recorded clock, none is lost, none
// fires twice.
func TestTimerFiresOnceAndNeverEarlyWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	due := fake.Epoch.Add(time.Minute)
	for name, move := range map[string]func(c *fake.Clock){
		"on time":               func(*fake.Clock) {},
		"set back a day":        func(c *fake.Clock) { c.Jump(c.Now().Add(-24 * time.Hour)) },
		"set ahead a day":       func(c *fake.Clock) { c.Jump(c.Now().Add(24 * time.Hour)) },
		"back and ahead again":  func(c *fake.Clock) { c.Jump(c.Now().Add(-time.Hour)); synctest.Wait(); c.Jump(c.Now().Add(time.Hour)) },
		"just short of the due": func(c *fake.Clock) { c.Jump(due.Add(-time.Microsecond)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				defer b.stop()
				b.clock.Advance(30 * time.Second)
				if at := b.fired(); len(at) != 0 {
					t.Fatalf("fired early at %v", at)
				}
				move(b.clock)
				synctest.Wait()
				for b.clock.Now().Before(due) {
					if at := b.fired(); len(at) != 0 {
						t.Fatalf("fired at %v, due %v", at, due)
					}
					b.clock.Advance(max(due.Sub(b.clock.Now())/2, time.Millisecond))
				}
				for range 3 {
					synctest.Wait()
					b.clock.Advance(time.Second)
				}
				at := b.fired()
				if len(at) != 1 || at[0].Before(due) {
					t.Errorf("fired at %v, due %v", at, due)
				}
			})
		})
	}
}

// A timer that is put to its run too early, or again, records nothing.
func TestFireIsDecidedByTheRecordingClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.stop()
		due, err := b.store.DueTimers(context.Background(), nil, fake.Epoch.Add(time.Hour), 10)
		if err != nil || len(due) != 1 {
			t.Fatalf("%d timers, %v", len(due), err)
		}
		for _, c := range []struct {
			after time.Duration
			fires int
		}{{59 * time.Second, 0}, {2 * time.Second, 1}, {0, 1}} {
			b.clock.Advance(c.after)
			if _, err := b.Do(context.Background(), wid, timers.Fire(due[0])); err != nil {
				t.Fatal(err)
			}
			if at := b.fired(); len(at) != c.fires {
				t.Errorf("after %s more: fired at %v", c.after, at)
			}
		}
	})
}
