package ports

import (
	"cmp"
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/worker"
)

// WorkerStore keeps the registered workers.
type WorkerStore interface {
	// PutWorker stores a worker. One that its owner registered under the same instance id keeps its id and the time of its first
	// registration; fresh tells which. What is stored is returned.
	PutWorker(ctx context.Context, w worker.Worker) (stored worker.Worker, fresh bool, err error)
	// Worker returns a worker, or CodeNotFound (WorkerNotFound).
	Worker(ctx context.Context, id string) (worker.Worker, error)
	// Workers returns the workers of one task queue, or all when queue is empty, that were seen at or after a time, newest
	// registration first.
	Workers(ctx context.Context, queue string, seen time.Time) ([]worker.Worker, error)
	// SeenWorkers notes that workers made a call. Unknown ids are ignored, and the note of a later call stays.
	SeenWorkers(ctx context.Context, ids []string, at time.Time) error
	// DrainWorker notes that a worker takes no more tasks; an unknown one is ignored.
	DrainWorker(ctx context.Context, id string) error
	// ForgetWorkers removes a worker by id (any time of its last call), or with an empty id at most limit of those that
	// were last seen before a time. It tells how many there were.
	ForgetWorkers(ctx context.Context, id string, before time.Time, limit int) (int, error)
}

// LeaseStore keeps the leases of remote attempts. They come with the commit that grants them and end with the one that
// records a verdict (history.LeaseTaken, history.LeaseOver).
type LeaseStore interface {
	// Leases returns the leases of one attempt, ended ones too, by the time of their grant.
	Leases(ctx context.Context, taskID string) ([]history.Lease, error)
	// OpenLeases returns the leases that have not ended; of one worker unless it is empty.
	OpenLeases(ctx context.Context, workerID string) ([]history.Lease, error)
	// ExtendLeases moves the end of held leases to a later time, or to their deadline when that is earlier, and returns those
	// as they are then. One that lasts longer anyway stays as it is, and one that is not held is left out.
	ExtendLeases(ctx context.Context, hashes []string, until time.Time) ([]history.Lease, error)
	// RekeyLease gives a held lease of a poll another token and end; false: it is not held any more.
	RekeyLease(ctx context.Context, hash, fresh string, until time.Time) (held bool, err error)
	// LapsedLeases returns at most limit leases that are ending, or held until a time at the latest, the earliest end first.
	LapsedLeases(ctx context.Context, at time.Time, limit int) ([]history.Lease, error)
	// MoveLeases changes the state of leases that are in another one, and notes why. With lapsed at a time, only those are moved
	// whose end is not later; a zero time moves them all. It returns the hashes of those that it moved.
	MoveLeases(ctx context.Context, hashes []string, m LeaseMove) ([]string, error)
}

// LeaseMove is a change of the state of leases.
type LeaseMove struct {
	From, To history.LeaseState
	End      history.LeaseEnd
	Lapsed   time.Time // only those that end by then; zero: all
	Until    time.Time // their end from now on; zero: it stays
}

// Backlog is what waits of one action, as one version declares it.
type Backlog struct {
	Namespace      domain.Namespace
	TaskQueue      string
	Name           string
	PackageVersion string
	Tasks          int64
	Oldest         time.Time // when the task that waits longest could have begun
}

// BacklogStore tells what waits in task queues, and gives it out.
type BacklogStore interface {
	// Backlogs returns what waits in one task queue, or in all when queue is empty, by (namespace, task queue, action, version).
	Backlogs(ctx context.Context, queue string, now time.Time) ([]Backlog, error)
	// WaitingTasks returns at most limit tasks of a backlog whose time has come, oldest scheduled first.
	WaitingTasks(ctx context.Context, of Backlog, now time.Time, limit int) ([]history.Task, error)
}

// CompareBacklogs orders backlogs by (namespace, task queue, action, version).
func CompareBacklogs(a, b Backlog) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.TaskQueue, b.TaskQueue), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.PackageVersion, b.PackageVersion))
}

// NewestWorker orders workers by the time of their registration, the newest first.
func NewestWorker(a, b worker.Worker) int {
	return cmp.Or(b.RegisteredAt.Compare(a.RegisteredAt), cmp.Compare(a.ID, b.ID))
}
