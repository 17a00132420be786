package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

func copyWorker(w worker.Worker) worker.Worker {
	w.RegisteredAt, w.SeenAt = stored(w.RegisteredAt), stored(w.SeenAt)
	w.Namespaces, w.Actions = slices.Clone(w.Namespaces), slices.Clone(w.Actions)
	for i, a := range w.Actions {
		w.Actions[i].InputSchema, w.Actions[i].OutputSchema = bytes.Clone(a.InputSchema), bytes.Clone(a.OutputSchema)
	}
	return w
}

func copyLease(l history.Lease) history.Lease {
	l.GrantedAt, l.Until, l.Deadline, l.RetryAt = stored(l.GrantedAt), stored(l.Until), stored(l.Deadline), stored(l.RetryAt)
	return l
}

// PutWorker implements ports.WorkerStore.
func (s *Store) PutWorker(_ context.Context, w worker.Worker) (worker.Worker, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := true
	for _, old := range s.workers {
		if old.Owner == w.Owner && old.InstanceID == w.InstanceID {
			w.ID, w.RegisteredAt, fresh = old.ID, old.RegisteredAt, false
		}
	}
	w = copyWorker(w)
	w.Draining = false
	s.workers[w.ID] = w
	return copyWorker(w), fresh, nil
}

// Worker implements ports.WorkerStore.
func (s *Store) Worker(_ context.Context, id string) (worker.Worker, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, ok := s.workers[id]
	if !ok {
		return worker.Worker{}, worker.NotFound(id)
	}
	return copyWorker(w), nil
}

// Workers implements ports.WorkerStore.
func (s *Store) Workers(_ context.Context, queue string, seen time.Time) ([]worker.Worker, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []worker.Worker
	for _, w := range s.workers {
		if (queue == "" || w.TaskQueue == queue) && !w.SeenAt.Before(stored(seen)) {
			found = append(found, copyWorker(w))
		}
	}
	slices.SortFunc(found, ports.NewestWorker)
	return found, nil
}

// SeenWorkers implements ports.WorkerStore.
func (s *Store) SeenWorkers(_ context.Context, ids []string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if w, ok := s.workers[id]; ok && w.SeenAt.Before(stored(at)) {
			w.SeenAt = stored(at)
			s.workers[id] = w
		}
	}
	return nil
}

// DrainWorker implements ports.WorkerStore.
func (s *Store) DrainWorker(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.workers[id]; ok {
		w.Draining = true
		s.workers[id] = w
	}
	return nil
}

// ForgetWorkers implements ports.WorkerStore.
func (s *Store) ForgetWorkers(_ context.Context, id string, before time.Time, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []worker.Worker
	for _, w := range s.workers {
		if id == "" && w.SeenAt.Before(stored(before)) || id != "" && w.ID == id {
			old = append(old, w)
		}
	}
	slices.SortFunc(old, func(a, b worker.Worker) int { return a.SeenAt.Compare(b.SeenAt) })
	if id == "" {
		old = old[:min(len(old), max(limit, 0))]
	}
	for _, w := range old {
		delete(s.workers, w.ID)
	}
	return len(old), nil
}

// selectLeases gives the wanted leases in an order.
func (s *Store) selectLeases(wanted func(history.Lease) bool, by func(a, b history.Lease) int) []history.Lease {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []history.Lease
	for _, l := range s.leases {
		if wanted(l) {
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b history.Lease) int { return cmp.Or(by(a, b), cmp.Compare(a.Hash, b.Hash)) })
	return found
}

// Leases implements ports.LeaseStore.
func (s *Store) Leases(_ context.Context, taskID string) ([]history.Lease, error) {
	return s.selectLeases(func(l history.Lease) bool { return l.TaskID == taskID },
		func(a, b history.Lease) int { return a.GrantedAt.Compare(b.GrantedAt) }), nil
}

// OpenLeases implements ports.LeaseStore.
func (s *Store) OpenLeases(_ context.Context, workerID string) ([]history.Lease, error) {
	return s.selectLeases(func(l history.Lease) bool {
		return l.State != history.LeaseEnded && (workerID == "" || l.WorkerID == workerID)
	}, func(a, b history.Lease) int { return cmp.Compare(a.WorkerID, b.WorkerID) }), nil
}

