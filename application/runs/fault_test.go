package runs_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// report 16, engine 8: verdicts wait for a store that is away and are not forgotten.
func TestVerdictIsKeptWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("one", nil)
		w := newWorld(t, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			time.Sleep(time.Second)
			return instant(ctx, e, out)
		}, p)
		defer w.stop()
		s := w.start("one")
		var away []fake.Fault
		for n := 1; n <= 30; n++ {
			away = append(away, fake.Fault{Op: "Append", Call: n, When: fake.Before})
		}
		w.store.Script(away...)
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		if n := w.store.Struck(); n != 30 {
			t.Errorf("the store was away %d times", n)
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "ActivityStarted"); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// engine 11: a store that is slow ends the call at its deadline; what it asked for is found by its key.
func TestSlowStoreEndsTheCallAndNotTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		hold := make(chan struct{})
		w.store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		req := runs.StartRequest{Namespace: "default", WorkflowType: "three", IdempotencyKey: "k"}
		_, err := w.runs.Start(ctx, operator, req)
		wantUnavailable(t, err, "DeadlineExceeded")
		close(hold)
		synctest.Wait()
		s, err := w.runs.Start(context.Background(), operator, req)
		if err != nil || !s.Existing {
			t.Errorf("%+v %v", s, err)
		}
	})
}

func wantUnavailable(t *testing.T, err error, typ string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // the application gives refusals bare
	if !ok || e.Code != domain.CodeUnavailable || e.Type != typ {
		t.Errorf("got %v, want %s", err, typ)
	}
}

// engine 3, engine 2.2: a plan that derives other events pauses its run, names the event, and stops no other run.
func TestChangedPlanPausesItsRunAndNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, other := approval("ask", 0), threeSteps()
		w := newWorld(t, instant, p, other)
		s := w.start("ask")
		synctest.Wait()
		w.stop()
		changed := approval("ask", 0)
		changed.Flow.Steps[1].Name = "renamed"
		changed.Flow.Steps[0].FallThrough = "renamed"
		// The store keeps the first plan under the hash, so it is removed for the changed one.
		backend := newStore()
		copyWorkflow(t, w.backend, backend, s.Run.WorkflowID)
		next := startWorld(t, backend, settings{}, instant, changed, other)
		defer next.stop()
		err := next.signal(s, `"x"`)
		wantRefusal(t, err, domain.CodeNotRunning, "NoLiveExecution", "plan")
		d := next.describe(s)
		if d.Status != history.Paused || !strings.HasPrefix(d.PausedReason, "nondeterminism: event 7") {
			t.Errorf("%s %q\n%v", d.Status, d.PausedReason, types(next.history(s.Run.WorkflowID)))
		}
		if d := next.await(next.start("three")); d.Status != history.Completed {
			t.Errorf("another run: %s", d.Status)
		}
		if _, err := next.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Error(err)
		}
		if d := next.describe(s); d.Status != history.Cancelled {
			t.Errorf("%s", d.Status)
		}
		if n := count(next.history(s.Run.WorkflowID), "WorkflowPaused"); n != 1 {
			t.Errorf("paused %d times", n)
		}
	})
}

// copyWorkflow copies a workflow with its rows into another store.
func copyWorkflow(t *testing.T, from, to fake.Backend, id domain.WorkflowID) {
	t.Helper()
	ctx := context.Background()
	events, err := from.History(ctx, id, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := from.Runs(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if errs := to.Append(ctx, []history.Commit{{Namespace: rows[0].Namespace, WorkflowID: id, Events: events, Rows: rows}}); errs[0] != nil {
		t.Fatal(errs[0])
	}
}

// engine 4 (panic): a run that makes the machine panic is paused with its fact kept; the others go on.
func TestRunThatPanicsTheEngineIsPausedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, other := oneStep("bad", nil), threeSteps()
		// A plan that no compiler writes: the route's target is missing.
		bad.Flow.Steps[0].Body[1] = plan.Stmt{Op: plan.OpRoute}
		w := newWorld(t, instant, bad, other)
		w.mayFault = true
		defer w.stop()
		s := w.start("bad")
		synctest.Wait()
		d := w.describe(s)
		if d.Status != history.Paused || !strings.HasPrefix(d.PausedReason, "engine_fault") {
			t.Errorf("%s %q\n%s", d.Status, d.PausedReason, w.log)
		}
		events := w.history(s.Run.WorkflowID)
		if n := count(events, "ActivityCompleted"); n != 1 {
			t.Errorf("the fact that faulted is recorded %d times\n%v", n, types(events))
		}
		if !strings.Contains(w.log.String(), "goroutine") {
			t.Error("the log has no stack")
		}
		if d := w.await(w.start("three")); d.Status != history.Completed {
			t.Errorf("another run: %s", d.Status)
		}
	})
}

