package runs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
)

// engine 11 (fault matrix): after a stop that outlasts them, due timers fire at once, each once.
func TestTimersThatCameDueWhileTheServerWasDownFireOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := newStore()
		p := approval("ask", 60_000)
		w := startWorld(t, backend, settings{}, instant, p)
		var ids []string
		for range 2000 {
			ids = append(ids, string(w.start("ask").Run.WorkflowID))
		}
		synctest.Wait()
		w.stop()
		time.Sleep(time.Hour - 2*time.Minute)
		next := startWorld(t, backend, settings{}, instant, p)
		defer next.stop()
		time.Sleep(time.Second)
		for _, id := range ids {
			events := next.history(domain.WorkflowID(id))
			if last := events[len(events)-1]; last.Type != "WorkflowFailed" || count(events, "TimerFired") != 1 {
				t.Fatalf("%v", types(events))
			}
		}
	})
}

// engine 11 (fault matrix): a timer is never early by the time that its firing records, and a timer that is set later
// but due sooner is not waited past.
func TestTimersFireInTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := base("nap")
		p.Flow = chain(step("a", plan.Stmt{Op: plan.OpSleep, DurationMS: 90_000}, to("done", lit(`"up"`))))
		short := base("short")
		short.Flow = chain(step("a", plan.Stmt{Op: plan.OpSleep, DurationMS: 1500}, to("done", lit(`"up"`))))
		w := newWorld(t, instant, p, short)
		defer w.stop()
		long := w.start("nap")
		time.Sleep(300 * time.Millisecond)
		quick := w.start("short")
		if d := w.await(quick); d.EndedAt.Sub(d.StartedAt) > 1600*time.Millisecond {
			t.Errorf("the short sleep took %s", d.EndedAt.Sub(d.StartedAt))
		}
		if d := w.describe(long); len(d.WaitingOn) != 1 || d.WaitingOn[0].Kind != "timer" || d.WaitingOn[0].Name != "sleep" {
			t.Errorf("%+v", d.WaitingOn)
		}
		d := w.await(long)
		if took := d.EndedAt.Sub(d.StartedAt); took < 90*time.Second || took > 91*time.Second {
			t.Errorf("the long sleep took %s", took)
		}
		for _, e := range w.history(long.Run.WorkflowID) {
			if e.Type == "TimerFired" && e.At.Before(d.StartedAt.Add(90*time.Second)) {
				t.Errorf("fired at %s", e.At)
			}
		}
		if d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
	})
}
