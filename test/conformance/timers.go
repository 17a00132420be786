package conformance

import (
	"testing"
	"time"

	"aion/domain/history"
	"aion/ports"
)

// Timers is the port of the suite TimerStore with the port that fills it.
type Timers interface {
	ports.EventStore
	ports.TimerStore
}

// TimerStore runs the suite of ports.TimerStore.
func TimerStore(t *testing.T, open func(testing.TB) Timers) {
	run(t, open, map[string]func(*testing.T, Timers){
		"timers are due by time, earliest first":      dueTimers,
		"clearing and closing take timers away":       clearedTimers,
		"one timer may be set again to another time":  timerSetAgain,
		"a timer that fires before 1970 is due first": ancientTimer,
	})
}

func (f *flow) timer(n int64, at time.Time) history.Timer {
	return history.Timer{Namespace: namespace, WorkflowID: f.id, RunID: f.run, TimerID: n, Purpose: "wait", FireAt: at}
}

func withTimers(t *testing.T, s ports.EventStore, f *flow, timers ...history.Timer) {
	t.Helper()
	c := f.started()
	for _, m := range timers {
		c.Acts = append(c.Acts, history.TimerSet{Timer: m})
	}
	mustAppend(t, s, c)
}

func timersDue(t *testing.T, s ports.TimerStore, now time.Time, limit int) []history.Timer {
	t.Helper()
	timers, err := s.DueTimers(t.Context(), nil, now, limit)
	return must(t, timers, err)
}

func dueTimers(t *testing.T, s Timers) {
	next, err := s.NextTimer(t.Context(), nil)
	same(t, "next of none", must(t, next, err), time.Time{})
	f, g := newFlow(1), newFlow(2)
	a, b, c := f.timer(0, start.Add(time.Second)), f.timer(1, start.Add(3*time.Second)), g.timer(0, start.Add(2*time.Second))
	withTimers(t, s, f, b, a)
	withTimers(t, s, g, c)
	next, err = s.NextTimer(t.Context(), nil)
	same(t, "next", must(t, next, err), a.FireAt)
	same(t, "too early", timersDue(t, s, a.FireAt.Add(-time.Microsecond), 10), []history.Timer(nil))
	same(t, "the first", timersDue(t, s, a.FireAt, 10), []history.Timer{a})
	same(t, "all", timersDue(t, s, never, 10), []history.Timer{a, c, b})
	same(t, "limited", timersDue(t, s, never, 2), []history.Timer{a, c})
	same(t, "none asked", timersDue(t, s, never, 0), []history.Timer(nil))
}

func clearedTimers(t *testing.T, s Timers) {
	f, g := newFlow(1), newFlow(2)
	withTimers(t, s, f, f.timer(0, start), f.timer(1, start), f.timer(2, start))
	withTimers(t, s, g, g.timer(0, start))
	gone := history.TimerCleared{WorkflowID: f.id, RunID: f.run, TimerID: 1}
	mustAppend(t, s, f.acting(gone, gone))
	same(t, "after clearing", timersDue(t, s, never, 10), []history.Timer{f.timer(0, start), f.timer(2, start), g.timer(0, start)})
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}))
	same(t, "after closing", timersDue(t, s, never, 10), []history.Timer{g.timer(0, start)})
}

func timerSetAgain(t *testing.T, s Timers) {
	f := newFlow(1)
	withTimers(t, s, f, f.timer(0, start))
	mustAppend(t, s, f.acting(history.TimerSet{Timer: f.timer(0, never)}))
	same(t, "due", timersDue(t, s, start, 10), []history.Timer(nil))
	next, err := s.NextTimer(t.Context(), nil)
	same(t, "next", must(t, next, err), never)
}

func ancientTimer(t *testing.T, s Timers) { // a clock that is 60 years off must not lose timers
	f := newFlow(1)
	ancient := time.Date(1969, time.July, 20, 0, 0, 0, 0, time.UTC)
	withTimers(t, s, f, f.timer(0, start), f.timer(1, ancient))
	same(t, "due", timersDue(t, s, start, 1), []history.Timer{f.timer(1, ancient)})
	next, err := s.NextTimer(t.Context(), nil)
	same(t, "next", must(t, next, err), ancient)
}
