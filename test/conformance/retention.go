package conformance

import (
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
	"aion/test/fake"
)

// RetentionStore runs the suite of ports.RetentionStore.
func RetentionStore(t *testing.T, open func(testing.TB) Store) {
	run(t, open, map[string]func(*testing.T, Store){
		"a removed workflow reads as one that never was, and the others stay": removedWhole,
		"closed workflows are listed by their end, page by page":              closedPages,
		"what somebody needs is neither listed nor removed":                   neededStays,
		"a workflow that has gone on since it was listed stays":               goneOnStays,
		"what workers held of a removed workflow goes with it":                leasesRemoved,
		"a large workflow is removed whole":                                   largeRemoved,
		"two that remove the same count each workflow once":                   removedOnce,
	})
}

// closed builds a workflow that has closed, with a transcript.
func closed(t *testing.T, s Store, n int) *flow {
	t.Helper()
	f := newFlow(n)
	mustAppend(t, s, f.startedWith(fmt.Sprint("key ", n), fake.Epoch.Add(-time.Second)))
	store(t, s, f.key(1, 1), lines(1, 5))
	f.close(t, s)
	return f
}

// close ends the run of a flow as many hours after the start of the suites as the flow has events.
func (f *flow) close(t *testing.T, s ports.EventStore, of ...*history.Parent) {
	t.Helper()
	c := f.next(step(1))
	row := f.row(history.Completed)
	row.EndedAt = start.Add(time.Duration(f.head) * time.Hour)
	for _, parent := range of {
		row.Parent = parent
	}
	c.Rows = []history.RunRow{row}
	mustAppend(t, s, c)
}

func listed(t *testing.T, s ports.RetentionStore) []ports.ClosedWorkflow {
	t.Helper()
	got, err := s.Closed(t.Context(), namespace, never, nil, 100)
	return must(t, got, err)
}

func remove(t *testing.T, s ports.RetentionStore, workflows ...ports.ClosedWorkflow) int {
	t.Helper()
	n, err := s.RemoveClosed(t.Context(), workflows)
	return must(t, n, err)
}

// seen is everything that a reader finds of a flow.
type seen struct {
	Head    history.Seq
	Events  []history.Recorded
	Runs    []history.RunRow
	In      []history.RunRow
	Records any
	Stored  int64
	Heads   any
}

func look(t *testing.T, s Store, f *flow) (v seen) {
	t.Helper()
	var err error
	v.Head, err = s.Head(t.Context(), f.id)
	must(t, v, err)
	v.Events, err = s.History(t.Context(), f.id, 1, 100)
	must(t, v, err)
	v.Runs, err = s.Runs(t.Context(), f.id)
	must(t, v, err)
	v.In, err = s.RunsIn(t.Context(), namespace, f.id)
	must(t, v, err)
	v.Records, v.Stored = records(t, s, f.key(1, 1), 0, 100)
	heads, err := s.Heads(t.Context(), f.id, f.run)
	v.Heads = len(must(t, heads, err))
	return v
}

func removedWhole(t *testing.T, s Store) { // engine 7
	missing := look(t, s, newFlow(9))
	f, other := closed(t, s, 1), closed(t, s, 2)
	before := look(t, s, other)
	all := listed(t, s)
	same(t, "what is listed", all, []ports.ClosedWorkflow{
		{ID: f.id, ClosedAt: start.Add(2 * time.Hour), Head: 2, Records: 5}, {ID: other.id, ClosedAt: start.Add(2 * time.Hour), Head: 2, Records: 5},
	})
	same(t, "removed", remove(t, s, all[0]), 1)
	same(t, "removed again", remove(t, s, all[0]), 0)
	same(t, "the removed one", look(t, s, f), missing)
	same(t, "the other one", look(t, s, other), before)
	left, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace}, nil, 10)
	same(t, "the list of runs", must(t, left, err), []history.ListedRun{{RunRow: before.Runs[0], HeadSeq: before.Head}})
	same(t, "what is left", listed(t, s), all[1:])
	again := newFlow(1)
	mustAppend(t, s, again.startedWith("key 1", never))
	same(t, "its name, used again", look(t, s, again).Head, history.Seq(1))
}

func leasesRemoved(t *testing.T, s Store) {
	f := newFlow(1)
	lease := f.leaseOf(1, 0)
	withLeases(t, s, f, lease)
	end := f.acting(history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: 0}, history.LeaseOver{Hash: lease.Hash, End: history.LeaseSettled})
	mustAppend(t, s, end)
	f.close(t, s)
	same(t, "removed", remove(t, s, listed(t, s)...), 1)
	same(t, "leases", leasesOf(t, s, lease.TaskID), []history.Lease(nil))
}

