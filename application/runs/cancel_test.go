package runs_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/actions"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/ports"
)

// engine 9, actions 47
func TestCancelShowsAtOnceAndStopsTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		causes := make(chan error, 1)
		w := newWorld(t, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			v := untilStopped(ctx, e, out)
			causes <- context.Cause(ctx)
			return v
		}, p)
		defer w.stop()
		s := w.start("ask")
		synctest.Wait()
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s), Reason: "enough"}); err != nil {
			t.Fatal(err)
		}
		if d := w.describe(s); d.Status != history.Cancelled || d.CurrentStep != nil || len(d.OpenSteps) != 0 {
			t.Errorf("shown as %s with %+v", d.Status, d.OpenSteps)
		}
		if cause := <-causes; cause != ports.StopRunClosed { //nolint:errorlint // a cause is the value itself
			t.Errorf("stopped by %v", cause)
		}
		synctest.Wait()
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if last := events[len(events)-1]; last.Type != "WorkflowCancelled" {
			t.Errorf("%s follows the cancellation", last.Type)
		}
		if tasks, _ := w.backend.Open(context.Background(), s.Run.WorkflowID); len(tasks) != 0 {
			t.Errorf("%d tasks are left", len(tasks))
		}
		if n := w.dispatcher.Running(); n != 0 {
			t.Errorf("%d attempts are left", n)
		}
		_, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)})
		wantRefusal(t, err, domain.CodeNotRunning, "WorkflowTerminal", "Cancelled")
		_, err = w.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(s), Name: "state"})
		wantRefusal(t, err, domain.CodeNotRunning, "QueryNotRunning", "Cancelled")
	})
}

// engine 11
func TestRunEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		p.TimeoutMS = 90_000
		w := newWorld(t, untilStopped, p)
		defer w.stop()
		d := w.await(w.start("ask"))
		if d.Status != history.TimedOut || d.EndedAt.Sub(d.StartedAt) < 90*time.Second || d.EndedAt.Sub(d.StartedAt) > 92*time.Second {
			t.Errorf("%s after %s", d.Status, d.EndedAt.Sub(d.StartedAt))
		}
		synctest.Wait()
		if n := w.dispatcher.Running(); n != 0 {
			t.Errorf("%d attempts are left", n)
		}
	})
}

func failing(class action.Class, code string) executor {
	return func(context.Context, ports.Execution, ports.TranscriptWriter) action.Verdict {
		return action.Fail(class, code, "it broke", nil)
	}
}

// engine 12, actions 54
func TestRetryEveryRecordsItsTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("flaky", &plan.Retry{Count: 3, EveryMS: 1000})
		w := newWorld(t, failing(action.Retryable, "exit_nonzero"), p)
		defer w.stop()
		s := w.start("flaky")
		d := w.await(s)
		if d.Status != history.Failed || d.Failure == nil || d.Failure.Code != "activity_failed" || d.Failure.Message != "retryable:it broke" {
			t.Errorf("%s %+v", d.Status, d.Failure)
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		var failed []history.Recorded
		var started []history.Recorded
		for _, e := range events {
			switch e.Type {
			case "ActivityFailed":
				failed = append(failed, e)
			case "ActivityStarted":
				started = append(started, e)
			}
		}
		if len(failed) != 4 || len(started) != 4 {
			t.Fatalf("%d failures, %d starts", len(failed), len(started))
		}
		for i, e := range failed {
			at, there := decode(t, e)["retry_at"]
			if last := i == 3; last != !there {
				t.Errorf("failure %d has retry_at %v", i+1, at)
				continue
			}
			if i == 3 {
				break
			}
			if want := e.At.Add(time.Second).Format(history.TimeLayout); at != want {
				t.Errorf("failure %d: retry_at %v, want %s", i+1, at, want)
			}
			if next := started[i+1].At; next.Before(e.At.Add(time.Second)) || next.After(e.At.Add(1100*time.Millisecond)) {
				t.Errorf("attempt %d starts %s after the failure", i+2, next.Sub(e.At))
			}
		}
	})
}

