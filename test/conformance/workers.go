package conformance

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
	"aion/test/fake"
)

// Workers are the ports of remote workers with the ports that fill them.
type Workers interface {
	ports.EventStore
	ports.TaskStore
	ports.WorkerStore
	ports.LeaseStore
	ports.BacklogStore
}

// WorkerStores runs the suites of ports.WorkerStore, ports.LeaseStore and ports.BacklogStore.
func WorkerStores(t *testing.T, open func(testing.TB) Workers) {
	run(t, open, map[string]func(*testing.T, Workers){
		"a worker comes back whole, and once for an instance":  workerReturns,
		"workers are listed by queue and last call":            workersListed,
		"a worker drains, and is forgotten":                    workersGo,
		"a lease comes with its grant and ends with a verdict": leaseLives,
		"a refused grant leaves no lease":                      refusedLease,
		"a lease is extended while it is held":                 extendedLease,
		"lapsed leases come in the order of their end":         lapsedLeases,
		"a lease is moved or extended, never both":             movedLease,
		"what waits is told by action and version":             backlogs,
	})
}

func workerOf(n int) worker.Worker {
	at := start.Add(time.Duration(n) * time.Second)
	return worker.Worker{
		ID: fake.UUID(uint64(n)), Owner: "token:ada", InstanceID: fmt.Sprint("i", n), RegisteredAt: at, SeenAt: at,
		Settings: worker.Settings{
			Identity: "host/é", Namespaces: []domain.Namespace{"default", "team"}, TaskQueue: fmt.Sprint("q", n%2), Node: "gpu", PinnedOnly: true,
			MaxConcurrency: 4, SDK: "curl", Actions: []worker.Action{{Name: "make", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "test"}},
		},
	}
}

func putWorker(t *testing.T, s Workers, w worker.Worker) worker.Worker {
	t.Helper()
	stored, _, err := s.PutWorker(t.Context(), w)
	return must(t, stored, err)
}

