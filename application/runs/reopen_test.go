package runs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// failsFirst fails so many attempts for good, then completes each at once.
func failsFirst(n int32) executor {
	var tried atomic.Int32
	return func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
		if tried.Add(1) <= n {
			return action.Fail(action.Terminal, "broken", "it is broken", nil)
		}
		return instant(ctx, e, out)
	}
}

func (w *world) reopen(s runs.Started, key string) (runs.Held, error) {
	return w.runs.Reopen(context.Background(), operator, runs.HoldRequest{Ref: refOf(s), Reason: "again", IdempotencyKey: key})
}

func (w *world) mustReopen(s runs.Started) {
	w.t.Helper()
	if held, err := w.reopen(s, ""); err != nil || held.Status != history.Running || !held.Changed {
		w.t.Fatalf("reopened: %+v %v", held, err)
	}
}

// permit is what an inspection says about a reopening.
func (w *world) permit(s runs.Started) runs.Permit {
	w.t.Helper()
	i, err := w.runs.Inspect(context.Background(), operator, refOf(s))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range i.Permits {
		if p.Action == "reopen" {
			return p
		}
	}
	w.t.Fatal("no permit")
	return runs.Permit{}
}

// engine 10
func TestAReopenedRunDoesAgainWhatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := threeSteps()
		w := newWorld(t, failsFirst(1), p)
		defer w.stop()
		s := w.start("three")
		if d := w.await(s); d.Status != history.Failed {
			t.Fatalf("%s", d.Status)
		}
		if permit := w.permit(s); !permit.Allowed {
			t.Errorf("%+v", permit)
		}
		failed := w.history(s.Run.WorkflowID)
		w.mustReopen(s)
		d := w.await(s)
		if d.Status != history.Completed || d.Failure != nil || len(d.OpenSteps) != 0 {
			t.Errorf("%+v", d)
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		again := decode(t, events[len(failed)])
		if again["by"] != operator.Subject || again["reason"] != "again" || again["from_seq"] != float64(len(failed)) {
			t.Errorf("%v", again)
		}
		if n := count(events, "ActivityScheduled"); n != 4 {
			t.Errorf("%d activities, want the failed one and three", n)
		}
		if _, err := w.reopen(s, ""); domain.TypeOf(err) != "NotReopenable" || w.permit(s).Allowed {
			t.Errorf("a completed run: %v", err)
		}
	})
}

// engine 10: what a cancel stopped begins anew under numbers of its own, and what is late of it is dropped.
func TestAReopenedRunHasOnlyNewWorkOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hold atomic.Bool
		hold.Store(true)
		p := fanOut("fan", 3)
		w := newWorld(t, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			if !hold.Load() {
				return instant(ctx, e, out)
			}
			<-ctx.Done()
			time.Sleep(time.Second) // it dies slowly, and then has a result
			return instant(ctx, e, out)
		}, p)
		defer w.stop()
		s := w.start("fan")
		synctest.Wait()
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		w.mustReopen(s)
		d := w.describe(s)
		if d.Status != history.Running || len(d.OpenSteps) != 3 || d.OpenSteps[0].ActivityID != 3 || d.CurrentStep.ActivityID < 3 {
			t.Errorf("%+v", d.OpenSteps)
		}
		list, err := w.runs.Activities(context.Background(), operator, refOf(s))
		if err != nil || len(list.List) != 6 || list.List[0].State != "cancelled" || list.List[3].State != "started" {
			t.Errorf("%+v %v", list.List, err)
		}
		time.Sleep(2 * time.Second)
		if n := w.dispatcher.Running(); n != 3 {
			t.Errorf("%d attempts run, want those of the reopened run", n)
		}
		hold.Store(false)
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		w.mustReopen(s)
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s %+v", d.Status, d.Failure)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// engine 10, engine 11: timers of before the end never fire, also when the run is held in between; both timeouts start anew.
func TestTimersOfAReopenedRunStartAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 600_000)
		p.TimeoutMS = 3_600_000
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("ask")
		time.Sleep(5 * time.Minute)
		ctx := context.Background()
		if _, err := w.runs.Cancel(ctx, operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		w.mustReopen(s)
		began := time.Now()
		for _, change := range []func(context.Context) error{
			func(ctx context.Context) error {
				_, err := w.runs.Pause(ctx, operator, runs.HoldRequest{Ref: refOf(s)})
				return err
			},
			func(ctx context.Context) error {
				_, err := w.runs.Resume(ctx, operator, runs.HoldRequest{Ref: refOf(s)})
				return err
			},
		} {
			if err := change(ctx); err != nil {
				t.Fatal(err)
			}
		}
		i, err := w.runs.Inspect(ctx, operator, refOf(s))
		if err != nil || !i.Deadline.Equal(began.Add(time.Hour)) || len(i.WaitingOn) != 1 {
			t.Errorf("deadline %s, waits %+v: %v", i.Deadline, i.WaitingOn, err)
		}
		d := w.await(s)
		if d.Outcome != "lapsed" || d.EndedAt.Sub(began) != 10*time.Minute {
			t.Errorf("%s after %s", d.Outcome, d.EndedAt.Sub(began))
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "TimerFired"); n != 1 {
			t.Errorf("%d timers fired", n)
		}
	})
}

