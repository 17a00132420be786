package conformance

import (
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

// Tasks is the port of the suite TaskStore with the port that fills it.
type Tasks interface {
	ports.EventStore
	ports.TaskStore
	ports.QueueStore
}

// TaskStore runs the suite of ports.TaskStore.
func TaskStore(t *testing.T, open func(testing.TB) Tasks) {
	run(t, open, map[string]func(*testing.T, Tasks){
		"an empty store has nothing due":                  noTasks,
		"a task comes back whole":                         taskReturns,
		"tasks are due by time, oldest scheduled first":   dueTasks,
		"started tasks are held by their owner":           heldTasks,
		"moving changes attempt, state, owner and time":   movedTask,
		"ending takes the task away":                      endedTask,
		"closing a run takes its tasks, not others'":      closedRunTasks,
		"a run closed and reopened at once has new tasks": reopenedTasks,
		"a parked task is due under its own attempt":      parkedTasks,
		"a refused commit adds no task":                   refusedTask,
		"what waits is counted by task queue":             queueDepths,
		"a claim is renewed by who holds it":              renewedClaims,
		"a verdict with a stale claim is refused whole":   staleClaims,
		"claims that have ended are found in their order": lapsedClaims,
		"lost claims are told without renewing any":       lostClaims,
		"a parked task is taken up once":                  parkedClaims,
	})
}

// acting builds a commit without events that carries acts.
func (f *flow) acting(acts ...history.Act) history.Commit {
	return history.Commit{Namespace: namespace, WorkflowID: f.id, ExpectedSeq: f.head, Acts: acts}
}

func withTasks(t *testing.T, s ports.EventStore, f *flow, tasks ...history.Task) {
	t.Helper()
	c := f.started()
	for _, k := range tasks {
		c.Acts = append(c.Acts, history.TaskAdded{Task: k})
	}
	mustAppend(t, s, c)
}

func openTasks(t *testing.T, s ports.TaskStore, id domain.WorkflowID) []history.Task {
	t.Helper()
	tasks, err := s.Open(t.Context(), id)
	return must(t, tasks, err)
}

func due(t *testing.T, s ports.TaskStore, now time.Time, limit int) []history.Task {
	t.Helper()
	tasks, err := s.Due(t.Context(), now, limit)
	return must(t, tasks, err)
}

func reopenedTasks(t *testing.T, s Tasks) { // engine 10
	f := newFlow(1)
	withTasks(t, s, f, f.task(0, history.TaskQueued), f.task(1, history.TaskStarted))
	again := f.task(2, history.TaskQueued)
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}, history.TaskAdded{Task: again}))
	same(t, "open", openTasks(t, s, f.id), []history.Task{again})
	lost, err := s.Lost(t.Context(), []history.Claim{{Key: f.key(1, 1), Token: 4}})
	same(t, "lost", must(t, lost, err), []history.Claim{{Key: f.key(1, 1), Token: 4}})
}

func noTasks(t *testing.T, s Tasks) {
	same(t, "due", due(t, s, never, 10), []history.Task(nil))
	held, err := s.Held(t.Context())
	same(t, "held", must(t, held, err), []history.Task(nil))
	same(t, "open", openTasks(t, s, newFlow(1).id), []history.Task(nil))
	next, err := s.NextDue(t.Context())
	same(t, "next due", must(t, next, err), time.Time{})
	if err := s.Park(t.Context(), []history.Claim{{Key: newFlow(1).key(0, 1)}}); err != nil {
		t.Error(err)
	}
}

func taskReturns(t *testing.T, s Tasks) {
	f := newFlow(1)
	plain := f.task(0, history.TaskQueued)
	full := f.task(1, history.TaskStarted)
	parked := f.task(2, history.TaskParked)
	parked.NotBefore = time.Time{}
	laden := full // what it is run with is for whoever runs it at once, and is not kept
	laden.Node, laden.Input = "gpu", domain.Payload(`{"n":1}`)
	laden.Config = action.Config{TimeoutMS: 1500, Retry: &action.Retry{MaxAttempts: 4}}
	withTasks(t, s, f, plain, laden, parked)
	same(t, "open", openTasks(t, s, f.id), []history.Task{plain, full, parked})
	held, err := s.Held(t.Context())
	same(t, "held", must(t, held, err), []history.Task{full})
	same(t, "due", due(t, s, start, 10), []history.Task{plain, parked})
}

