package run_test

import (
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/run"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	wid = domain.WorkflowID("0198aaaa-0000-7000-8000-000000000001")
	rid = domain.RunID("0198aaaa-0000-7000-8000-000000000002")
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tape records events one second apart and applies them.
type tape struct {
	run  *run.Run
	acts run.Acts
	seq  history.Seq
	all  []history.Recorded
}

func newTape() *tape { return &tape{run: run.New("default", 1)} }

func (x *tape) add(events ...history.Event) error {
	for _, e := range events {
		rec := history.Record(x.seq+1, epoch.Add(time.Duration(x.seq)*time.Second), wid, rid, e)
		if err := x.run.Apply(rec, &x.acts); err != nil {
			return err
		}
		x.seq++
		x.all = append(x.all, rec)
	}
	return nil
}

// timers counts the timers that were ever set.
func (x *tape) timers() (n int64) {
	for _, rec := range x.all {
		if rec.Type == "TimerStarted" {
			n++
		}
	}
	return n
}

func started() history.Event {
	return history.WorkflowStarted{WorkflowType: "t", PackageVersion: "h", Input: []byte(`{}`)}
}

func scheduled(id int64) history.Event {
	return history.ActivityScheduled{ActivityID: id, ActivityType: "work", TaskQueue: "q", Input: []byte(`{}`), Step: "s"}
}

func begun(id int64, attempt int) history.Event {
	return history.ActivityStarted{ActivityID: id, Attempt: attempt, Executor: "server"}
}

func completed(id int64, attempt int) history.Event {
	return history.ActivityCompleted{ActivityID: id, Attempt: attempt, Result: []byte(`1`)}
}

func failed(id int64, attempt int, again bool) history.Event {
	f := history.ActivityFailed{ActivityID: id, Attempt: attempt, Class: action.Retryable, Code: "c", Message: "m"}
	if again {
		f.RetryAt = epoch.Add(time.Hour)
	}
	return f
}

// engine 5
func TestIllegalOrdersAreRefused(t *testing.T) {
	t.Parallel()
	end := history.WorkflowCompleted{Outcome: "done", Result: []byte(`1`)}
	for name, events := range map[string][]history.Event{
		"nothing before the start":         {scheduled(0)},
		"two starts":                       {started(), started()},
		"an event after the terminal":      {started(), end, scheduled(0)},
		"two terminals":                    {started(), end, end},
		"a start of no activity":           {started(), begun(0, 1)},
		"a second attempt first":           {started(), scheduled(0), begun(0, 2)},
		"a gap in the activities":          {started(), scheduled(1)},
		"an end without a start":           {started(), scheduled(0), completed(0, 1)},
		"two ends":                         {started(), scheduled(0), begun(0, 1), completed(0, 1), completed(0, 1)},
		"an end of an older attempt":       {started(), scheduled(0), begun(0, 1), failed(0, 1, true), begun(0, 2), completed(0, 1)},
		"a timer that was never set":       {started(), history.TimerFired{TimerID: 0}},
		"a timer that fires twice":         {started(), history.TimerStarted{}, history.TimerFired{}, history.TimerFired{}},
		"a pause of a paused run":          {started(), history.WorkflowPaused{}, history.WorkflowPaused{}},
		"a resume of a running run":        {started(), history.WorkflowResumed{}},
		"a reopening of a running run":     {started(), history.WorkflowReopened{FromSeq: 1}},
		"a reopening of another event":     {started(), history.WorkflowCancelled{}, history.WorkflowReopened{FromSeq: 1}},
		"a reopening of a completed run":   {started(), end, history.WorkflowReopened{FromSeq: 2}},
		"details that are no JSON":         {started(), scheduled(0), begun(0, 1), history.ActivityFailed{Attempt: 1, Details: []byte(`{"n":***}`)}},
		"the end of a child nobody awaits": {started(), history.ChildStarted{Detached: true}, history.ChildCompleted{Child: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTape()
			err := x.add(events...)
			if domain.CodeOf(err) != domain.CodeBackend || x.seq != int64(len(events))-1 {
				t.Errorf("applied %d of %d events: %v", x.seq, len(events), err)
			}
		})
	}
}

// engine 5
func TestStatusFollowsTheEvents(t *testing.T) {
	t.Parallel()
	for status, events := range map[history.Status][]history.Event{
		history.Running:        {started(), history.WorkflowPaused{Reason: "r"}, history.WorkflowResumed{}},
		history.Paused:         {started(), history.WorkflowPaused{Reason: "r"}},
		history.Completed:      {started(), history.WorkflowCompleted{Outcome: "o", Result: []byte(`1`)}},
		history.Failed:         {started(), history.WorkflowFailed{Failure: &history.Failure{Code: "c"}}},
		history.Cancelled:      {started(), history.WorkflowPaused{}, history.WorkflowCancelled{}},
		history.TimedOut:       {started(), history.WorkflowTimedOut{}},
		history.ContinuedAsNew: {started(), history.WorkflowContinuedAsNew{}},
	} {
		x := newTape()
		if err := x.add(events...); err != nil {
			t.Errorf("%s: %v", status, err)
			continue
		}
		if x.run.Status() != status || x.run.Ended() != status.Terminal() || x.run.Row().EndedAt.IsZero() == status.Terminal() {
			t.Errorf("%s, want %s", x.run.Status(), status)
		}
		if reason := x.run.Row().PausedReason; (status == history.Paused) != (reason == "r") {
			t.Errorf("%s: paused for %q", status, reason)
		}
	}
	x := newTape()
	if err := x.add(started(), history.WorkflowCancelled{}, history.WorkflowReopened{FromSeq: 2}); err != nil || x.run.Status() != history.Running {
		t.Errorf("%s %v", x.run.Status(), err)
	}
}

func TestCurrentStepIsTheOneStartedLastElseScheduledLast(t *testing.T) {
	t.Parallel()
	x := newTape()
	for _, c := range []struct {
		event history.Event
		want  int64
	}{{scheduled(0), 0}, {scheduled(1), 1}, {begun(0, 1), 0}, {begun(1, 1), 1}, {scheduled(2), 1}, {completed(1, 1), 0}, {completed(0, 1), 2}} {
		if x.seq == 0 {
			if err := x.add(started()); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.add(c.event); err != nil {
			t.Fatal(err)
		}
		if current, ok := x.run.Current(); !ok || current.ID != c.want {
			t.Errorf("after %s: %d, want %d", c.event.Type(), current.ID, c.want)
		}
	}
}

// engine 12: the counters that a retry is computed from.
func TestAttemptsAreCountedByClass(t *testing.T) {
	t.Parallel()
	x := newTape()
	if err := x.add(started(), scheduled(0)); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		class        action.Class
		policy, lost int
	}{{action.Lost, 0, 1}, {action.Lost, 0, 2}, {action.Retryable, 1, 0}, {action.Timeout, 2, 0}, {action.Lost, 2, 1}, {action.Terminal, 2, 0}} {
		attempt := i + 1
		err := x.add(begun(0, attempt), history.ActivityFailed{Attempt: attempt, Class: c.class, Code: "c", Message: "m", RetryAt: epoch.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		a, open := x.run.Activity(0)
		if !open || a.PolicyFailures != c.policy || a.LostInRow != c.lost || a.Attempt != attempt+1 || a.Started {
			t.Errorf("after attempt %d, which ended %s: %+v", attempt, c.class, a)
		}
	}
}

// A history of an earlier writer names no step: the type stands in.
func TestActivityWithoutAStepIsShownByItsType(t *testing.T) {
	t.Parallel()
	x := newTape()
	if err := x.add(started(), history.ActivityScheduled{ActivityType: "work", Input: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if current, _ := x.run.Current(); current.Step != "work" {
		t.Errorf("step %q", current.Step)
	}
}

// model is what the rows of acts say.
type model struct {
	tasks  map[int64]string
	timers map[int64]bool
}

func (m *model) apply(acts []history.Act) {
	for _, act := range acts {
		switch act := act.(type) {
		case history.TaskAdded:
			m.tasks[act.Task.Key.ActivityID] = place(act.Task.State, act.Task.Key.Attempt)
		case history.TaskMoved:
			m.tasks[act.Key.ActivityID] = place(act.State, act.Key.Attempt)
		case history.TaskEnded:
			delete(m.tasks, act.ActivityID)
		case history.TimerSet:
			m.timers[act.Timer.TimerID] = true
		case history.TimerCleared:
			delete(m.timers, act.TimerID)
		case history.RunClosed:
			clear(m.tasks)
			clear(m.timers)
		case history.Posted:
		}
	}
}

func place(s history.TaskState, attempt int) string { return fmt.Sprintf("%s %d", s, attempt) }

func expected(r *run.Run) *model {
	m := &model{tasks: map[int64]string{}, timers: map[int64]bool{}}
	for _, a := range r.Open() {
		state := history.TaskQueued
		if a.Started {
			state = history.TaskStarted
		}
		m.tasks[a.ID] = place(state, a.Attempt)
	}
	if r.Status() != history.Paused {
		for _, timer := range r.Timers() {
			m.timers[timer.ID] = true
		}
	}
	return m
}

// engine 2: whatever the order of events, however they are cut into commits, the rows say what the projection says, and
// folding the history again gives the same projection.
func TestRowsAndFoldAgreeWithTheProjection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, rows := newTape(), &model{tasks: map[int64]string{}, timers: map[int64]bool{}}
		if err := x.add(started()); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			event := draw(t, x)
			if x.run.Ended() {
				event = history.WorkflowReopened{FromSeq: x.seq}
			}
			if err := x.add(event); err != nil {
				t.Fatalf("a legal event is refused: %v", err)
			}
			if rapid.Bool().Draw(t, "commit") {
				rows.apply(x.acts.List)
				x.acts.List = nil
				if diff := cmp.Diff(expected(x.run), rows, cmp.AllowUnexported(model{})); diff != "" {
					t.Fatal(diff)
				}
			}
		}
		rows.apply(x.acts.List)
		again := run.New("default", 1)
		for _, rec := range x.all {
			if err := again.Apply(rec, nil); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(expected(again), rows, cmp.AllowUnexported(model{})); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(x.run.Row(), again.Row()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// draw picks an event that may follow.
func draw(t *rapid.T, x *tape) history.Event {
	r := x.run
	var may []history.Event
	next := int64(0)
	for {
		if _, _, ok := r.Dispatched(next); !ok {
			break
		}
		next++
	}
	if r.Status() == history.Running {
		for range 6 {
			may = append(may, scheduled(next), history.TimerStarted{TimerID: x.timers(), Purpose: "sleep", FireAt: epoch})
		}
		for _, timer := range r.Timers() {
			may = append(may, history.TimerFired{TimerID: timer.ID}, history.TimerCancelled{TimerID: timer.ID})
		}
	}
	for _, a := range r.Open() {
		if !a.Started {
			may = append(may, begun(a.ID, a.Attempt), begun(a.ID, a.Attempt), history.ActivityCancelled{ActivityID: a.ID})
			continue
		}
		may = append(may, completed(a.ID, a.Attempt), failed(a.ID, a.Attempt, true), failed(a.ID, a.Attempt, false), begun(a.ID, a.Attempt))
	}
	if r.Status() == history.Paused {
		may = append(may, history.WorkflowResumed{})
	} else {
		may = append(may, history.WorkflowPaused{})
	}
	if rapid.IntRange(0, 40).Draw(t, "end") == 0 {
		return history.WorkflowCancelled{}
	}
	return may[rapid.IntRange(0, len(may)-1).Draw(t, "event")]
}