// engine 12
func TestRetryBackoffDrawsItsDelayOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("flaky", &plan.Retry{Count: 3, BackoffMS: []int64{1000, 10_000}})
		w := startWorld(t, newStore(), settings{factors: []float64{0, 0.5, 0.25}}, failing(action.Timeout, "deadline_exceeded"), p)
		defer w.stop()
		s := w.start("flaky")
		w.await(s)
		var delays []time.Duration
		for _, e := range w.history(s.Run.WorkflowID) {
			if at, ok := decode(t, e)["retry_at"].(string); ok && e.Type == "ActivityFailed" {
				next, err := time.Parse(history.TimeLayout, at)
				if err != nil {
					t.Fatal(err)
				}
				delays = append(delays, next.Sub(e.At))
			}
		}
		want := []time.Duration{800 * time.Millisecond, 2 * time.Second, 3600 * time.Millisecond}
		for i := range want {
			if i >= len(delays) || delays[i] != want[i] {
				t.Fatalf("delays %v, want %v", delays, want)
			}
		}
	})
}

func TestTerminalFailureIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, class := range []action.Class{action.Terminal, action.PolicyRefused} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := oneStep("flaky", &plan.Retry{Count: 3, EveryMS: 1000})
				w := newWorld(t, failing(class, "spawn_failed"), p)
				defer w.stop()
				s := w.start("flaky")
				w.await(s)
				if n := count(w.history(s.Run.WorkflowID), "ActivityStarted"); n != 1 {
					t.Errorf("%d attempts", n)
				}
			})
		})
	}
}

// engine 13, actions 52, actions 56
func TestLostAttemptsAreRetriedAtOnceUpToTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("poison", nil)
		w := newWorld(t, failing(action.Lost, "server_died"), p)
		defer w.stop()
		s := w.start("poison")
		d := w.await(s)
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "ActivityStarted"); n != 5 || d.Failure == nil || d.Failure.Message != "lost:it broke" {
			t.Errorf("%d attempts, %+v", n, d.Failure)
		}
		if took := d.EndedAt.Sub(d.StartedAt); took > time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// actions 57
func TestResultThatDoesNotFitIsTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("typed", &plan.Retry{Count: 3, EveryMS: 1000})
		w := newWorld(t, func(context.Context, ports.Execution, ports.TranscriptWriter) action.Verdict {
			return action.Completed{Result: raw(`{"a":1}`)}
		}, p)
		defer w.stop()
		s := w.start("typed")
		d := w.await(s)
		if d.Failure == nil || d.Failure.Code != "result_invalid" {
			t.Errorf("%+v", d.Failure)
		}
		if n := count(w.history(s.Run.WorkflowID), "ActivityStarted"); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// actions 78
func TestBodiesOffRefusesAndDelegateLeavesThemToWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("bodies", nil)
		off := startWorld(t, newStore(), settings{bodies: actions.BodiesOff}, instant, p)
		d := off.await(off.start("bodies"))
		off.stop()
		if d.Failure == nil || d.Failure.Message[:15] != "policy_refused:" {
			t.Errorf("%+v", d.Failure)
		}
		left := startWorld(t, newStore(), settings{bodies: actions.BodiesDelegate}, instant, p)
		defer left.stop()
		s := left.start("bodies")
		synctest.Wait()
		if d := left.describe(s); d.Status != history.Running || len(d.Unserved) != 1 || d.Unserved[0].State != "scheduled" {
			t.Errorf("%s, unserved %+v", d.Status, d.Unserved)
		}
	})
}

func TestActionWithoutABodyWaitsUnserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := oneStep("remote", nil)
		p.Workers[0].Actions[0].Body = nil
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("remote")
		time.Sleep(10 * time.Minute)
		d := w.describe(s)
		if len(d.Unserved) != 1 || d.Unserved[0].ActivityType != "work" || d.Unserved[0].TaskQueue != "shell" || d.CurrentStep == nil {
			t.Errorf("%+v", d)
		}
	})
}
