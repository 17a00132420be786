package runs_test

import (
	"context"
	"fmt"
	"sync"
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

// engine 9, actions 47: a cancel on one server stops the command on the other, within a poll and at once when the store says
// so; the next read shows it anywhere.
func TestCancelReachesTheServerThatRunsTheCommand(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprint(told), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d doing
				backend, p := newStore(), oneStep("one", nil)
				a := startWorld(t, backend, together, d.server("a", time.Hour, 0), p)
				defer a.stop()
				b := startWorld(t, backend, together, d.server("b", time.Hour, 0), p)
				defer b.stop()
				s := a.start("one")
				time.Sleep(3500 * time.Millisecond)
				if _, err := b.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
					t.Fatal(err)
				}
				if got := a.describe(s); got.Status != history.Cancelled {
					t.Errorf("the next read shows %s", got.Status)
				}
				if told {
					a.engine.Elsewhere(ports.Changes{Workflows: []domain.WorkflowID{s.Run.WorkflowID}})
				} else {
					time.Sleep(1100 * time.Millisecond)
				}
				synctest.Wait()
				wantLines(t, d.list(), "a starts 1", "a stopped 1: attempt stopped: run_closed")
				if a.dispatcher.Running() != 0 {
					t.Error("it is still registered")
				}
			})
		})
	}
}

// engine 8: what one server has acknowledged, the next read and the next signal on the other one see.
func TestWhatOneServerAcknowledgedTheOtherShows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p := newStore(), base("ask")
		p.Signals = []plan.Port{{Name: "go", Schema: raw(textSchema)}}
		var steps []plan.Step
		for i := range 10 {
			steps = append(steps, step(fmt.Sprintf("s%d", i), plan.Stmt{Op: plan.OpWait, Name: "go", Bind: fmt.Sprintf("x%d", i)}))
		}
		steps = append(steps, step("end", to("done", ref("x9"))))
		p.Flow = chain(steps...)
		servers := []*world{startWorld(t, backend, together, instant, p), startWorld(t, backend, together, instant, p)}
		defer servers[0].stop()
		defer servers[1].stop()
		s := servers[0].start("ask")
		for i := range 10 {
			here, there := servers[i%2], servers[(i+1)%2]
			for _, w := range servers {
				if _, err := w.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(s), Name: "state"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := here.signal(s, fmt.Sprintf(`"%d"`, i)); err != nil {
				t.Fatal(err)
			}
			d := there.describe(s)
			if i == 9 {
				if d.Status != history.Completed || string(d.Result) != `"9"` {
					t.Errorf("%s %s", d.Status, d.Result)
				}
				break
			}
			got, err := there.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(s), Name: fmt.Sprintf("binding:x%d", i)})
			if err != nil || string(got.Result) != fmt.Sprintf(`"%d"`, i) {
				t.Errorf("signal %d: %s, %v", i, got.Result, err)
			}
		}
		verify(t, p, servers[0].history(s.Run.WorkflowID))
	})
}

// engine 14: parents and children on different servers.
func TestChildrenCrossServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p, kid, hold := newStore(), parentOf("mother", "kid"), oneStep("kid", nil), parentOf("holder", "ask")
		ask := approval("ask", 0)
		a := startWorld(t, backend, together, instant, p, kid, hold, ask)
		defer a.stop()
		b := startWorld(t, backend, together, instant, p, kid, hold, ask)
		defer b.stop()
		var mothers, holders []runs.Started
		for i := range 20 {
			mothers = append(mothers, []*world{a, b}[i%2].start("mother"))
			holders = append(holders, []*world{a, b}[i%2].start("holder"))
		}
		for _, s := range mothers {
			if d := b.await(s); d.Status != history.Completed {
				t.Errorf("%s %+v", d.Status, d.Failure)
			}
			verify(t, p, a.history(s.Run.WorkflowID))
		}
		time.Sleep(3 * time.Second)
		for i, s := range holders {
			if _, err := []*world{b, a}[i%2].runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3 * time.Second)
		for _, s := range holders {
			child := runs.Started{Run: runs.Summary{WorkflowID: domain.WorkflowID(domain.DeriveUUID(string(s.Run.RunID), "child:0"))}}
			if d := a.describe(child); d.Status != history.Cancelled {
				t.Errorf("the child of a cancelled parent is %s", d.Status)
			}
		}
		if left, err := backend.Pending(context.Background(), nil, 10); err != nil || len(left) != 0 {
			t.Errorf("messages %v are left, %v", left, err)
		}
	})
}

