package conformance

import (
	"testing"
	"time"

	"aion/domain/history"
	"aion/ports"
)

// changesAfter reads a page behind a place and moves the place.
func changesAfter(t *testing.T, s Runs, at *ports.ChangePosition, limit int) []history.ListedRun {
	t.Helper()
	page, err := s.RunChanges(t.Context(), namespace, at, limit)
	if page = must(t, page, err); page.Lost || page.UpTo.Before(*at) {
		t.Fatalf("from %v: %+v", *at, page)
	}
	var runs []history.ListedRun
	for _, c := range page.Changes {
		if !at.Before(c.At) {
			t.Errorf("%v comes after %v", c.At, *at)
		}
		*at = c.At
		runs = append(runs, c.Run)
	}
	*at = page.UpTo
	return runs
}

// awaited reads on until so many runs have come: a change may be held back by transactions that began before it.
func awaited(t *testing.T, s Runs, at *ports.ChangePosition, limit, n int) (runs []history.ListedRun) {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		if runs = append(runs, changesAfter(t, s, at, limit)...); len(runs) >= n {
			return runs
		}
		select {
		case <-patience:
			t.Fatalf("%d of %d changes have come", len(runs), n)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func toldChanges(t *testing.T, s Runs) { // server 1.7.5
	page, err := s.RunChanges(t.Context(), namespace, nil, 10)
	same(t, "at the end", must(t, page, err).Changes, []ports.RunChange(nil))
	at := page.UpTo
	same(t, "of an empty store", changesAfter(t, s, &at, 10), []history.ListedRun(nil))
	f, g, foreign := newFlow(1), newFlow(2), newFlow(3)
	first, other, elsewhere := f.started(), g.started(), foreign.started()
	elsewhere.Namespace, elsewhere.Rows[0].Namespace = "elsewhere", "elsewhere"
	mustAppend(t, s, first, elsewhere, other, f.next(step(1))) // what writes no row is no change
	listed := func(row history.RunRow, head history.Seq) history.ListedRun {
		return history.ListedRun{RunRow: row, HeadSeq: head}
	}
	same(t, "the first", awaited(t, s, &at, 1, 1), []history.ListedRun{listed(first.Rows[0], 2)})
	same(t, "the others", awaited(t, s, &at, 1, 1), []history.ListedRun{listed(other.Rows[0], 1)})
	ended := g.next(step(1))
	ended.Rows = []history.RunRow{g.row(history.Completed)}
	late := history.Commit{Namespace: namespace, WorkflowID: f.id, ExpectedSeq: 7, Rows: []history.RunRow{f.row(history.Failed)}}
	for i, err := range s.Append(t.Context(), []history.Commit{ended, late}) {
		if (err != nil) != (i == 1) {
			t.Errorf("commit %d: %v", i, err)
		}
	}
	same(t, "an end", awaited(t, s, &at, 10, 1), []history.ListedRun{listed(ended.Rows[0], 2)})
	same(t, "nothing more", changesAfter(t, s, &at, 10), []history.ListedRun(nil))
	beyond := ports.ChangePosition{Epoch: at.Epoch + 1<<40, N: at.N}
	if at.Epoch == 0 {
		beyond = ports.ChangePosition{N: at.N + 100}
	}
	page, err = s.RunChanges(t.Context(), namespace, &beyond, 10)
	same(t, "from another store", must(t, page, err).Lost, true)
}

func droppedChanges(t *testing.T, s Runs) { // server 18
	page, err := s.RunChanges(t.Context(), namespace, nil, 10)
	before := must(t, page, err).UpTo
	at := before
	put := func(n int, when time.Time) {
		f := newFlow(n)
		c := f.started()
		c.Events[0].At = when
		mustAppend(t, s, c)
	}
	for n := range 20 {
		put(n+1, start)
	}
	same(t, "all of them", len(awaited(t, s, &at, 100, 20)), 20)
	put(50, start.Add(3*time.Hour)) // whoever stood at the end has missed nothing
	same(t, "after a rest", len(awaited(t, s, &at, 100, 1)), 1)
	for n := range 20 {
		put(n+100, start.Add(3*time.Hour))
	}
	same(t, "those that followed", len(awaited(t, s, &at, 100, 20)), 20)
	page, err = s.RunChanges(t.Context(), namespace, &before, 10)
	same(t, "from the start", must(t, page, err).Lost, true)
}