func closedPages(t *testing.T, s Store) {
	var want []ports.ClosedWorkflow
	for n := range 7 {
		f := newFlow(7 - n)
		mustAppend(t, s, f.started())
		if n == 3 {
			continue // it goes on
		}
		for range n {
			mustAppend(t, s, f.next(step(1)))
		}
		f.close(t, s)
		want = append(want, ports.ClosedWorkflow{ID: f.id, ClosedAt: start.Add(time.Duration(n+2) * time.Hour), Head: int64(n + 2)})
	}
	same(t, "all", listed(t, s), want)
	elsewhere, err := s.Closed(t.Context(), "other", never, nil, 100)
	same(t, "of another namespace", must(t, elsewhere, err), []ports.ClosedWorkflow(nil))
	early, err := s.Closed(t.Context(), namespace, want[2].ClosedAt, nil, 100)
	same(t, "by a time", must(t, early, err), want[:3])
	early, err = s.Closed(t.Context(), namespace, want[2].ClosedAt.Add(-time.Microsecond), nil, 100)
	same(t, "right before it", must(t, early, err), want[:2])
	var paged []ports.ClosedWorkflow
	for after := (*ports.ClosedWorkflow)(nil); ; after = &paged[len(paged)-1] {
		page, err := s.Closed(t.Context(), namespace, never, after, 2)
		if len(must(t, page, err)) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	same(t, "page by page", paged, want)
	same(t, "removed", remove(t, s, want...), len(want))
	same(t, "what is left", listed(t, s), []ports.ClosedWorkflow(nil))
}

// neededStays gives a closed workflow each need in turn, and takes it away again.
func neededStays(t *testing.T, s Store) { // engine 7
	f := closed(t, s, 1)
	it := listed(t, s)[0]
	before := look(t, s, f)
	child, parent := newFlow(2), newFlow(3)
	begin := func(f, parent *flow) *history.Parent {
		c, p := f.started(), &history.Parent{WorkflowID: parent.id, RunID: parent.run, Child: 1}
		c.Rows[0].Parent = p
		mustAppend(t, s, c)
		return p
	}
	stays := func(what string) {
		t.Helper()
		for _, c := range listed(t, s) {
			if c.ID == it.ID {
				t.Errorf("%s: it is listed", what)
			}
		}
		same(t, what+": removed", remove(t, s, it), 0)
		same(t, what, look(t, s, f), before)
	}
	of := begin(child, f)
	stays("a child that goes on")
	child.close(t, s, of)
	same(t, "after the child", listed(t, s)[0].ID, it.ID)

	mustAppend(t, s, parent.started())
	f = newFlow(4)
	f.close(t, s, begin(f, parent))
	it, before = ports.ClosedWorkflow{ID: f.id, Head: 2}, look(t, s, f)
	stays("a parent that goes on")
	parent.close(t, s)
	same(t, "after the parent", remove(t, s, it), 1)

	f = newFlow(5)
	mustAppend(t, s, f.startedWith("alive", fake.Epoch.Add(time.Microsecond)))
	f.close(t, s)
	it.ID, before = f.id, look(t, s, f)
	stays("a key that is alive")

	f = newFlow(6)
	mustAppend(t, s, f.started(), f.acting(history.TaskAdded{Task: f.task(1, history.TaskQueued)}))
	f.close(t, s)
	it.ID, it.Head, before = f.id, 3, look(t, s, f)
	stays("an open task")
	neededByOthers(t, s)
}

// neededByOthers is what only the list looks at: none of it can begin without an event of the workflow.
func neededByOthers(t *testing.T, s Store) {
	ids := func() map[domain.WorkflowID]bool {
		found := map[domain.WorkflowID]bool{}
		for _, c := range listed(t, s) {
			found[c.ID] = true
		}
		return found
	}
	sender := newFlow(7)
	mustAppend(t, s, sender.started())
	post(t, s, sender, sender.message(1))
	sender.close(t, s)
	waiting := mcpTask(8)
	makeTask(t, s, waiting)
	f, c := startFor(8, waiting.ID)
	c.Started.ExpiresAt = fake.Epoch.Add(-time.Second)
	mustAppend(t, s, c)
	f.close(t, s)
	if found := ids(); found[sender.id] || found[f.id] {
		t.Errorf("listed although a message or a task waits: %v", found)
	}
	if err := s.Delivered(t.Context(), []string{sender.message(1).ID}); err != nil {
		t.Fatal(err)
	}
	turn(t, s, waiting.ID, cancel)
	if found := ids(); !found[sender.id] || !found[f.id] {
		t.Errorf("not listed although nothing waits: %v", found)
	}
	kept, err := s.MCPTask(t.Context(), waiting.ID)
	same(t, "the task", must(t, kept.State, err), task.Cancelled)
}

func goneOnStays(t *testing.T, s Store) {
	f := closed(t, s, 1)
	all := listed(t, s)
	mustAppend(t, s, f.next(step(2)))
	before := look(t, s, f)
	same(t, "removed", remove(t, s, all...), 0)
	same(t, "what is there", look(t, s, f), before)
	reopened := f.next(step(3))
	reopened.Rows = []history.RunRow{f.row(history.Running)}
	mustAppend(t, s, reopened)
	same(t, "listed while it is open again", listed(t, s), []ports.ClosedWorkflow(nil))
}

func largeRemoved(t *testing.T, s Store) {
	missing := look(t, s, newFlow(9))
	small, f := closed(t, s, 1), newFlow(2)
	mustAppend(t, s, f.started())
	for range 26 {
		var events []history.Event
		for n := range int64(100) {
			events = append(events, step(n))
		}
		mustAppend(t, s, f.next(events...))
	}
	for n := range int64(13) {
		store(t, s, f.key(1, 1), lines(n*100+1, 100))
	}
	store(t, s, f.key(2, 1), lines(1, 5))
	f.close(t, s)
	same(t, "removed", remove(t, s, listed(t, s)...), 2)
	same(t, "the small one", look(t, s, small), missing)
	same(t, "the large one", look(t, s, f), missing)
	again := newFlow(2)
	mustAppend(t, s, again.started())
	same(t, "its name, used again", look(t, s, again).Head, history.Seq(1))
}

func removedOnce(t *testing.T, s Store) {
	for n := range 40 {
		closed(t, s, n+1)
	}
	all := listed(t, s)
	counts := make([]int, 4)
	for _, err := range together(len(counts), func(n int) (err error) {
		counts[n], err = s.RemoveClosed(t.Context(), all)
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	same(t, "removed", total, len(all))
	same(t, "what is left", listed(t, s), []ports.ClosedWorkflow(nil))
}
