package schedules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/test/fake"
)

func TestEachTimeStartsOneRun(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		set := settings("quick", "*/5 * * * *", schedule.Skip)
		set.Labels, set.Input = map[string]string{"a": "b"}, []byte(`{"n":1}`)
		w.create("five", set)
		w.pass(14 * time.Minute)
		w.want("five", "fired fired fired")
		w.once("five")
		for i, r := range w.runsOf("five") {
			f := w.fires("five")[i]
			if r.WorkflowID != f.WorkflowID || r.RunID != f.RunID || r.Labels["a"] != "b" || r.StartedAt.Before(f.Nominal) ||
				r.StartedAt.Sub(f.Nominal) > 2*time.Second || f.Nominal.Minute()%5 != 0 {
				w.t.Errorf("%v %v", r, f)
			}
			read, err := w.runs.Inspect(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(r.WorkflowID)})
			if err != nil || read.StartedBy != "schedule:five" || string(read.Input) != `{"n":1}` {
				w.t.Errorf("%v %v", read, err)
			}
		}
	})
}

func TestOverlapRules(t *testing.T) {
	t.Parallel()
	for rule, want := range map[schedule.Overlap]struct {
		told string
		runs []history.Status
	}{
		schedule.Skip:          {"fired skipped skipped", []history.Status{history.Running}},
		schedule.Allow:         {"fired fired fired", []history.Status{history.Running, history.Running, history.Running}},
		schedule.BufferOne:     {"fired buffered skipped", []history.Status{history.Running}},
		schedule.CancelRunning: {"fired fired fired", []history.Status{history.Cancelled, history.Cancelled, history.Running}},
	} {
		t.Run(string(rule), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.create("s", settings("slow", "* * * * *", rule))
				w.pass(3 * time.Minute)
				w.want("s", want.told)
				w.once("s")
				var got []history.Status
				for _, r := range w.runsOf("s") {
					got = append(got, r.Status)
				}
				if fmt.Sprint(got) != fmt.Sprint(want.runs) {
					w.t.Errorf("%v, want %v", got, want.runs)
				}
			})
		})
	}
}

func (w *world) cancelFirst(id string) {
	w.t.Helper()
	open, err := w.backend.OpenOfSchedule(context.Background(), schedule.Ref{Namespace: "default", ID: schedule.ID(id)}, 1)
	if err != nil || len(open) == 0 {
		w.t.Fatal(open, err)
	}
	ref := runs.Ref{Namespace: "default", WorkflowID: string(open[0].WorkflowID)}
	if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: ref}); err != nil {
		w.t.Fatal(err)
	}
}

// A pause keeps what waits, and what comes meanwhile is recorded.
func TestABufferedFireStartsAtTheEndOfTheRunAndAfterAPause(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("slow", "* * * * *", schedule.BufferOne))
		w.pass(2 * time.Minute)
		w.want("s", "fired buffered")
		if _, err := w.Pause(context.Background(), operator, "default", "s", "a holiday"); err != nil {
			w.t.Fatal(err)
		}
		w.cancelFirst("s")
		w.pass(time.Minute)
		w.want("s", "fired buffered skipped")
		if f := w.fires("s")[2]; !strings.Contains(f.Reason, "paused by operator") {
			w.t.Error(f)
		}
		if _, err := w.Resume(context.Background(), operator, "default", "s"); err != nil {
			w.t.Fatal(err)
		}
		w.pass(5 * time.Second)
		w.want("s", "fired buffered skipped fired")
		if f := w.fires("s"); !f[3].Nominal.Equal(f[1].Nominal) {
			w.t.Errorf("%v", f)
		}
		w.once("s")
	})
}

