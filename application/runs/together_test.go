package runs_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
	"aion/test/fake"
)

// kill ends a server as kill -9 does: nothing that it still does reaches the store.
func (w *world) kill() {
	w.store.Cut()
	w.stop()
}

// doing notes what happens to attempts, in order, on all servers.
type doing struct {
	mu    sync.Mutex
	lines []string
	now   map[string]int // running attempts by activity
	most  int
}

func (d *doing) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *doing) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.lines...)
}

// began counts an attempt in until the returned function is called.
func (d *doing) began(key domain.AttemptKey) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		d.now = map[string]int{}
	}
	name := key.ActivityKey()
	d.now[name]++
	d.most = max(d.most, d.now[name])
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.now[name]--
	}
}

// server is an executor whose attempts take so long, and need so long to end when they are stopped.
func (d *doing) server(name string, takes, dies time.Duration) executor {
	return func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
		defer d.began(e.Dispatch.Key)()
		d.note("%s starts %d", name, e.Dispatch.Key.Attempt)
		select {
		case <-time.After(takes):
			d.note("%s ends %d", name, e.Dispatch.Key.Attempt)
			return instant(ctx, e, out)
		case <-ctx.Done():
			time.Sleep(dies)
			d.note("%s stopped %d: %v", name, e.Dispatch.Key.Attempt, context.Cause(ctx))
			return untilStopped(ctx, e, out)
		}
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

var together = settings{shared: true}

// actions 5.3, 5.4: of two servers that find the same parked attempt, one takes it up, under its own number.
func TestParkedAttemptIsTakenUpOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var d doing
			backend, p := newStore(), fanOut("wide", 5)
			a := startWorld(t, backend, together, d.server("a", time.Hour, 0), p)
			s := a.start("wide")
			synctest.Wait()
			if err := a.dispatcher.Drain(context.Background(), time.Second); err != nil {
				t.Fatal(err)
			}
			a.stop()
			b := startWorld(t, backend, together, d.server("b", time.Second, 0), p)
			c := startWorld(t, backend, together, d.server("b", time.Second, 0), p)
			defer b.stop()
			defer c.stop()
			if got := b.await(s); got.Status != history.Completed {
				t.Errorf("%s", got.Status)
			}
			counts := map[string]int{}
			for _, line := range d.list() {
				counts[line]++
			}
			if counts["b starts 1"] != 5 || counts["b ends 1"] != 5 || d.most != 1 {
				t.Errorf("%v, %d at once", counts, d.most)
			}
			events := b.history(s.Run.WorkflowID)
			verify(t, p, events)
			if n := count(events, "ActivityFailed"); n != 0 || count(events, "ActivityCompleted") != 5 || count(events, "ActivityStarted") != 10 {
				t.Errorf("%v", types(events))
			}
		})
	}
}

// actions 53: the store is away for 90 s for both. What ends meanwhile is recorded when it is back, and nothing runs twice.
func TestStoreAwayForAllCausesNoSecondExecution(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), oneStep("one", nil)
		a := startWorld(t, backend, together, d.server("a", 40*time.Second, 0), p)
		defer a.stop()
		b := startWorld(t, backend, together, d.server("b", 40*time.Second, 0), p)
		defer b.stop()
		time.Sleep(2 * time.Minute)
		s := a.start("one")
		time.Sleep(5 * time.Second)
		a.store.Cut()
		b.store.Cut()
		time.Sleep(90 * time.Second)
		b.store.Heal() // before its owner comes back, the other one sees a claim that has ended
		time.Sleep(20 * time.Second)
		a.store.Heal()
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		time.Sleep(5 * time.Minute)
		wantLines(t, d.list(), "a starts 1", "a ends 1")
		if n := count(a.history(s.Run.WorkflowID), "ActivityFailed"); n != 0 {
			t.Errorf("%d failed", n)
		}
	})
}