func TestARunThatTimedOutGetsAllItsTimeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		p.TimeoutMS = 60_000
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("ask")
		if d := w.await(s); d.Status != history.TimedOut {
			t.Fatalf("%s", d.Status)
		}
		time.Sleep(time.Hour)
		w.mustReopen(s)
		time.Sleep(59 * time.Second)
		if err := w.signal(s, `"yes"`); err != nil {
			t.Fatal(err)
		}
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// engine 4: a parent keeps what it was told; when it is itself reopened it asks another child.
func TestAParentIsToldOfTheFirstEndOfAChild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, kid := parentOf("mother", "kid"), oneStep("kid", nil)
		w := newWorld(t, failsFirst(1), p, kid)
		defer w.stop()
		s := w.start("mother")
		if d := w.await(s); d.Status != history.Failed {
			t.Fatalf("%s", d.Status)
		}
		child := runs.Started{Run: runs.Summary{WorkflowID: childOf(t, w, s.Run.WorkflowID).WorkflowID}}
		w.mustReopen(child)
		if d := w.await(child); d.Status != history.Completed {
			t.Errorf("the child is %s", d.Status)
		}
		synctest.Wait()
		if d := w.describe(s); d.Status != history.Failed {
			t.Errorf("the parent is %s", d.Status)
		}
		w.mustReopen(s)
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("the parent is %s: %+v", d.Status, d.Failure)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
		if n := count(w.history(s.Run.WorkflowID), "ChildStarted"); n != 2 {
			t.Errorf("%d children", n)
		}
	})
}

// engine 10, server 13
func TestOneOfManyReopeningsCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		if _, err := w.reopen(s, ""); domain.TypeOf(err) != "NotReopenable" {
			t.Errorf("a running run: %v", err)
		}
		for _, key := range []string{"", "k"} {
			if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
				t.Fatal(err)
			}
			before := count(w.history(s.Run.WorkflowID), "WorkflowReopened")
			var done, refused, repeated atomic.Int32
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					switch held, err := w.reopen(s, key); {
					case domain.TypeOf(err) == "NotReopenable":
						refused.Add(1)
					case err != nil:
						t.Error(err)
					case held.Repeated:
						repeated.Add(1)
					default:
						done.Add(1)
					}
				})
			}
			all.Wait()
			if done.Load() != 1 || (key == "") != (refused.Load() == 19) || (key != "") != (repeated.Load() == 19) {
				t.Errorf("key %q: %d done, %d refused, %d repeated", key, done.Load(), refused.Load(), repeated.Load())
			}
			if n := count(w.history(s.Run.WorkflowID), "WorkflowReopened") - before; n != 1 {
				t.Errorf("%d events", n)
			}
		}
		_, err := w.runs.Reopen(context.Background(), operator, runs.HoldRequest{Ref: refOf(s), Reason: "other", IdempotencyKey: "k"})
		wantRefusal(t, err, domain.CodeIdempotencyConflict, "IdempotencyConflict", "")
		_, err = w.runs.Reopen(context.Background(), operator, runs.HoldRequest{Ref: refOf(s)})
		wantRefusal(t, err, domain.CodeInvalidInput, "SchemaViolation", "reason")
	})
}

