package fake

import (
	"context"
	"time"

	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// PutWorker implements ports.WorkerStore.
func (s *Store) PutWorker(ctx context.Context, w worker.Worker) (worker.Worker, bool, error) {
	got, err := call(ctx, s, "PutWorker", func() (p pair[worker.Worker, bool], err error) {
		p.a, p.b, err = s.next.PutWorker(ctx, w)
		return p, err
	})
	return got.a, got.b, err
}

// Worker implements ports.WorkerStore.
func (s *Store) Worker(ctx context.Context, id string) (worker.Worker, error) {
	return call(ctx, s, "Worker", func() (worker.Worker, error) { return s.next.Worker(ctx, id) })
}

// Workers implements ports.WorkerStore.
func (s *Store) Workers(ctx context.Context, queue string, seen time.Time) ([]worker.Worker, error) {
	return call(ctx, s, "Workers", func() ([]worker.Worker, error) { return s.next.Workers(ctx, queue, seen) })
}

// SeenWorkers implements ports.WorkerStore.
func (s *Store) SeenWorkers(ctx context.Context, ids []string, at time.Time) error {
	return act(ctx, s, "SeenWorkers", func() error { return s.next.SeenWorkers(ctx, ids, at) })
}

// DrainWorker implements ports.WorkerStore.
func (s *Store) DrainWorker(ctx context.Context, id string) error {
	return act(ctx, s, "DrainWorker", func() error { return s.next.DrainWorker(ctx, id) })
}

// ForgetWorkers implements ports.WorkerStore.
func (s *Store) ForgetWorkers(ctx context.Context, id string, before time.Time, limit int) (int, error) {
	return call(ctx, s, "ForgetWorkers", func() (int, error) { return s.next.ForgetWorkers(ctx, id, before, limit) })
}

// Leases implements ports.LeaseStore.
func (s *Store) Leases(ctx context.Context, taskID string) ([]history.Lease, error) {
	return call(ctx, s, "Leases", func() ([]history.Lease, error) { return s.next.Leases(ctx, taskID) })
}

// OpenLeases implements ports.LeaseStore.
func (s *Store) OpenLeases(ctx context.Context, workerID string) ([]history.Lease, error) {
	return call(ctx, s, "OpenLeases", func() ([]history.Lease, error) { return s.next.OpenLeases(ctx, workerID) })
}

// ExtendLeases implements ports.LeaseStore.
func (s *Store) ExtendLeases(ctx context.Context, hashes []string, until time.Time) ([]history.Lease, error) {
	return call(ctx, s, "ExtendLeases", func() ([]history.Lease, error) { return s.next.ExtendLeases(ctx, hashes, until) })
}

// RekeyLease implements ports.LeaseStore.
func (s *Store) RekeyLease(ctx context.Context, hash, fresh string, until time.Time) (bool, error) {
	return call(ctx, s, "RekeyLease", func() (bool, error) { return s.next.RekeyLease(ctx, hash, fresh, until) })
}

// LapsedLeases implements ports.LeaseStore.
func (s *Store) LapsedLeases(ctx context.Context, at time.Time, limit int) ([]history.Lease, error) {
	return call(ctx, s, "LapsedLeases", func() ([]history.Lease, error) { return s.next.LapsedLeases(ctx, at, limit) })
}

// MoveLeases implements ports.LeaseStore.
func (s *Store) MoveLeases(ctx context.Context, hashes []string, m ports.LeaseMove) ([]string, error) {
	return call(ctx, s, "MoveLeases", func() ([]string, error) { return s.next.MoveLeases(ctx, hashes, m) })
}

// Backlogs implements ports.BacklogStore.
func (s *Store) Backlogs(ctx context.Context, queue string, now time.Time) ([]ports.Backlog, error) {
	return call(ctx, s, "Backlogs", func() ([]ports.Backlog, error) { return s.next.Backlogs(ctx, queue, now) })
}

// WaitingTasks implements ports.BacklogStore.
func (s *Store) WaitingTasks(ctx context.Context, of ports.Backlog, now time.Time, limit int) ([]history.Task, error) {
	return call(ctx, s, "WaitingTasks", func() ([]history.Task, error) { return s.next.WaitingTasks(ctx, of, now, limit) })
}
