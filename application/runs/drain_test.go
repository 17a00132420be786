package runs_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/actions"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/fake"

	"pgregory.net/rapid"
)

// actions 50, report 53
func TestDrainRecordsShortAttemptsAndParksLongOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := newStore()
		short, long := oneStep("short", nil), oneStep("long", nil)
		work := func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			out.Write(transcript.Record{Kind: transcript.Message, Text: "line"})
			if e.Bound > 0 {
				return untilStopped(ctx, e, out)
			}
			time.Sleep(5 * time.Second)
			return instant(ctx, e, out)
		}
		quick := func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			out.Write(transcript.Record{Kind: transcript.Message, Text: "line"})
			return instant(ctx, e, out)
		}
		long.Flow.Steps[0].Body[0].TimeoutMS = 7_200_000
		w := startWorld(t, backend, settings{}, work, short, long)
		s, l := w.start("short"), w.start("long")
		synctest.Wait()
		began := time.Now()
		if err := w.dispatcher.Drain(context.Background(), 30*time.Second); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("the drain took %s", took)
		}
		_, err := w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: "short"})
		wantRefusal(t, err, domain.CodeUnavailable, "ShuttingDown", "later")
		if d := w.describe(s); d.Status != history.Completed {
			t.Errorf("the short attempt: %s", d.Status)
		}
		if d := w.describe(l); d.Status != history.Running || d.CurrentStep == nil || d.CurrentStep.Attempt != 1 {
			t.Errorf("the long attempt: %s %+v", d.Status, d.CurrentStep)
		}
		w.stop()
		if n := count(w.history(l.Run.WorkflowID), "ActivityFailed"); n != 0 {
			t.Errorf("%d failures are recorded of a parked attempt", n)
		}

		next := startWorld(t, backend, settings{}, quick, short, long)
		defer next.stop()
		if d := next.await(l); d.Status != history.Completed {
			t.Errorf("the parked attempt: %s", d.Status)
		}
		events := next.history(l.Run.WorkflowID)
		verify(t, long, events)
		for _, e := range events {
			if e.Type == "ActivityStarted" && decode(t, e)["attempt"] != 1.0 {
				t.Errorf("attempt %v", decode(t, e)["attempt"])
			}
		}
		records, head, err := backend.Records(context.Background(), domain.AttemptKey{WorkflowID: l.Run.WorkflowID, RunID: l.Run.RunID, Attempt: 1}, 0, 10)
		if err != nil || head != 3 || records[1].Kind != transcript.Progress || string(records[1].Detail) != `{"status":"resumed_after_drain"}` {
			t.Errorf("transcript %+v %v", records, err)
		}
	})
}

// actions 3: a drain starts nothing, not even what waits for a slot.
func TestDrainLeavesQueuedTasksQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fanOut("wide", 20)
		w := startWorld(t, newStore(), settings{limits: actions.Limits{InFlight: 2}}, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			select {
			case <-time.After(time.Second):
				return instant(ctx, e, out)
			case <-ctx.Done():
				return untilStopped(ctx, e, out)
			}
		}, p)
		defer w.stop()
		s := w.start("wide")
		synctest.Wait()
		if err := w.dispatcher.Drain(context.Background(), time.Minute); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		events := w.history(s.Run.WorkflowID)
		if n := count(events, "ActivityStarted"); n != 2 {
			t.Errorf("%d attempts were started", n)
		}
		tasks, err := w.backend.Open(context.Background(), s.Run.WorkflowID)
		if err != nil || len(tasks) != 18 {
			t.Errorf("%d tasks wait, %v", len(tasks), err)
		}
	})
}

// actions 3, 48: an attempt that a commit in flight grants while the server begins to drain starts no process and fails
// nothing: it is parked, and goes on under its own number.
func TestDrainParksWhatACommitInFlightGrants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p := newStore(), oneStep("one", nil)
		var executed atomic.Int64
		w := startWorld(t, backend, settings{}, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			executed.Add(1)
			return instant(ctx, e, out)
		}, p)
		hold := make(chan struct{})
		w.store.Script(fake.Fault{Op: "Append", Call: 1, Hold: hold})
		began := make(chan runs.Started)
		go func() { began <- w.start("one") }()
		synctest.Wait()
		drained := make(chan error)
		go func() { drained <- w.dispatcher.Drain(context.Background(), time.Minute) }()
		synctest.Wait()
		close(hold)
		s := <-began
		if err := <-drained; err != nil {
			t.Error(err)
		}
		tasks, err := backend.Open(context.Background(), s.Run.WorkflowID)
		if err != nil || len(tasks) != 1 || tasks[0].State != history.TaskParked || executed.Load() != 0 {
			t.Errorf("tasks %+v, %v, %d executions", tasks, err, executed.Load())
		}
		if got := (action.Parked{}).String(); got != "parked:server-draining" {
			t.Error(got)
		}
		w.stop()
		next := startWorld(t, backend, settings{}, instant, p)
		defer next.stop()
		if d := next.await(s); d.Status != history.Completed {
			t.Errorf("the parked attempt: %s", d.Status)
		}
		events := next.history(s.Run.WorkflowID)
		if count(events, "ActivityFailed") != 0 || count(events, "ActivityStarted") != 2 {
			t.Errorf("%d started, %d failed", count(events, "ActivityStarted"), count(events, "ActivityFailed"))
		}
	})
}

