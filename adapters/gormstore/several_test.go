package gormstore_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
	"aion/test/postgres"
)

// several gives stores of one database, as servers have them.
func several(t *testing.T, names ...string) []*gormstore.Store {
	t.Helper()
	dsn := postgres.Database(t)
	var stores []*gormstore.Store
	for _, name := range names {
		o := postgresOptions(t, dsn)
		o.Instance = name
		stores = append(stores, mustOpenPostgres(t, o))
	}
	return stores
}

// crowd runs f n times on each store, all at the same time, and gives what they answer.
func crowd(stores []*gormstore.Store, n int, f func(s *gormstore.Store, i int) error) []error {
	errs := make([]error, n*len(stores))
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() { errs[i] = f(stores[i%len(stores)], i) })
	}
	done.Wait()
	return errs
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestServersAppendToOneWorkflowOneAtATime(t *testing.T) { // engine 20
	t.Parallel()
	stores := several(t, "one", "two")
	id, run := workflowID(1), runID(1)
	const steps = 5
	won := map[history.Seq]int{}
	var mu sync.Mutex
	noErrors(t, crowd(stores, 8, func(s *gormstore.Store, _ int) error {
		for mine := 0; mine < steps; {
			head, err := s.Head(t.Context(), id)
			if err != nil {
				return err
			}
			c := history.Commit{Namespace: "default", WorkflowID: id, ExpectedSeq: head, Events: []history.Recorded{
				history.Record(head+1, fake.Epoch, id, run, history.StepEntered{Step: "s", Visit: head}),
			}}
			switch err := s.Append(t.Context(), oneOf(c))[0]; {
			case err == nil:
				mine++
				mu.Lock()
				won[head+1]++
				mu.Unlock()
			case domain.CodeOf(err) != domain.CodeSequenceConflict:
				return err
			}
		}
		return nil
	}))
	events, err := stores[0].History(t.Context(), id, 1, 1000)
	if err != nil || len(events) != 16*steps || len(won) != 16*steps {
		t.Fatalf("%d events, %d won, %v", len(events), len(won), err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 || won[e.Seq] != 1 {
			t.Errorf("event %d at place %d was won %d times", e.Seq, i+1, won[e.Seq])
		}
	}
}

func oneOf(c history.Commit) []history.Commit { return []history.Commit{c} }

// start is the first commit of a workflow, with a key.
func start(n int, key, waits string) history.Commit {
	id, run := workflowID(n), runID(n)
	return history.Commit{
		Namespace: "default", WorkflowID: id, Events: []history.Recorded{history.Record(1, fake.Epoch, id, run, history.StepEntered{Step: "s"})},
		Started: &history.Idempotency{Scope: "default", Key: key, WorkflowID: id, RunID: run, ExpiresAt: fake.Epoch.Add(time.Hour), Task: waits},
	}
}

func TestServersStartOneWorkflowForOneKey(t *testing.T) { // engine 7
	t.Parallel()
	stores := several(t, "one", "two")
	for _, key := range []string{"fresh", "dead"} {
		if key == "dead" {
			c := start(900, key, "")
			c.Started.ExpiresAt = fake.Epoch.Add(-time.Hour)
			noErrors(t, stores[0].Append(t.Context(), oneOf(c)))
		}
		var won atomic.Int64
		errs := crowd(stores, 10, func(s *gormstore.Store, i int) error {
			err := s.Append(t.Context(), oneOf(start(100+i, key, "")))[0]
			if err == nil {
				won.Add(1)
			} else if domain.CodeOf(err) != domain.CodeIdempotencyConflict {
				return err
			}
			return nil
		})
		noErrors(t, errs)
		k, err := stores[1].Idempotent(t.Context(), "default", key)
		if err != nil || won.Load() != 1 {
			t.Fatalf("%s: %d workflows were started, %v", key, won.Load(), err)
		}
		for i := range errs {
			head, err := stores[0].Head(t.Context(), workflowID(100+i))
			if started := workflowID(100+i) == k.WorkflowID; err != nil || started != (head == 1) {
				t.Errorf("%s: workflow %d has head %d, started: %v, %v", key, i, head, started, err)
			}
		}
		noErrors(t, crowd(stores[:1], 1, func(s *gormstore.Store, _ int) error { // whoever reads it next finds the winner, whole
			events, err := s.History(t.Context(), k.WorkflowID, 1, 10)
			if len(events) != 1 {
				err = errors.Join(err, fmt.Errorf("%d events", len(events)))
			}
			return err
		}))
		if key == "fresh" {
			clear100(t, stores[0])
		}
	}
}

// Dead keys go with the renewals of a lease, so that the table holds little more than the live ones.
func TestDeadKeysGoOnPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	s := mustOpenPostgres(t, postgresOptions(t, dsn))
	for n := range 10 {
		var group []history.Commit
		for i := range 40 {
			c := start(1000*n+i, fmt.Sprint(n, "-", i), "")
			c.Started.ExpiresAt = fake.Epoch.Add(-time.Second)
			group = append(group, c)
		}
		noErrors(t, s.Append(t.Context(), group))
	}
	noErrors(t, s.Append(t.Context(), oneOf(start(99, "live", ""))))
	if _, err := s.RenewReplica(t.Context(), ports.Replica{ID: "one"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, connect(t, dsn), `SELECT count(*) FROM idempotency_keys`); n != 1 {
		t.Errorf("%d keys are left of 400 dead ones and a live one", n)
	}
	if _, err := s.Idempotent(t.Context(), "default", "live"); err != nil {
		t.Error(err)
	}
}

// clear100 lets the workflows of a round be started again.
func clear100(t *testing.T, s *gormstore.Store) {
	t.Helper()
	if err := s.Write(t.Context(), `DELETE FROM workflows; DELETE FROM events`); err != nil {
		t.Fatal(err)
	}
}

// Groups whose workflows, keys and tasks cross each other end, each as if it were alone.
func TestServersWithCrossedGroupsDoNotHoldEachOtherUp(t *testing.T) {
	t.Parallel()
	stores := several(t, "one", "two")
	heads := make([]atomic.Int64, 6)
	noErrors(t, crowd(stores, 4, func(s *gormstore.Store, who int) error {
		for round := range 12 {
			var group []history.Commit
			for i := range heads {
				n := i
				if who%2 == 0 {
					n = len(heads) - 1 - i
				}
				head, err := s.Head(t.Context(), workflowID(n))
				if err != nil {
					return err
				}
				c := start(n, fmt.Sprint("k", (n+who+round)%7), "")
				c.ExpectedSeq, c.Events[0].Seq = head, head+1
				c.Acts = []history.Act{history.TimerSet{Timer: history.Timer{WorkflowID: c.WorkflowID, RunID: runID(n), TimerID: 1, FireAt: fake.Epoch}}}
				c.Started.ExpiresAt = fake.Epoch.Add(-time.Second) // so that keys are taken again and again
				group = append(group, c)
			}
			for i, err := range s.Append(t.Context(), group) {
				switch domain.CodeOf(err) {
				case domain.CodeSequenceConflict, domain.CodeIdempotencyConflict:
				default:
					if err != nil {
						return err
					}
					n, _ := slices.BinarySearch(ids(len(heads)), group[i].WorkflowID)
					heads[n].Add(1)
				}
			}
		}
		return nil
	}))
	for n := range heads {
		events, err := stores[0].History(t.Context(), workflowID(n), 1, 1000)
		head, err2 := stores[1].Head(t.Context(), workflowID(n))
		if err != nil || err2 != nil || int64(len(events)) != head || head != heads[n].Load() {
			t.Errorf("workflow %d: %d events, head %d, %d acknowledged; %v, %v", n, len(events), head, heads[n].Load(), err, err2)
		}
	}
}

func ids(n int) []domain.WorkflowID {
	var all []domain.WorkflowID
	for i := range n {
		all = append(all, workflowID(i))
	}
	return all
}