// actions 53, 5.4: what takes longer than that is stopped, because another server was there; its own server says that it is
// lost as soon as the store is back, long before another one would, and no two run at a time.
func TestAttemptThatOutlivesAnOutageForAllIsTriedAgainByItsServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), oneStep("one", nil)
		a := startWorld(t, backend, together, d.server("a", 70*time.Second, 7*time.Second), p)
		defer a.stop()
		b := startWorld(t, backend, together, d.server("b", 70*time.Second, 7*time.Second), p)
		defer b.stop()
		time.Sleep(2 * time.Minute)
		s := a.start("one")
		time.Sleep(time.Second)
		a.store.Cut()
		b.store.Cut()
		time.Sleep(90 * time.Second)
		wantLines(t, d.list(), "a starts 1", "a stopped 1: attempt stopped: claim_lost")
		a.store.Heal()
		b.store.Heal()
		time.Sleep(3 * time.Second)
		if events := a.history(s.Run.WorkflowID); count(events, "ActivityFailed") != 1 {
			t.Errorf("%v", types(events))
		}
		if got := b.await(s); got.Status != history.Completed || d.most != 1 {
			t.Errorf("%s, %d at once", got.Status, d.most)
		}
		if events := a.history(s.Run.WorkflowID); count(events, "ActivityFailed") != 1 || count(events, "ActivityStarted") != 2 {
			t.Errorf("%v", types(events))
		}
	})
}

// actions 53: one server is cut off. Its attempt is gone before the other one takes it over, and says nothing after that.
func TestServerThatIsCutOffStopsBeforeTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	for what, cutOff := range map[string]func(*fake.Store){
		"refused": (*fake.Store).Cut, "lost": func(s *fake.Store) { s.Swallow(5 * time.Second) }, "hung": func(s *fake.Store) { s.Swallow(time.Hour) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for early := range 10 { // since the last renewal, in seconds
				synctest.Test(t, func(t *testing.T) { cutOffAlone(t, cutOff, time.Duration(20+early)*time.Second) })
			}
		})
	}
}

func cutOffAlone(t *testing.T, cutOff func(*fake.Store), after time.Duration) {
	var d doing
	backend, p := newStore(), oneStep("one", nil)
	a := startWorld(t, backend, together, d.server("a", time.Hour, 7*time.Second), p)
	defer a.stop()
	b := startWorld(t, backend, together, d.server("b", 30*time.Second, 0), p)
	defer b.stop()
	time.Sleep(2 * time.Minute)
	s := a.start("one")
	time.Sleep(after)
	cut := time.Now()
	cutOff(a.store)
	var gone time.Time
	for len(d.list()) < 3 {
		time.Sleep(100 * time.Millisecond)
		if len(d.list()) == 2 && gone.IsZero() {
			gone = time.Now()
		}
	}
	if margin := time.Since(gone); margin < 4*time.Second || time.Since(cut) > 62*time.Second {
		t.Errorf("the attempt was gone %s before the other server took it over, %s after the cut", margin, time.Since(cut))
	}
	a.store.Heal()
	if got := b.await(s); got.Status != history.Completed {
		t.Errorf("%s", got.Status)
	}
	time.Sleep(3 * time.Minute)
	wantLines(t, d.list(), "a starts 1", "a stopped 1: attempt stopped: claim_lost", "b starts 2", "b ends 2")
	events := b.history(s.Run.WorkflowID)
	verify(t, p, events)
	if count(events, "ActivityFailed") != 1 || count(events, "ActivityCompleted") != 1 {
		t.Errorf("%v", types(events))
	}
}

// actions 5.4, engine 11 (clock ±24 h): whose clock is set finds every claim ended, and takes nothing that is renewed.
func TestClockThatIsSetTakesNothingOver(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Minute, 24 * time.Hour, -24 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d doing
				backend, p := newStore(), oneStep("one", nil)
				a := startWorld(t, backend, together, d.server("a", 20*time.Minute, 0), p)
				defer a.stop()
				set := together
				set.ahead = new(atomic.Int64)
				set.shards = func() ports.Shards { return ports.Shards{} } // the run's own timeout would be due by that clock
				b := startWorld(t, backend, set, d.server("b", time.Second, 0), p)
				defer b.stop()
				time.Sleep(2 * time.Minute)
				s := a.start("one")
				time.Sleep(time.Minute)
				set.ahead.Store(int64(step))
				time.Sleep(10 * time.Minute)
				set.ahead.Store(0)
				if got := a.await(s); got.Status != history.Completed {
					t.Errorf("%s", got.Status)
				}
				wantLines(t, d.list(), "a starts 1", "a ends 1")
			})
		})
	}
}

// actions 5.4: a server that saw no other one has nobody who could take its attempts over.
func TestServerThatIsAloneRunsOnWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		a := startWorld(t, newStore(), together, d.server("a", 5*time.Minute, 0), oneStep("one", nil))
		defer a.stop()
		s := a.start("one")
		time.Sleep(time.Second)
		a.store.Cut()
		time.Sleep(4 * time.Minute)
		a.store.Heal()
		if got := a.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		wantLines(t, d.list(), "a starts 1", "a ends 1")
	})
}

