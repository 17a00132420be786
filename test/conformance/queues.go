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

// Timers is the port of the suite TimerStore with the port that fills it.
type Timers interface {
	ports.EventStore
	ports.TimerStore
}

// Outbox is the port of the suite OutboxStore with the port that fills it.
type Outbox interface {
	ports.EventStore
	ports.OutboxStore
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

func noTasks(t *testing.T, s Tasks) {
	same(t, "due", due(t, s, never, 10), []history.Task(nil))
	held, err := s.Held(t.Context())
	same(t, "held", must(t, held, err), []history.Task(nil))
	same(t, "open", openTasks(t, s, newFlow(1).id), []history.Task(nil))
	next, err := s.NextDue(t.Context())
	same(t, "next due", must(t, next, err), time.Time{})
	if err := s.Park(t.Context(), []domain.AttemptKey{newFlow(1).key(0, 1)}); err != nil {
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
	stale := f.key(2, 7) // not the running attempt
	if err := s.Park(t.Context(), []domain.AttemptKey{k.Key, queued.Key, stale}); err != nil {
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

// actions 5.4: also one that has ended holds, as long as nobody else took the task.
func renewedClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	held, other, queued, parked := f.task(0, history.TaskStarted), f.task(1, history.TaskStarted), f.task(2, history.TaskQueued), f.task(3, history.TaskStarted)
	held.ClaimUntil = past
	withTasks(t, s, f, held, other, queued, parked)
	if err := s.Park(t.Context(), []domain.AttemptKey{parked.Key}); err != nil {
		t.Fatal(err)
	}
	parked.State, parked.Owner, parked.Token, parked.ClaimUntil = history.TaskParked, "", 0, time.Time{}
	good := history.Claim{Key: held.Key, Token: held.Token}
	stale := []history.Claim{
		{Key: other.Key, Token: other.Token + 1},
		{Key: other.Key, Token: other.Token - 1},
		{Key: other.Key},
		{Key: f.key(1, 2), Token: other.Token},
		{Key: queued.Key},
		{Key: parked.Key, Token: 4},
		{Key: parked.Key},
		{Key: f.key(77, 1), Token: 4},
		{Key: newFlow(2).key(0, 1), Token: 4},
	}
	until := start.Add(time.Hour)
	lost, err := s.Renew(t.Context(), append([]history.Claim{good}, stale...), until)
	same(t, "lost", must(t, lost, err), stale)
	held.ClaimUntil = until
	same(t, "open", openTasks(t, s, f.id), []history.Task{held, other, queued, parked})
	lost, err = s.Renew(t.Context(), nil, until)
	same(t, "of none", must(t, lost, err), []history.Claim(nil))
}

// actions 5.4
func staleClaims(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	withTasks(t, s, f, f.task(0, history.TaskStarted), f.task(1, history.TaskStarted))
	withTasks(t, s, g, g.task(0, history.TaskStarted))
	before := openTasks(t, s, f.id)
	ends := func(f *flow, activity int64, claims ...history.Claim) history.Commit {
		c := f.acting(history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: activity})
		c.Claims = claims
		return c
	}
	good := history.Claim{Key: f.key(0, 1), Token: 4}
	for _, stale := range []history.Claim{
		{Key: f.key(0, 1), Token: 3}, {Key: f.key(0, 1), Token: 5}, {Key: f.key(0, 1)}, {Key: f.key(0, 2), Token: 4}, {Key: f.key(9, 1), Token: 4},
	} {
		wantCode(t, appendOne(t.Context(), s, ends(f, 0, stale)), domain.CodeSequenceConflict, "ClaimLost")
		wantCode(t, appendOne(t.Context(), s, ends(f, 0, good, stale)), domain.CodeSequenceConflict, "ClaimLost")
	}
	same(t, "after the refusals", openTasks(t, s, f.id), before)
	errs := s.Append(t.Context(), []history.Commit{ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 3}), ends(g, 0, history.Claim{Key: g.key(0, 1), Token: 4})})
	wantCode(t, errs[0], domain.CodeSequenceConflict, "ClaimLost")
	if errs[1] != nil {
		t.Errorf("the neighbour failed too: %v", errs[1])
	}
	// Whoever starts the task again has another token.
	mustAppend(t, s, f.acting(history.TaskMoved{Key: f.key(0, 1), State: history.TaskStarted, Owner: "server-2", Token: 9, ClaimUntil: start}))
	wantCode(t, appendOne(t.Context(), s, ends(f, 0, good)), domain.CodeSequenceConflict, "ClaimLost")
	mustAppend(t, s, ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 9}, history.Claim{Key: f.key(1, 1), Token: 4}))
	same(t, "after the verdict", openTasks(t, s, f.id), before[1:])
	wantCode(t, appendOne(t.Context(), s, ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 9})), domain.CodeSequenceConflict, "ClaimLost")
}