func workerReturns(t *testing.T, s Workers) {
	w := workerOf(1)
	stored, fresh, err := s.PutWorker(t.Context(), w)
	same(t, "stored", must(t, stored, err), w)
	if !fresh {
		t.Error("a new worker is not fresh")
	}
	got, err := s.Worker(t.Context(), w.ID)
	same(t, "read", must(t, got, err), w)
	_, err = s.Worker(t.Context(), "never")
	wantCode(t, err, domain.CodeNotFound, "WorkerNotFound")

	if err := s.DrainWorker(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	again := workerOf(2)
	again.InstanceID, again.TaskQueue, again.Node = w.InstanceID, "elsewhere", ""
	stored, fresh, err = s.PutWorker(t.Context(), again)
	again.ID, again.RegisteredAt = w.ID, w.RegisteredAt
	same(t, "replaced", must(t, stored, err), again)
	if fresh {
		t.Error("a known instance is fresh")
	}
	got, err = s.Worker(t.Context(), w.ID)
	same(t, "read again", must(t, got, err), again)
	other := workerOf(3)
	other.InstanceID, other.Owner = w.InstanceID, "token:bob"
	same(t, "of another owner", putWorker(t, s, other), other)
}

func workersListed(t *testing.T, s Workers) {
	var all []worker.Worker
	for n := range 4 {
		all = append(all, putWorker(t, s, workerOf(n)))
	}
	list := func(queue string, seen time.Time) []worker.Worker {
		t.Helper()
		found, err := s.Workers(t.Context(), queue, seen)
		return must(t, found, err)
	}
	same(t, "all", list("", past), []worker.Worker{all[3], all[2], all[1], all[0]})
	same(t, "of a queue", list("q0", past), []worker.Worker{all[2], all[0]})
	same(t, "seen since", list("", all[2].SeenAt), []worker.Worker{all[3], all[2]})
	same(t, "of a queue, seen since", list("q1", all[2].SeenAt), []worker.Worker{all[3]})
	late := start.Add(time.Hour)
	if err := s.SeenWorkers(t.Context(), []string{all[0].ID, "never"}, late); err != nil {
		t.Fatal(err)
	}
	if err := s.SeenWorkers(t.Context(), []string{all[0].ID}, start); err != nil { // the later call stays
		t.Fatal(err)
	}
	all[0].SeenAt = late
	same(t, "after a call", list("", late), []worker.Worker{all[0]})
}

func workersGo(t *testing.T, s Workers) {
	var all []worker.Worker
	for n := range 4 {
		all = append(all, putWorker(t, s, workerOf(n)))
	}
	for _, id := range []string{all[3].ID, "never"} {
		if err := s.DrainWorker(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	all[3].Draining = true
	forget := func(id string, before time.Time, limit, want int) {
		t.Helper()
		n, err := s.ForgetWorkers(t.Context(), id, before, limit)
		same(t, "removed", must(t, n, err), want)
	}
	forget("never", time.Time{}, 0, 0)
	forget(all[0].ID, time.Time{}, 0, 1)
	forget("", all[1].SeenAt, 10, 0)
	forget("", never, 1, 1) // the one that was seen first
	found, err := s.Workers(t.Context(), "", past)
	same(t, "left", must(t, found, err), []worker.Worker{all[3], all[2]})
}

// leaseOf is a lease of a started task.
func (f *flow) leaseOf(n int, activity int64) history.Lease {
	return history.Lease{
		Hash: hash(n), TaskID: fake.UUID(uint64(9000 + activity)), WorkerID: "w1", PollID: "p1", Server: "server-1", Namespace: namespace,
		Key: f.key(activity, 1), Token: 4, GrantedAt: start.Add(time.Duration(n) * time.Second), Until: start.Add(time.Duration(30+n) * time.Second),
		State: history.LeaseHeld,
	}
}

func withLeases(t *testing.T, s Workers, f *flow, leases ...history.Lease) {
	t.Helper()
	c := f.started()
	for _, l := range leases {
		c.Acts = append(c.Acts, history.TaskAdded{Task: f.task(l.Key.ActivityID, history.TaskStarted)}, history.LeaseTaken{Lease: l})
	}
	mustAppend(t, s, c)
}

func leasesOf(t *testing.T, s Workers, task string) []history.Lease {
	t.Helper()
	found, err := s.Leases(t.Context(), task)
	return must(t, found, err)
}

func openLeases(t *testing.T, s Workers, id string) []history.Lease {
	t.Helper()
	found, err := s.OpenLeases(t.Context(), id)
	return must(t, found, err)
}

func leaseLives(t *testing.T, s Workers) {
	f := newFlow(1)
	first, second, other := f.leaseOf(1, 0), f.leaseOf(2, 1), f.leaseOf(3, 2)
	first.Deadline = start.Add(time.Minute)
	other.WorkerID = "w2"
	withLeases(t, s, f, first, second, other)
	same(t, "by task", leasesOf(t, s, first.TaskID), []history.Lease{first})
	same(t, "of an unknown task", leasesOf(t, s, "never"), []history.Lease(nil))
	same(t, "open", openLeases(t, s, ""), []history.Lease{first, second, other})
	same(t, "of a worker", openLeases(t, s, "w2"), []history.Lease{other})

	over := history.LeaseOver{Hash: first.Hash, End: history.LeaseSettled, Verdict: "digest", RetryAt: start.Add(time.Hour)}
	end := f.acting(history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: 0}, over)
	end.Claims = []history.Claim{first.Claim()}
	mustAppend(t, s, end)
	first.State, first.End, first.Verdict, first.RetryAt = history.LeaseEnded, over.End, over.Verdict, over.RetryAt
	same(t, "settled", leasesOf(t, s, first.TaskID), []history.Lease{first})
	same(t, "open after the verdict", openLeases(t, s, "w1"), []history.Lease{second})

	held, err := s.RekeyLease(t.Context(), second.Hash, hash(7), start.Add(time.Hour))
	if !must(t, held, err) {
		t.Error("a held lease takes no other token")
	}
	second.Hash, second.Until = hash(7), start.Add(time.Hour)
	same(t, "with another token", leasesOf(t, s, second.TaskID), []history.Lease{second})
	for _, stale := range []string{hash(2), first.Hash, "never"} {
		if held, err := s.RekeyLease(t.Context(), stale, hash(8), never); must(t, held, err) {
			t.Errorf("%s takes another token", stale)
		}
	}
}

func refusedLease(t *testing.T, s Workers) {
	f := newFlow(1)
	withLeases(t, s, f, f.leaseOf(1, 0))
	c := f.acting(history.LeaseTaken{Lease: f.leaseOf(2, 1)}, history.LeaseOver{Hash: hash(1), End: history.LeaseSettled})
	c.Claims = []history.Claim{{Key: f.key(0, 1), Token: 99}}
	wantCode(t, appendOne(t.Context(), s, c), domain.CodeSequenceConflict, "ClaimLost")
	same(t, "open", openLeases(t, s, ""), []history.Lease{f.leaseOf(1, 0)})
}

func extendedLease(t *testing.T, s Workers) {
	f := newFlow(1)
	free, bound, ended := f.leaseOf(1, 0), f.leaseOf(2, 1), f.leaseOf(3, 2)
	bound.Deadline = start.Add(time.Minute)
	withLeases(t, s, f, free, bound, ended)
	moved, err := s.MoveLeases(t.Context(), []string{ended.Hash}, ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnding, End: history.LeaseExpired})
	same(t, "moved", must(t, moved, err), []string{ended.Hash})
	until := start.Add(time.Hour)
	held, err := s.ExtendLeases(t.Context(), []string{ended.Hash, bound.Hash, free.Hash, "never"}, until)
	free.Until, bound.Until = until, bound.Deadline
	same(t, "held", must(t, held, err), []history.Lease{free, bound})
	held, err = s.ExtendLeases(t.Context(), []string{free.Hash}, start)
	same(t, "to an earlier end", must(t, held, err), []history.Lease{free})
	same(t, "free", leasesOf(t, s, free.TaskID), []history.Lease{free})
	same(t, "bound", leasesOf(t, s, bound.TaskID), []history.Lease{bound})
	held, err = s.ExtendLeases(t.Context(), nil, until)
	same(t, "none", must(t, held, err), []history.Lease(nil))
}

func lapsedLeases(t *testing.T, s Workers) {
	f := newFlow(1)
	first, second, third := f.leaseOf(1, 0), f.leaseOf(2, 1), f.leaseOf(3, 2)
	withLeases(t, s, f, third, first, second)
	lapsed := func(at time.Time, limit int) []history.Lease {
		t.Helper()
		found, err := s.LapsedLeases(t.Context(), at, limit)
		return must(t, found, err)
	}
	same(t, "before any end", lapsed(start, 10), []history.Lease(nil))
	same(t, "at the first end", lapsed(first.Until, 10), []history.Lease{first})
	same(t, "at last", lapsed(never, 10), []history.Lease{first, second, third})
	same(t, "two", lapsed(never, 2), []history.Lease{first, second})
	move := func(hash string, m ports.LeaseMove) {
		t.Helper()
		moved, err := s.MoveLeases(t.Context(), []string{hash}, m)
		same(t, "moved", must(t, moved, err), []string{hash})
	}
	move(third.Hash, ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnding, End: history.LeaseWorkerGone})
	third.State, third.End = history.LeaseEnding, history.LeaseWorkerGone
	same(t, "one that is ending, whatever its end", lapsed(start, 10), []history.Lease{third})
	move(third.Hash, ports.LeaseMove{From: history.LeaseEnding, To: history.LeaseEnded, End: history.LeaseWorkerGone})
	same(t, "after it has ended", lapsed(never, 10), []history.Lease{first, second})
}