func queueDepths(t *testing.T, s Tasks) {
	depths := func(now time.Time) []ports.QueueDepth {
		d, err := s.Depths(t.Context(), now)
		return must(t, d, err)
	}
	same(t, "of an empty store", depths(never), []ports.QueueDepth(nil))
	f, g := newFlow(1), newFlow(2)
	first, second, later, started, parked := f.task(0, history.TaskQueued), f.task(1, history.TaskQueued), f.task(2, history.TaskQueued),
		f.task(3, history.TaskStarted), g.task(4, history.TaskParked)
	later.NotBefore = start.Add(time.Minute)
	second.TaskQueue, started.TaskQueue = "aa", "aa"
	parked.NotBefore = time.Time{}
	withTasks(t, s, f, first, second, later, started)
	withTasks(t, s, g, parked)
	want := []ports.QueueDepth{
		{Namespace: namespace, TaskQueue: "aa", Tasks: 1, Oldest: second.ScheduledAt},
		{Namespace: namespace, TaskQueue: first.TaskQueue, Tasks: 2, Oldest: first.ScheduledAt},
	}
	same(t, "those whose time has come", depths(start), want)
	want[1].Tasks++
	same(t, "with the retry", depths(later.NotBefore), want)
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}))
	want = []ports.QueueDepth{{Namespace: namespace, TaskQueue: parked.TaskQueue, Tasks: 1, Oldest: parked.ScheduledAt}}
	same(t, "after the end of a run", depths(later.NotBefore), want)
}

func dueTasks(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	old, young, later, started, parked := f.task(0, history.TaskQueued), f.task(5, history.TaskQueued), f.task(1, history.TaskQueued),
		f.task(2, history.TaskStarted), g.task(3, history.TaskParked)
	later.NotBefore = start.Add(time.Minute)
	parked.NotBefore = start.Add(time.Hour)
	withTasks(t, s, f, young, later, old, started)
	withTasks(t, s, g, parked)

	same(t, "before any time", due(t, s, start.Add(-time.Microsecond), 10), []history.Task{parked})
	same(t, "now", due(t, s, start, 10), []history.Task{old, parked, young})
	same(t, "limited", due(t, s, start, 2), []history.Task{old, parked})
	same(t, "nothing asked", due(t, s, start, 0), []history.Task(nil))
	same(t, "one moment before the retry", due(t, s, later.NotBefore.Add(-time.Microsecond), 10), []history.Task{old, parked, young})
	same(t, "at the retry", due(t, s, later.NotBefore, 10), []history.Task{old, later, parked, young})

	next, err := s.NextDue(t.Context())
	same(t, "next due", must(t, next, err), start)
	mustAppend(t, s, f.acting(history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: 0}, history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: 5}))
	next, err = s.NextDue(t.Context())
	same(t, "next due", must(t, next, err), later.NotBefore)

	atOnce := f.task(9, history.TaskQueued)
	atOnce.NotBefore = time.Time{}
	mustAppend(t, s, f.acting(history.TaskAdded{Task: atOnce}))
	if next, err = s.NextDue(t.Context()); must(t, next, err).IsZero() || next.After(start) {
		t.Errorf("a task without a due time is due at %v", next)
	}
}

func heldTasks(t *testing.T, s Tasks) { // engine 21
	f := newFlow(1)
	var all []history.Task
	for i := range 4 {
		k := f.task(int64(i), history.TaskStarted)
		k.Owner = fmt.Sprintf("server-%d", i%2)
		all = append(all, k)
	}
	withTasks(t, s, f, append(all, f.task(9, history.TaskQueued))...)
	for _, c := range []struct {
		owners []string
		want   []history.Task
	}{
		{nil, all}, {[]string{"server-0"}, []history.Task{all[0], all[2]}}, {[]string{"server-1", "server-0", "x"}, all}, {[]string{""}, nil},
	} {
		held, err := s.Held(t.Context(), c.owners...)
		same(t, fmt.Sprint("held by ", c.owners), must(t, held, err), c.want)
	}
}