// actions 50, 5.3: a store that is away does not keep the server from its end. What cannot be recorded or flushed then is
// told, and the attempt runs again under the next number.
func TestDrainEndsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	for what, verdict := range map[string]executor{
		"a verdict": instant,
		"an attempt that is parked": func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			return untilStopped(ctx, e, out)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backend, p := newStore(), oneStep("one", nil)
				var w *world
				w = startWorld(t, backend, settings{}, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
					time.Sleep(time.Second)
					w.store.Cut()
					out.Write(transcript.Record{Kind: transcript.Message, Text: "line"})
					return verdict(ctx, e, out)
				}, p)
				s := w.start("one")
				time.Sleep(5 * time.Second)
				began := time.Now()
				err := w.dispatcher.Drain(context.Background(), 30*time.Second)
				if took := time.Since(began); took > 45*time.Second {
					t.Errorf("the drain took %s", took)
				}
				if err == nil || !strings.Contains(err.Error(), "1 transcript events of attempt") && what != "a verdict" {
					t.Errorf("the drain tells %v", err)
				}
				w.store.Heal()
				w.stop()
				next := startWorld(t, backend, settings{}, instant, p)
				defer next.stop()
				if d := next.await(s); d.Status != history.Completed {
					t.Errorf("%s", d.Status)
				}
				events := next.history(s.Run.WorkflowID)
				if count(events, "ActivityFailed") != 1 || count(events, "ActivityStarted") != 2 || count(events, "ActivityCompleted") != 1 {
					t.Errorf("%d started, %d failed", count(events, "ActivityStarted"), count(events, "ActivityFailed"))
				}
			})
		})
	}
}

// meter counts what runs at one instant.
type meter struct {
	now, most atomic.Int64
}

func (m *meter) enter() {
	n := m.now.Add(1)
	for {
		most := m.most.Load()
		if n <= most || m.most.CompareAndSwap(most, n) {
			return
		}
	}
}

// report 26: in whatever order runs are cancelled and attempts end, no more of them run than the limit allows.
func TestRunningAttemptsNeverPassTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(rt, "limit")
		many := rapid.IntRange(1, 12).Draw(rt, "runs")
		width := rapid.IntRange(1, 8).Draw(rt, "width")
		kills := rapid.SliceOfN(rapid.IntRange(0, many-1), 0, many).Draw(rt, "kills")
		pause := time.Duration(rapid.IntRange(0, 40).Draw(rt, "pause")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			var m meter
			p := fanOut("wide", width)
			w := startWorld(t, newStore(), settings{limits: actions.Limits{InFlight: limit}},
				func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
					m.enter()
					defer m.now.Add(-1)
					select {
					case <-time.After(time.Duration(1+e.Dispatch.Key.ActivityID%5) * 10 * time.Millisecond):
						return instant(ctx, e, out)
					case <-ctx.Done():
						return untilStopped(ctx, e, out)
					}
				}, p)
			defer w.stop()
			started := make([]runs.Started, many)
			for i := range started {
				started[i] = w.start("wide")
			}
			for _, k := range kills {
				time.Sleep(pause)
				_, _ = w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(started[k])})
			}
			for _, s := range started {
				d := w.await(s)
				if d.Status != history.Completed && d.Status != history.Cancelled {
					rt.Errorf("%s", d.Status)
				}
				verify(t, p, w.history(s.Run.WorkflowID))
			}
			if most := m.most.Load(); most > int64(limit) {
				rt.Errorf("%d attempts ran under a limit of %d", most, limit)
			}
		})
	})
}

// actions 72: a namespace with a flood of tasks does not starve another one.
func TestSlotsGoRoundTheNamespaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []domain.Namespace
		p, one := fanOut("wide", 500), oneStep("one", nil)
		w := startWorld(t, newStore(), settings{limits: actions.Limits{InFlight: 2}},
			func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
				mu.Lock()
				order = append(order, e.Dispatch.Namespace)
				mu.Unlock()
				time.Sleep(time.Second)
				return instant(ctx, e, out)
			}, p, one)
		defer w.stop()
		flood := w.start("wide")
		synctest.Wait()
		s, err := w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "small", WorkflowType: "one"})
		if err != nil {
			t.Fatal(err)
		}
		d := w.await(runs.Started{Run: runs.Summary{WorkflowID: flood.Run.WorkflowID}})
		if d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, ns := range order {
			if ns == "small" {
				if i > 4 {
					t.Errorf("the small namespace came %dth", i+1)
				}
				return
			}
		}
		t.Errorf("the small namespace never came: %s", s.Run.WorkflowID)
	})
}

// engine 6: more waiting tasks than memory holds are read from the store as room comes.
func TestMoreTasksThanMemoryHoldsAllRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fanOut("wide", 9500)
		w := startWorld(t, newStore(), settings{limits: actions.Limits{InFlight: 200}}, instant, p)
		defer w.stop()
		s := w.start("wide")
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		if n := count(w.history(s.Run.WorkflowID), "ActivityCompleted"); n != 9500 {
			t.Errorf("%d completed", n)
		}
	})
}

// engine 12 (performance): 32 starters side by side; every run ends, and each activity costs one commit.
func TestThirtyTwoStartersAllEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := threeSteps()
		w := startWorld(t, newStore(), settings{cache: 50}, instant, p)
		defer w.stop()
		var wait sync.WaitGroup
		for range 32 {
			wait.Go(func() {
				for range 25 {
					s := w.start("three")
					if d := w.await(s); d.Status != history.Completed {
						t.Errorf("%s", d.Status)
					}
					verify(t, p, w.history(s.Run.WorkflowID))
				}
			})
		}
		wait.Wait()
	})
}