// actions 5.4
func lapsedClaims(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	first, second, third, queued := f.task(0, history.TaskStarted), g.task(0, history.TaskStarted), f.task(1, history.TaskStarted), f.task(2, history.TaskQueued)
	first.ClaimUntil, second.ClaimUntil, third.ClaimUntil = start.Add(time.Second), start.Add(2*time.Second), start.Add(3*time.Second)
	withTasks(t, s, f, third, queued, first)
	withTasks(t, s, g, second)
	for _, c := range []struct {
		at    time.Time
		limit int
		want  []history.Task
	}{
		{start, 10, nil},
		{first.ClaimUntil, 10, []history.Task{first}},
		{never, 10, []history.Task{first, second, third}},
		{never, 2, []history.Task{first, second}},
		{never, 0, nil},
	} {
		got, err := s.Lapsed(t.Context(), c.at, c.limit)
		same(t, fmt.Sprint("lapsed at ", c.at, ", limit ", c.limit), must(t, got, err), c.want)
	}
	lost, err := s.Renew(t.Context(), []history.Claim{{Key: first.Key, Token: first.Token}}, never)
	same(t, "lost", must(t, lost, err), []history.Claim(nil))
	if err := s.Park(t.Context(), []domain.AttemptKey{third.Key}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lapsed(t.Context(), start.Add(time.Hour), 10)
	same(t, "after a renewal and a drain", must(t, got, err), []history.Task{second})
}

// actions 5.4
func lostClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	held, parked, queued := f.task(0, history.TaskStarted), f.task(1, history.TaskParked), f.task(2, history.TaskQueued)
	held.ClaimUntil = past // as long as nobody else took it
	withTasks(t, s, f, held, parked, queued)
	stale := []history.Claim{
		{Key: held.Key, Token: held.Token + 1}, {Key: f.key(0, 2), Token: held.Token}, {Key: f.key(9, 1), Token: held.Token}, {Key: queued.Key, Token: 1},
	}
	lost, err := s.Lost(t.Context(), append([]history.Claim{{Key: held.Key, Token: held.Token}}, stale...))
	same(t, "lost", must(t, lost, err), stale)
	same(t, "open", openTasks(t, s, f.id), []history.Task{held, parked, queued})
	lost, err = s.Lost(t.Context(), nil)
	same(t, "of none", must(t, lost, err), []history.Claim(nil))
}

// actions 5.3: two servers that find a parked attempt do not both go on with it.
func parkedClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	parked, queued, started := f.task(0, history.TaskParked), f.task(1, history.TaskQueued), f.task(2, history.TaskStarted)
	withTasks(t, s, f, parked, queued, started)
	takes := func(key domain.AttemptKey, owner string) history.Commit {
		c := f.acting(history.TaskMoved{Key: key, State: history.TaskStarted, Owner: owner, Token: 7, ClaimUntil: never, NotBefore: start})
		c.Claims = []history.Claim{{Key: key}}
		return c
	}
	for _, key := range []domain.AttemptKey{queued.Key, started.Key, f.key(0, 2), f.key(9, 1)} {
		wantCode(t, appendOne(t.Context(), s, takes(key, "server-2")), domain.CodeSequenceConflict, "ClaimLost")
	}
	won := 0
	for _, err := range together(8, func(n int) error { return appendOne(t.Context(), s, takes(parked.Key, fmt.Sprint("server-", n))) }) {
		if err == nil {
			won++
		} else {
			wantCode(t, err, domain.CodeSequenceConflict, "ClaimLost")
		}
	}
	if won != 1 {
		t.Errorf("%d servers go on with one attempt", won)
	}
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

// OutboxStore runs the suite of ports.OutboxStore.
func OutboxStore(t *testing.T, open func(testing.TB) Outbox) {
	run(t, open, map[string]func(*testing.T, Outbox){
		"messages wait in the order of posting":              messagesInOrder,
		"a message is posted once while it waits":            messagePostedOnce,
		"closing a run leaves what it has posted":            closedRunMessages,
		"what is delivered is gone, unknown ids are ignored": deliveredMessages,
	})
}

func (f *flow) message(n int) history.Message {
	return history.Message{
		ID: fmt.Sprintf("%s:start_child:%d", f.run, n), Namespace: namespace, WorkflowID: f.id, Kind: "start_child",
		Body: domain.Payload(fmt.Sprintf("{\"n\": %d, \"b\": \"\\u0000\"}", n)),
	}
}

func post(t *testing.T, s ports.EventStore, f *flow, messages ...history.Message) {
	t.Helper()
	c := f.next(step(1))
	for _, m := range messages {
		c.Acts = append(c.Acts, history.Posted{Message: m})
	}
	mustAppend(t, s, c)
}

func pending(t *testing.T, s ports.OutboxStore, limit int) []history.Message {
	t.Helper()
	messages, err := s.Pending(t.Context(), nil, limit)
	return must(t, messages, err)
}

func messagesInOrder(t *testing.T, s Outbox) {
	f, g := newFlow(9), newFlow(1)
	post(t, s, f, f.message(5), f.message(1))
	post(t, s, g, g.message(0))
	empty := f.message(7)
	empty.Body = nil
	post(t, s, f, empty)
	same(t, "all", pending(t, s, 10), []history.Message{f.message(5), f.message(1), g.message(0), empty})
	same(t, "limited", pending(t, s, 2), []history.Message{f.message(5), f.message(1)})
	same(t, "none asked", pending(t, s, 0), []history.Message(nil))
}

func messagePostedOnce(t *testing.T, s Outbox) {
	f := newFlow(1)
	post(t, s, f, f.message(1))
	post(t, s, f, f.message(1), f.message(2))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(1), f.message(2)})
}

func closedRunMessages(t *testing.T, s Outbox) { // report 28
	f := newFlow(1)
	post(t, s, f, f.message(1))
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(1)})
}

func deliveredMessages(t *testing.T, s Outbox) {
	f := newFlow(1)
	post(t, s, f, f.message(1), f.message(2), f.message(3))
	if err := s.Delivered(t.Context(), []string{f.message(2).ID, "unknown", f.message(1).ID}); err != nil {
		t.Fatal(err)
	}
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(3)})
	post(t, s, f, f.message(4))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(3), f.message(4)})
}