func movedTask(t *testing.T, s Tasks) {
	f := newFlow(1)
	k := f.task(0, history.TaskStarted)
	withTasks(t, s, f, k, f.task(1, history.TaskQueued))
	at := start.Add(7 * time.Second)
	mustAppend(t, s, f.acting(history.TaskMoved{Key: f.key(0, 2), State: history.TaskQueued, NotBefore: at}))
	k.Key.Attempt, k.State, k.Owner, k.Token, k.ClaimUntil, k.NotBefore = 2, history.TaskQueued, "", 0, time.Time{}, at
	same(t, "open", openTasks(t, s, f.id), []history.Task{k, f.task(1, history.TaskQueued)})
	held, err := s.Held(t.Context())
	same(t, "held", must(t, held, err), []history.Task(nil))
	mustAppend(t, s, f.acting(history.TaskMoved{Key: f.key(0, 2), State: history.TaskStarted, Owner: "worker", NotBefore: at},
		history.TaskMoved{Key: f.key(77, 1), State: history.TaskStarted, Owner: "worker"})) // there is no such task: nothing changes
	k.State, k.Owner = history.TaskStarted, "worker"
	held, err = s.Held(t.Context(), "worker")
	same(t, "held", must(t, held, err), []history.Task{k})

	k.Name = "again"
	mustAppend(t, s, f.acting(history.TaskAdded{Task: k})) // adding once more replaces
	same(t, "open", openTasks(t, s, f.id), []history.Task{k, f.task(1, history.TaskQueued)})
}

func endedTask(t *testing.T, s Tasks) {
	f := newFlow(1)
	withTasks(t, s, f, f.task(0, history.TaskStarted), f.task(1, history.TaskQueued))
	end := history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: 0}
	mustAppend(t, s, f.acting(end, end))
	same(t, "open", openTasks(t, s, f.id), []history.Task{f.task(1, history.TaskQueued)})
}

func closedRunTasks(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	next := f.task(0, history.TaskQueued)
	next.Key.RunID = domain.RunID(id(5))
	withTasks(t, s, f, f.task(0, history.TaskStarted), f.task(1, history.TaskQueued), next)
	withTasks(t, s, g, g.task(0, history.TaskQueued))
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}))
	same(t, "open", openTasks(t, s, f.id), []history.Task{next})
	same(t, "open of another workflow", openTasks(t, s, g.id), []history.Task{g.task(0, history.TaskQueued)})
}

func parkedTasks(t *testing.T, s Tasks) { // report 53
	f := newFlow(1)
	k, queued, other := f.task(0, history.TaskStarted), f.task(1, history.TaskQueued), f.task(2, history.TaskStarted)
	queued.NotBefore = never
	withTasks(t, s, f, k, queued, other)
	claims := []history.Claim{
		{Key: k.Key, Token: k.Token},
		// Lost ones: somebody else has taken the attempt up again, or it is not the running one.
		{Key: other.Key, Token: other.Token - 1},
		{Key: other.Key},
		{Key: f.key(2, 7), Token: other.Token},
		{Key: f.key(77, 1), Token: 4},
		{Key: queued.Key},
	}
	if err := s.Park(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	k.State, k.Owner, k.Token, k.ClaimUntil = history.TaskParked, "", 0, time.Time{}
	same(t, "open", openTasks(t, s, f.id), []history.Task{k, queued, other})
	same(t, "due", due(t, s, past, 10), []history.Task{k})
}

func refusedTask(t *testing.T, s Tasks) {
	f := newFlow(1)
	withTasks(t, s, f)
	c := f.acting(history.TaskAdded{Task: f.task(0, history.TaskQueued)})
	c.ExpectedSeq = 9
	wantCode(t, appendOne(t.Context(), s, c), domain.CodeSequenceConflict, "SequenceConflict")
	same(t, "open", openTasks(t, s, f.id), []history.Task(nil))
}