// A lease that is extended just when it lapses is extended or fenced.
func movedLease(t *testing.T, s Workers) {
	f := newFlow(1)
	l := f.leaseOf(1, 0)
	withLeases(t, s, f, l)
	fence := ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnding, End: history.LeaseExpired, Lapsed: l.Until.Add(-time.Microsecond)}
	moved, err := s.MoveLeases(t.Context(), []string{l.Hash, "never"}, fence)
	same(t, "before its end", must(t, moved, err), []string(nil))
	fence.Lapsed = l.Until
	var wait sync.WaitGroup
	var extended, fenced int
	wait.Go(func() {
		held, err := s.ExtendLeases(t.Context(), []string{l.Hash}, never)
		extended = len(held)
		if err != nil {
			t.Error(err)
		}
	})
	wait.Go(func() {
		moved, err := s.MoveLeases(t.Context(), []string{l.Hash}, fence)
		fenced = len(moved)
		if err != nil {
			t.Error(err)
		}
	})
	wait.Wait()
	if extended+fenced != 1 {
		t.Errorf("extended %d times and fenced %d times", extended, fenced)
	}
	m := ports.LeaseMove{From: leasesOf(t, s, l.TaskID)[0].State, To: history.LeaseEnded, End: history.LeaseRunClosed, Until: start.Add(time.Hour)}
	moved, err = s.MoveLeases(t.Context(), []string{l.Hash}, m)
	same(t, "ended", must(t, moved, err), []string{l.Hash})
	got := leasesOf(t, s, l.TaskID)[0]
	if got.State != m.To || got.End != m.End || !got.Until.Equal(m.Until) {
		t.Errorf("%+v", got)
	}
}