// engine 5, report 21: a plan that is gone stops its runs only; they can be shown and cancelled, and their timers hide none.
func TestRunWithoutItsPlanCanBeShownAndCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, other := approval("ask", 60_000), approval("well", 60_000)
		w := newWorld(t, instant, p, other)
		s := w.start("ask")
		synctest.Wait()
		w.stop()
		backend := newStore()
		copyWorkflow(t, w.backend, backend, s.Run.WorkflowID)
		next := startWorld(t, backend, settings{}, instant, other)
		defer next.stop()
		wantRefusal(t, next.signal(s, `"x"`), domain.CodeNotRunning, "NoLiveExecution", "plan")
		if d := next.describe(s); d.Status != history.Running {
			t.Errorf("%s", d.Status)
		}
		if d := next.await(next.start("well")); d.Outcome != "lapsed" {
			t.Errorf("another run's timer: %s", d.Status)
		}
		if _, err := next.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Error(err)
		}
		if d := next.describe(s); d.Status != history.Cancelled {
			t.Errorf("%s", d.Status)
		}
	})
}

// engine 2.1: a state may be forgotten at any time.
func TestForgottenStatesAreFoldedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		w := startWorld(t, newStore(), settings{cache: 1}, instant, p)
		defer w.stop()
		var all []runs.Started
		for range 30 {
			all = append(all, w.start("ask"))
		}
		synctest.Wait()
		for _, s := range all {
			if err := w.signal(s, `"x"`); err != nil {
				t.Error(err)
			}
		}
		for _, s := range all {
			if d := w.await(s); d.Status != history.Completed {
				t.Errorf("%s", d.Status)
			}
			verify(t, p, w.history(s.Run.WorkflowID))
		}
	})
}

func TestExecutorThatPanicsLosesItsAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			if e.Dispatch.Key.Attempt == 1 {
				panic("broken")
			}
			return instant(ctx, e, out)
		}, oneStep("one", nil))
		defer w.stop()
		if d := w.await(w.start("one")); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
	})
}

// liar is a store whose n-th commit becomes durable and is reported as failed: an answer that got lost.
type liar struct {
	fake.Backend
	calls, lie atomic.Int64
}

func (l *liar) Append(ctx context.Context, commits []history.Commit) []error {
	errs := l.Backend.Append(ctx, commits)
	if l.calls.Add(1) == l.lie.Load() {
		for i := range errs {
			errs[i] = domain.Unavailable("StoreUnavailable", "the answer got lost", nil)
		}
	}
	return errs
}

// engine 11: a commit whose answer got lost is found out, whichever it is: nothing is done twice and nothing stands still.
func TestCommitWhoseAnswerGotLostIsFoundOut(t *testing.T) {
	t.Parallel()
	for n := int64(1); n <= 14; n++ {
		synctest.Test(t, func(t *testing.T) {
			store := &liar{Backend: newStore()}
			store.lie.Store(n)
			p := crashy()
			w := startWorld(t, store, settings{}, flakyOnce, p)
			defer w.stop()
			var id domain.WorkflowID
			if !live(t, w, &id) {
				t.Fatalf("commit %d: the run does not end", n)
			}
			events := w.history(id)
			verify(t, p, events)
			converged(t, fmt.Sprintf("commit %d", n), events)
		})
	}
}