// report 40
func TestAnOutageIsMadeUpForWithinCatchUp(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		set := settings("quick", "* * * * *", schedule.Allow)
		set.CatchUp = 3 * time.Minute
		w.create("s", set)
		w.pass(time.Minute)
		w.stop()
		w.clock.Advance(6*time.Minute + 30*time.Second)
		again := w.another()
		w.stop = again.stop
		again.pass(time.Minute)
		again.want("s", "fired missed missed missed caught_up caught_up caught_up fired")
		again.once("s")
		for i, f := range again.fires("s") {
			if want := fake.Epoch.Truncate(time.Minute).Add(time.Duration(i+1) * time.Minute); !f.Nominal.Equal(want) {
				w.t.Errorf("fire %d is of %s, want %s", i, f.Nominal, want)
			}
		}
	})
}

func TestAtMostAHundredFiresAreMadeUp(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		set := settings("quick", "every 1s", schedule.Allow)
		set.CatchUp = time.Hour
		w.create("s", set)
		w.stop()
		w.clock.Advance(24 * time.Hour)
		again := w.another()
		w.stop = again.stop
		again.pass(2 * time.Second)
		told := again.told("s")
		if n := strings.Count(told, "caught_up"); n != schedule.MaxCaughtUp {
			t.Errorf("%d were made up", n)
		}
		if n := strings.Count(told, "missed"); n < 100 || n > 400 { // the rest is in one record
			t.Errorf("%d misses are recorded", n)
		}
		if strings.HasPrefix(told, "caught_up") || strings.LastIndex(told, "missed") < strings.LastIndex(told, "caught_up") {
			t.Errorf("the order is %s", told)
		}
		again.once("s")
		again.pass(3 * time.Second)
		if !strings.HasSuffix(again.told("s"), "fired fired fired") {
			t.Errorf("%s", again.told("s"))
		}
	})
}

// engine 11, report 42: nothing early by its own recorded clock, nothing lost without a record, nothing twice.
func TestFiresFollowTheClockWhateverItDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		jump time.Duration
		told string
	}{
		"set ahead a day":                      {24 * time.Hour, ""},
		"asleep for two hours":                 {2 * time.Hour, ""},
		"set back a day":                       {-24 * time.Hour, "fired"},
		"set back by less than the next takes": {-20 * time.Second, "fired fired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.create("s", settings("quick", "* * * * *", schedule.Allow))
				w.pass(70 * time.Second)
				w.want("s", "fired")
				w.clock.Jump(w.clock.Now().Add(c.jump))
				w.pass(70 * time.Second)
				if c.told != "" {
					w.want("s", c.told)
				} else if told := w.told("s"); !strings.HasPrefix(told, "fired missed") || !strings.HasSuffix(told, "fired") {
					w.t.Errorf("%s", told)
				}
				w.once("s")
				for _, f := range w.fires("s") {
					if f.DecidedAt.Before(f.Nominal) {
						w.t.Errorf("early: %v", f)
					}
				}
				// A schedule that is made after the jump fires as if nothing had been.
				w.create("later", settings("quick", "every 1s", schedule.Allow))
				w.pass(3 * time.Second)
				w.want("later", "fired fired fired")
			})
		})
	}
}

// A fire that cannot start its run is recorded once, and the schedule goes on.
func TestARefusedStartIsAFailedFire(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("quick", "* * * * *", schedule.Skip))
		ref := schedule.Ref{Namespace: "default", ID: "s"}
		change := func(f func(*schedule.Schedule)) {
			if _, err := w.backend.ChangeSchedule(context.Background(), ref, func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
				f(&v)
				return v, nil, nil
			}); err != nil {
				w.t.Fatal(err)
			}
		}
		change(func(v *schedule.Schedule) { v.Creator.AllNamespaces = false }) // the grant of the creator is gone
		w.pass(time.Minute)
		change(func(v *schedule.Schedule) { v.Creator.AllNamespaces, v.Input = true, []byte(`[]`) }) // it does not fit any more
		w.pass(time.Minute)
		change(func(v *schedule.Schedule) { v.Input = nil })
		gone := w.shelf.contracts["quick"]
		w.shelf.remove("quick")
		w.pass(time.Minute)
		w.shelf.contracts["quick"] = gone
		w.pass(time.Minute)
		w.want("s", "failed failed failed fired")
		for i, says := range []string{"NamespaceNotGranted", "InputRejected", "WorkflowTypeNotFound"} {
			if f := w.fires("s")[i]; !strings.HasPrefix(f.Reason, says) || f.WorkflowID != "" || f.RunID != "" {
				w.t.Errorf("%v does not say %s", f, says)
			}
		}
	})
}