func backlogs(t *testing.T, s Workers) {
	f, g := newFlow(1), newFlow(2)
	old, young, later, started, parked, newer := f.task(0, history.TaskQueued), f.task(1, history.TaskQueued), f.task(2, history.TaskQueued),
		f.task(3, history.TaskStarted), g.task(4, history.TaskParked), g.task(5, history.TaskQueued)
	later.NotBefore = start.Add(time.Minute)
	parked.NotBefore = time.Time{}
	parked.TaskQueue, parked.Namespace = "aa", "team"
	newer.PackageVersion = hash(2)
	withTasks(t, s, f, young, later, old, started)
	withTasks(t, s, g, parked, newer)
	of := func(t history.Task, n int64) ports.Backlog {
		return ports.Backlog{Namespace: t.Namespace, TaskQueue: t.TaskQueue, Name: t.Name, PackageVersion: t.PackageVersion, Tasks: n, Oldest: t.ScheduledAt}
	}
	list := func(queue string, now time.Time) []ports.Backlog {
		t.Helper()
		found, err := s.Backlogs(t.Context(), queue, now)
		return must(t, found, err)
	}
	same(t, "all", list("", start), []ports.Backlog{of(old, 2), of(newer, 1), of(parked, 1)})
	same(t, "with the retry", list("shell", later.NotBefore), []ports.Backlog{of(old, 3), of(newer, 1)})
	same(t, "of a queue", list("aa", start), []ports.Backlog{of(parked, 1)})
	same(t, "of no queue", list("never", start), []ports.Backlog(nil))
	waiting := func(b ports.Backlog, now time.Time, limit int) []history.Task {
		t.Helper()
		found, err := s.WaitingTasks(t.Context(), b, now, limit)
		return must(t, found, err)
	}
	same(t, "waiting", waiting(of(old, 0), start, 10), []history.Task{old, young})
	same(t, "waiting later", waiting(of(old, 0), later.NotBefore, 10), []history.Task{old, young, later})
	same(t, "the first", waiting(of(old, 0), start, 1), []history.Task{old})
	same(t, "of another version", waiting(of(newer, 0), start, 10), []history.Task{newer})
	same(t, "parked", waiting(of(parked, 0), start, 10), []history.Task{parked})
	same(t, "none asked", waiting(of(old, 0), start, 0), []history.Task(nil))
}