// engine 4: the plan is asked for where it is kept, also when another server has unloaded it.
func TestARunWhoseVersionWasUnloadedIsNotReopened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, next := oneStep("one", nil), oneStep("one", nil)
		next.ContentHash = hash("next")
		backend := newStore()
		w := startWorld(t, backend, settings{}, failsFirst(1), old)
		defer w.stop()
		s := w.start("one")
		w.await(s)
		w.deploy(next)
		if err := backend.DeleteVersion(context.Background(), "one", old.ContentHash, nil); err != nil {
			t.Fatal(err)
		}
		permit := w.permit(s)
		_, err := w.reopen(s, "")
		wantRefusal(t, err, domain.CodeInvalidState, "PlanGone", old.ContentHash)
		if permit.Allowed || err.(*domain.Error).Message != permit.Reason { //nolint:errorlint // the application gives refusals bare
			t.Errorf("%+v, and %v", permit, err)
		}
		w.deploy(old)
		w.mustReopen(s)
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
	})
}

// engine 11: a crash before, in and after the commit of a reopening; whoever repeats it with its key has one reopened run.
func TestAReopeningSurvivesACrash(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fake.Fault{
		"before": {Op: "Append", Call: 1, When: fake.Before}, "after": {Op: "Append", Call: 1, When: fake.After},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, backend, run := oneStep("one", nil), newStore(), failsFirst(1)
				w := startWorld(t, backend, settings{}, run, p)
				s := w.start("one")
				w.await(s)
				w.store.Script(fault)
				_, err := w.reopen(s, "k")
				if err == nil {
					t.Error("the reopening is acknowledged")
				}
				w.kill()
				w = startWorld(t, backend, settings{}, run, p)
				defer w.stop()
				if held, err := w.reopen(s, "k"); err != nil || held.Repeated != (name == "after") {
					t.Errorf("%+v %v", held, err)
				}
				if d := w.await(s); d.Status != history.Completed {
					t.Errorf("%s", d.Status)
				}
				events := w.history(s.Run.WorkflowID)
				verify(t, p, events)
				if n := count(events, "WorkflowReopened"); n != 1 {
					t.Errorf("%d events", n)
				}
			})
		})
	}
}

// engine 8: two servers cancel and reopen in turn, and each knows what the other has done.
func TestARunIsReopenedOnAnotherServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p := newStore(), approval("ask", 0)
		servers := []*world{startWorld(t, backend, together, instant, p), startWorld(t, backend, together, instant, p)}
		defer servers[0].stop()
		defer servers[1].stop()
		s := servers[0].start("ask")
		for i := range 6 {
			here, there := servers[i%2], servers[(i+1)%2]
			if _, err := here.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
				t.Fatal(err)
			}
			there.mustReopen(s)
			if d := here.describe(s); d.Status != history.Running || !d.Live {
				t.Fatalf("%+v", d)
			}
		}
		if err := servers[0].signal(s, `"yes"`); err != nil {
			t.Fatal(err)
		}
		if d := servers[1].await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		verify(t, p, servers[0].history(s.Run.WorkflowID))
	})
}

// engine 6: only the latest generation can be reopened.
func TestAnEarlierGenerationIsNotReopened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := startWorld(t, newStore(), settings{history: 20}, instant, listener())
		defer w.stop()
		s := w.start(listener().WorkflowType)
		for range 30 {
			if err := w.signal(s, `"more"`); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		ref := refOf(s)
		ref.RunID = string(s.Run.RunID)
		_, err := w.runs.Reopen(context.Background(), operator, runs.HoldRequest{Ref: ref, Reason: "again"})
		wantRefusal(t, err, domain.CodeInvalidState, "NotReopenable", "later run")
		w.mustReopen(s)
		if d := w.describe(s); d.Status != history.Running || d.RunID == s.Run.RunID {
			t.Errorf("%+v", d)
		}
	})
}