// actions 5.4, engine 8: what a dead server ran is taken over when its claim has ended; what it had to do otherwise, when its
// lease has.
func TestDeadServerIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p, nap := newStore(), oneStep("one", nil), base("nap")
		nap.Flow = chain(step("sleep", plan.Stmt{Op: plan.OpSleep, DurationMS: 30_000}, to("done", lit(`"up"`))))
		a := startWorld(t, backend, together, d.server("a", time.Hour, 0), p, nap)
		b := startWorld(t, backend, together, d.server("b", time.Second, 0), p, nap)
		defer b.stop()
		time.Sleep(2 * time.Minute)
		s := a.start("one")
		var naps []runs.Started
		for range 50 {
			naps = append(naps, a.start("nap"))
		}
		time.Sleep(20 * time.Second)
		a.kill()
		died := time.Now()
		for _, n := range naps {
			if got := b.await(n); got.Status != history.Completed {
				t.Errorf("%s", got.Status)
			}
		}
		if took := time.Since(died); took > 13*time.Second {
			t.Errorf("the timers of the dead server fired after %s", took)
		}
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		if took := time.Since(died); took > 65*time.Second {
			t.Errorf("the attempt was taken over after %s", took)
		}
		events := b.history(s.Run.WorkflowID)
		verify(t, p, events)
		if failed := events[5]; failed.Type != "ActivityFailed" || decode(t, failed)["code"] != "server_died" {
			t.Errorf("%v", types(events))
		}
	})
}

// actions 5.5: an instance of this host that is proved dead need not be waited for; one of another host is.
func TestInstancesThatAreProvedDeadAreReplacedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), oneStep("one", nil)
		a := startWorld(t, backend, together, d.server("a", time.Hour, 0), p)
		s := a.start("one")
		time.Sleep(time.Second)
		a.kill()
		b := startWorld(t, backend, together, d.server("b", time.Second, 0), p)
		defer b.stop()
		time.Sleep(5 * time.Second)
		wantLines(t, d.list(), "a starts 1", "a stopped 1: attempt stopped: drain")
		if n, err := b.dispatcher.Recover(context.Background(), a.engine.Owner()); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		time.Sleep(2 * time.Second)
		if got := b.describe(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
	})
}

// stale is a store whose list of ended claims is behind.
type stale struct {
	fake.Backend
	lapsed []history.Task
}

func (s *stale) Lapsed(context.Context, time.Time, int) ([]history.Task, error) { return s.lapsed, nil }

// actions 5.4: an attempt that was taken up again under its own number since its claim was seen to have ended is not lost.
func TestOnlyTheClaimThatEndedIsRecordedAsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := &stale{Backend: newStore()}, oneStep("one", nil)
		a := startWorld(t, backend, together, d.server("a", 5*time.Minute, 0), p)
		defer a.stop()
		s := a.start("one")
		time.Sleep(time.Second)
		held, err := backend.Open(context.Background(), s.Run.WorkflowID)
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		held[0].Token--
		backend.lapsed = held
		b := startWorld(t, backend, together, d.server("b", time.Second, 0), p)
		defer b.stop()
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		wantLines(t, d.list(), "a starts 1", "a ends 1")
	})
}

// actions 5.3, engine 8: what a draining server parks goes on with the other one, under its own number and at once; and so does
// what waited for a slot there.
func TestDrainHandsOverToTheOtherServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), fanOut("wide", 3)
		a := startWorld(t, backend, settings{shared: true, limits: actions.Limits{InFlight: 1}}, d.server("a", time.Hour, 0), p)
		defer a.stop()
		full := settings{shared: true, limits: actions.Limits{InFlight: 2}}
		b := startWorld(t, backend, full, d.server("b", 20*time.Second, 0), p)
		defer b.stop()
		s := a.start("wide")
		time.Sleep(30 * time.Second) // the two others run on the other server
		if err := a.dispatcher.Drain(context.Background(), time.Second); err != nil {
			t.Fatal(err)
		}
		a.stop()
		began := time.Now()
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		if took := time.Since(began); took > 22*time.Second {
			t.Errorf("the parked attempt went on after %s", took-20*time.Second)
		}
		events := b.history(s.Run.WorkflowID)
		verify(t, p, events)
		if count(events, "ActivityFailed") != 0 || count(events, "ActivityStarted") != 4 || d.most != 1 {
			t.Errorf("%v, %d at once", types(events), d.most)
		}
	})
}