// The server dies at each of its writes, before or after it is durable, and the next one goes on: each time has one record
// and at most one run.
func TestACrashAtAnyWriteStartsNothingTwice(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"ChangeSchedule", "Append", "Idempotent", "OpenOfSchedule", "Schedule"} {
		for name, when := range map[string]fake.Moment{"before": fake.Before, "after": fake.After} {
			for _, rule := range []schedule.Overlap{schedule.Skip, schedule.Allow, schedule.CancelRunning, schedule.BufferOne} {
				t.Run(fmt.Sprint(op, " ", name, " ", rule), func(t *testing.T) {
					t.Parallel()
					for n := 1; n <= 7; n++ {
						synctest.Test(t, func(t *testing.T) { crashAt(t, fake.Fault{Op: op, Call: n, When: when}, rule) })
					}
				})
			}
		}
	}
}

func crashAt(t *testing.T, fault fake.Fault, rule schedule.Overlap) {
	t.Helper()
	w := newWorld(t)
	workflowType := "slow"
	if rule == schedule.Skip {
		workflowType = "quick"
	}
	set := settings(workflowType, "* * * * *", rule)
	set.CatchUp = time.Hour
	w.create("s", set)
	synctest.Wait()
	w.store.Script(fault)
	w.pass(130 * time.Second)
	w.stop()
	again := w.another()
	defer func() { again.stop() }()
	again.pass(60 * time.Second)
	again.once("s")
	if n := len(again.fires("s")); n != 3 {
		t.Errorf("%v %s: %d fires: %v", fault, rule, n, again.fires("s"))
	}
	open := 0
	for _, r := range again.runsOf("s") {
		if !r.Status.Terminal() {
			open++
		}
	}
	if want := map[schedule.Overlap]int{schedule.Skip: 0, schedule.Allow: 3, schedule.CancelRunning: 1, schedule.BufferOne: 1}[rule]; open != want {
		t.Errorf("%v %s: %d runs are open, want %d: %v", fault, rule, open, want, again.fires("s"))
	}
}

// engine 8: several servers look at the same schedules.
func TestTwoServersStartEachRunOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		other := w.another()
		defer other.stop()
		for n := range 20 {
			rule := []schedule.Overlap{schedule.Allow, schedule.Skip, schedule.CancelRunning, schedule.BufferOne}[n%4]
			w.create(fmt.Sprint("s", n), settings([]string{"quick", "slow"}[n%2], "every 2s", rule))
		}
		w.pass(20 * time.Second)
		for n := range 20 {
			w.once(fmt.Sprint("s", n))
			if got := len(w.fires(fmt.Sprint("s", n))); got < 9 || got > 11 {
				w.t.Errorf("s%d has %d fires", n, got)
			}
		}
	})
}

// server 5.7
func TestADrainingServerFiresNothingAndTakesNoChange(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("quick", "* * * * *", schedule.Skip))
		w.Drain()
		w.pass(90 * time.Second)
		w.want("s", "")
		_, err := w.Pause(context.Background(), operator, "default", "s", "")
		refused(w.t, err, domain.CodeUnavailable, "ShuttingDown")
		refused(w.t, w.Delete(context.Background(), operator, "default", "s", ""), domain.CodeUnavailable, "ShuttingDown")
		w.stop()
		again := w.another()
		w.stop = again.stop
		again.pass(time.Second)
		again.want("s", "caught_up")
	})
}
