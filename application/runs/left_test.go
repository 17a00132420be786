package runs_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

// actions 53: what may end an attempt when its server stands still is told how long that runs without it: less than its claim holds,
// from the last renewal where another server is, from now where none was seen; and for ever where no other can be.
func TestAnAttemptMayGoOnWithoutItsServerForLessThanItsClaim(t *testing.T) {
	t.Parallel()
	const longest = 48 * time.Second // of 60: the grace, the wait for the end, and 5 s are taken off
	begin := func(t *testing.T, set settings, other bool) (a *world, left func() time.Duration, stop func()) {
		began := make(chan struct{})
		backend, p := newStore(), oneStep("one", nil)
		a = startWorld(t, backend, set, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			left = e.Left
			close(began)
			return untilStopped(ctx, e, out)
		}, p)
		stop = a.stop
		if other {
			b := startWorld(t, backend, set, instant, p)
			stop = func() { b.stop(); a.stop() }
		}
		time.Sleep(2 * time.Minute)
		a.start("one")
		<-began
		return a, left, stop
	}
	synctest.Test(t, func(t *testing.T) {
		_, left, stop := begin(t, settings{}, false)
		defer stop()
		if left != nil {
			t.Errorf("without another server: %s", left())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, left, stop := begin(t, together, true)
		defer stop()
		least := longest
		for range 300 { // half a minute of renewals
			time.Sleep(100 * time.Millisecond)
			least = min(least, left())
		}
		if least > longest-9*time.Second || least < longest-11*time.Second {
			t.Errorf("at least %s between renewals that are 10 s apart", least)
		}
		a.store.Cut()
		time.Sleep(20 * time.Second)
		if got := left(); got > longest-20*time.Second || got < longest-31*time.Second {
			t.Errorf("%s, 20 s after it was cut off", got)
		}
		a.store.Heal()
	})
	synctest.Test(t, func(t *testing.T) {
		a, left, stop := begin(t, together, false)
		defer stop()
		a.store.Cut()
		time.Sleep(10 * time.Minute)
		if got := left(); got != longest {
			t.Errorf("%s for a server that has seen no other", got)
		}
		a.store.Heal()
	})
}

// actions 53: an attempt that ended with its claim, before its server knew, is tried again like a lost one also when nobody else is there.
func TestAnAttemptThatItsExecutorGaveUpIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := startWorld(t, newStore(), together, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			if e.Dispatch.Key.Attempt == 1 {
				return action.Dropped{}
			}
			return instant(ctx, e, out)
		}, oneStep("one", nil))
		defer a.stop()
		s := a.start("one")
		time.Sleep(10 * time.Second)
		events := a.history(s.Run.WorkflowID)
		if count(events, "ActivityFailed") != 1 || count(events, "ActivityCompleted") != 1 {
			t.Errorf("%v", types(events))
		}
		if got := a.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
	})
}