// engine 6: tasks that find no slot where they were scheduled run where one is free.
func TestQueuedTasksRunWhereASlotIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), fanOut("wide", 40)
		narrow := settings{shared: true, limits: actions.Limits{InFlight: 2}}
		a := startWorld(t, backend, narrow, d.server("a", time.Second, 0), p)
		defer a.stop()
		b := startWorld(t, backend, narrow, d.server("b", time.Second, 0), p)
		defer b.stop()
		s := a.start("wide")
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		counts := map[string]int{}
		for _, line := range d.list() {
			counts[line]++
		}
		if counts["a ends 1"]+counts["b ends 1"] != 40 || counts["b ends 1"] < 10 || d.most != 1 {
			t.Errorf("%v, %d at once", counts, d.most)
		}
		verify(t, p, b.history(s.Run.WorkflowID))
	})
}

// engine 4, actions 5.2: a part of a run that fails on one server is cancelled on the other, with that cause.
func TestPartOfARunIsCancelledWhereItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		backend, p := newStore(), fanOut("wide", 2)
		p.Flow.Steps[0].Handler = &plan.Handler{Body: []plan.Stmt{{Op: plan.OpSleep, DurationMS: 600_000}, to("done", lit(`"mended"`))}}
		narrow := settings{shared: true, limits: actions.Limits{InFlight: 1}}
		a := startWorld(t, backend, narrow, d.server("a", time.Hour, 0), p)
		defer a.stop()
		b := startWorld(t, backend, narrow, func(context.Context, ports.Execution, ports.TranscriptWriter) action.Verdict {
			time.Sleep(10 * time.Second)
			return action.Fail(action.Terminal, "broken", "it does not work", nil)
		}, p)
		defer b.stop()
		s := a.start("wide")
		time.Sleep(20 * time.Second)
		wantLines(t, d.list(), "a starts 1", "a stopped 1: attempt stopped: cancelled")
		if got := b.await(s); got.Status != history.Completed {
			t.Errorf("%s", got.Status)
		}
		verify(t, p, b.history(s.Run.WorkflowID))
	})
}

// engine 7 (Watch): what another server has written is acted on at once when the store tells of it, and within a poll when not.
func TestNewsFromElsewhereWakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	for told, most := range map[bool]time.Duration{true: 300 * time.Millisecond, false: 3100 * time.Millisecond} {
		t.Run(fmt.Sprint(told), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backend, p, kid := newStore(), parentOf("mother", "kid"), oneStep("kid", nil)
				all := settings{shared: true, bodies: actions.BodiesDelegate} // what is scheduled there waits for another server
				a := startWorld(t, backend, all, instant, p, kid)
				defer a.stop()
				b := startWorld(t, backend, together, instant, p, kid)
				defer b.stop()
				time.Sleep(2500 * time.Millisecond)
				began := time.Now()
				s := a.start("mother")
				var telling sync.WaitGroup
				defer telling.Wait()
				if told {
					telling.Go(func() {
						for time.Since(began) < time.Second {
							for _, w := range []*world{a, b} {
								w.engine.Elsewhere(ports.Changes{Workflows: []domain.WorkflowID{s.Run.WorkflowID}, Messages: true, Tasks: true, Timers: true})
							}
							time.Sleep(10 * time.Millisecond)
						}
					})
				}
				if got := b.await(s); got.Status != history.Completed {
					t.Errorf("%s", got.Status)
				}
				if took := time.Since(began); took > most {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// engine 14: two servers that carry the messages of one parent for a moment leave no child behind: one starts it while the
// other has found it not wanted any more, and nothing to close.
func TestChildThatIsStartedTooLateIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p, kid := newStore(), parentOf("mother", "kid"), approval("kid", 0)
		both := settings{shared: true, shards: func() ports.Shards { return nil }}
		a := startWorld(t, backend, both, instant, p, kid)
		defer a.stop()
		b := startWorld(t, backend, both, instant, p, kid)
		defer b.stop()
		time.Sleep(1500 * time.Millisecond)
		held := make(chan struct{})
		a.store.Script(fake.Fault{Op: "Pending", Call: 1, When: fake.Before}, fake.Fault{Op: "Pending", Call: 2, When: fake.Before})
		b.store.Script(fake.Fault{Op: "Runs", Call: 2, Hold: held}) // the first one shows the parent, the second one the child
		s := a.start("mother")
		b.engine.Elsewhere(ports.Changes{Messages: true})
		synctest.Wait()
		if b.store.Struck() != 1 {
			t.Fatal("the other server is not about to start the child")
		}
		if _, err := a.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if left, err := backend.Pending(context.Background(), nil, 10); err != nil || len(left) != 0 {
			t.Errorf("messages %v are left, %v", left, err)
		}
		close(held)
		synctest.Wait()
		child := runs.Started{Run: runs.Summary{WorkflowID: domain.WorkflowID(domain.DeriveUUID(string(s.Run.RunID), "child:0"))}}
		if d := a.describe(child); d.Status != history.Cancelled {
			t.Errorf("the child is %s", d.Status)
		}
	})
}
