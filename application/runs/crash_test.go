package runs_test

import (
	"context"
	"fmt"
	"sync"
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

// crashy is a run that meets everything: a retry, a fan-out, a wait with a timeout, a signal.
func crashy() *plan.Plan {
	p := fanOut("crashy", 3)
	p.Signals = []plan.Port{{Name: "go", Schema: raw(textSchema)}}
	p.Workers[0].Actions[0].Retry = &plan.Retry{Count: 2, EveryMS: 500}
	first := step("first", call("shell", "work", "x"))
	sleep := step("nap", plan.Stmt{Op: plan.OpSleep, DurationMS: 700})
	hold := step("hold", plan.Stmt{Op: plan.OpWait, Name: "go", Bind: "answer", TimeoutMS: 3_600_000})
	all := p.Flow.Steps[0]
	all.Body[1] = to("done", ref("x"))
	p.Flow = chain(first, sleep, hold, all)
	return p
}

// flakyOnce fails the first attempt of the first activity.
func flakyOnce(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	if e.Dispatch.Key.ActivityID == 0 && e.Dispatch.Key.Attempt == 1 {
		return action.Fail(action.Retryable, "exit_nonzero", "exited with code 1", nil)
	}
	select {
	case <-time.After(20 * time.Millisecond):
		return instant(ctx, e, out)
	case <-ctx.Done():
		return untilStopped(ctx, e, out)
	}
}

// persist calls until the answer is no CodeUnavailable or the process is dead.
func persist(w *world, do func() error) error {
	for {
		err := do()
		if err == nil || domain.CodeOf(err) != domain.CodeUnavailable || w.store.Dead() {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// drive brings one run of crashy to its end over a store that may die: whoever calls repeats its calls on the next
// server, as a client does.
func drive(t *testing.T, faults ...fake.Fault) (events []history.Recorded, struck int) {
	t.Helper()
	backend := newStore()
	p := crashy()
	var acknowledged domain.WorkflowID
	for life := 1; ; life++ {
		if life > 20 {
			t.Fatal("the run does not end")
		}
		w := startWorld(t, backend, settings{}, flakyOnce, p)
		if life == 1 {
			w.store.Script(faults...)
		}
		ended := live(t, w, &acknowledged)
		struck += w.store.Struck()
		w.stop()
		if ended {
			events = w.history(acknowledged)
			verify(t, p, events)
			return events, struck
		}
	}
}

// live is one life of the server and its client; false when the server died before the run ended.
func live(t *testing.T, w *world, acknowledged *domain.WorkflowID) bool {
	t.Helper()
	ctx := context.Background()
	var s runs.Started
	err := persist(w, func() (err error) {
		s, err = w.runs.Start(ctx, operator, runs.StartRequest{Namespace: "default", WorkflowType: "crashy", IdempotencyKey: "k"})
		return err
	})
	if err != nil {
		return false
	}
	if *acknowledged != "" && *acknowledged != s.Run.WorkflowID {
		t.Fatalf("the key gave %s and now %s", *acknowledged, s.Run.WorkflowID)
	}
	*acknowledged = s.Run.WorkflowID
	err = persist(w, func() error {
		_, err := w.runs.Signal(ctx, operator, runs.SignalRequest{Ref: refOf(s), Name: "go", Payload: raw(`"on"`), SignalID: "once"})
		if domain.CodeOf(err) == domain.CodeNotRunning {
			return nil // it has ended in an earlier life
		}
		return err
	})
	if err != nil {
		return false
	}
	return persist(w, func() error {
		return w.runs.Follow(ctx, operator, runs.HistoryRequest{Namespace: "default", WorkflowID: string(s.Run.WorkflowID)},
			func(history.Recorded) error { return nil })
	}) == nil
}

// engine 21, report 19, report 22: whatever commit the server dies at, the run ends as it should.
func TestCrashAtEveryCommitConverges(t *testing.T) {
	t.Parallel()
	for _, when := range []struct {
		name string
		fake.Moment
	}{{"before", fake.Before}, {"inside", fake.Inside}, {"after", fake.After}} {
		t.Run(when.name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				over := false
				synctest.Test(t, func(t *testing.T) {
					events, struck := drive(t, fake.Fault{Op: "Append", Call: n, When: when.Moment})
					over = struck == 0
					converged(t, fmt.Sprintf("%s append %d", when.name, n), events)
				})
				if over || t.Failed() {
					if n < 6 {
						t.Errorf("only %d commits were struck", n-1)
					}
					return
				}
			}
		})
	}
}

func converged(t *testing.T, what string, events []history.Recorded) {
	t.Helper()
	if last := events[len(events)-1]; last.Type != "WorkflowCompleted" {
		t.Errorf("%s: ended with %s\n%v", what, last.Type, types(events))
	}
	for typ, n := range map[string]int{
		"WorkflowStarted": 1, "ActivityScheduled": 4, "ActivityCompleted": 4, "SignalReceived": 1,
		"TimerStarted": count(events, "TimerFired") + count(events, "TimerCancelled") + 1, "WorkflowCompleted": 1,
	} {
		if got := count(events, typ); got != n {
			t.Errorf("%s: %d × %s, want %d\n%v", what, got, typ, n, types(events))
		}
	}
}

// engine 21: a store that is away for any single call of any kind costs nobody anything but time.
func TestAnyStoreCallMayFailOnce(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"History", "Head", "Runs", "Idempotent", "Due", "NextDue", "DueTimers", "NextTimer", "AppendRecords"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= 12; n++ {
				over := false
				synctest.Test(t, func(t *testing.T) {
					events, struck := drive(t, fake.Fault{Op: op, Call: n, When: fake.Before})
					over = struck == 0
					converged(t, fmt.Sprintf("%s %d", op, n), events)
				})
				if over || t.Failed() {
					return
				}
			}
		})
	}
}

// engine 11 (fault matrix): what was acknowledged is there after the death of the server.
func TestAcknowledgedStartsAndSignalsSurviveAKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := newStore()
		p := approval("ask", 0)
		w := startWorld(t, backend, settings{}, untilStopped, p)
		var mu sync.Mutex
		var started []runs.Started
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				s := w.start("ask")
				if err := w.signal(s, `"kept"`); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				started = append(started, s)
			})
		}
		wait.Wait()
		w.store.Script(fake.Fault{Call: 1, When: fake.After})
		_, _ = w.store.NextTimer(context.Background(), nil) // the kill: every later call fails
		w.stop()

		next := startWorld(t, backend, settings{}, instant, p)
		defer next.stop()
		for _, s := range started {
			if d := next.await(s); d.Status != history.Completed || string(d.Result) != `"kept"` {
				t.Errorf("%s %s", d.Status, d.Result)
			}
			events := next.history(s.Run.WorkflowID)
			verify(t, p, events)
			if n := count(events, "ActivityStarted"); n != 2 {
				t.Errorf("%d attempts, want the lost one and the next", n)
			}
		}
	})
}