// LapsedLeases implements ports.LeaseStore.
func (s *Store) LapsedLeases(_ context.Context, at time.Time, limit int) ([]history.Lease, error) {
	found := s.selectLeases(func(l history.Lease) bool {
		return l.State == history.LeaseEnding || l.State == history.LeaseHeld && !l.Until.After(stored(at))
	}, func(a, b history.Lease) int { return a.Until.Compare(b.Until) })
	return found[:min(len(found), max(limit, 0))], nil
}

// bounded is the end of a lease that was asked for.
func bounded(l history.Lease, until time.Time) time.Time {
	if !l.Deadline.IsZero() && l.Deadline.Before(stored(until)) {
		return l.Deadline
	}
	return stored(until)
}

// ExtendLeases implements ports.LeaseStore.
func (s *Store) ExtendLeases(_ context.Context, hashes []string, until time.Time) ([]history.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var held []history.Lease
	for _, hash := range slices.Sorted(slices.Values(hashes)) {
		l, ok := s.leases[hash]
		if !ok || l.State != history.LeaseHeld {
			continue
		}
		if later := bounded(l, until); later.After(l.Until) {
			l.Until = later
		}
		s.leases[hash] = l
		held = append(held, l)
	}
	return held, nil
}

// RekeyLease implements ports.LeaseStore.
func (s *Store) RekeyLease(_ context.Context, hash, fresh string, until time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.leases[hash]
	if !ok || l.State != history.LeaseHeld {
		return false, nil
	}
	delete(s.leases, hash)
	l.Hash, l.Until = fresh, bounded(l, until)
	s.leases[fresh] = l
	return true, nil
}

// MoveLeases implements ports.LeaseStore.
func (s *Store) MoveLeases(_ context.Context, hashes []string, m ports.LeaseMove) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var moved []string
	for _, hash := range slices.Sorted(slices.Values(hashes)) {
		l, ok := s.leases[hash]
		if !ok || l.State != m.From || !m.Lapsed.IsZero() && l.Until.After(stored(m.Lapsed)) {
			continue
		}
		l.State, l.End = m.To, m.End
		if !m.Until.IsZero() {
			l.Until = stored(m.Until)
		}
		s.leases[hash] = l
		moved = append(moved, hash)
	}
	return moved, nil
}

// Backlogs implements ports.BacklogStore.
func (s *Store) Backlogs(_ context.Context, queue string, now time.Time) ([]ports.Backlog, error) {
	var found []ports.Backlog
	for _, t := range s.selectTasks(func(t history.Task) bool { return dueAt(t, now) && (queue == "" || t.TaskQueue == queue) }) {
		since := t.ScheduledAt
		if t.NotBefore.After(since) {
			since = t.NotBefore
		}
		b := ports.Backlog{Namespace: t.Namespace, TaskQueue: t.TaskQueue, Name: t.Name, PackageVersion: t.PackageVersion, Oldest: since}
		i, known := slices.BinarySearchFunc(found, b, ports.CompareBacklogs)
		if !known {
			found = slices.Insert(found, i, b)
		}
		found[i].Tasks++
		if since.Before(found[i].Oldest) {
			found[i].Oldest = since
		}
	}
	return found, nil
}

// WaitingTasks implements ports.BacklogStore.
func (s *Store) WaitingTasks(_ context.Context, of ports.Backlog, now time.Time, limit int) ([]history.Task, error) {
	tasks := s.selectTasks(func(t history.Task) bool {
		return dueAt(t, now) && t.Namespace == of.Namespace && t.TaskQueue == of.TaskQueue && t.Name == of.Name && t.PackageVersion == of.PackageVersion
	})
	slices.SortFunc(tasks, func(a, b history.Task) int {
		return cmp.Or(a.ScheduledAt.Compare(b.ScheduledAt), compareKeys(a.Key, b.Key))
	})
	return tasks[:min(max(limit, 0), len(tasks))], nil
}

func dueAt(t history.Task, now time.Time) bool {
	return t.State == history.TaskParked || t.State == history.TaskQueued && !t.NotBefore.After(now)
}
