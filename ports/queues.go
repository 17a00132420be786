package ports

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// ClaimStore keeps the claims of started tasks.
type ClaimStore interface {
	// Lapsed returns at most limit tasks in state started whose claim has ended at a time, the one that ended first in front.
	Lapsed(ctx context.Context, at time.Time, limit int) ([]history.Task, error)
	// Renew lets claims hold until a later time, whether they have ended or not, and returns those that are lost: their task
	// is gone, or not started with that attempt and token.
	Renew(ctx context.Context, claims []history.Claim, until time.Time) (lost []history.Claim, err error)
	// Lost returns the claims that Renew would return, and renews none.
	Lost(ctx context.Context, claims []history.Claim) ([]history.Claim, error)
}

// TaskStore reads and claims the tasks of open activities. Tasks come and go with commits (history.Act).
type TaskStore interface {
	ClaimStore
	// Due returns at most limit tasks in state queued or parked whose time has come, oldest scheduled first.
	Due(ctx context.Context, now time.Time, limit int) ([]history.Task, error)
	// Held returns the tasks in state started whose owner is one of owners; with no owners, all started ones.
	Held(ctx context.Context, owners ...string) ([]history.Task, error)
	// Open returns the tasks of one workflow by activity id.
	Open(ctx context.Context, id domain.WorkflowID) ([]history.Task, error)
	// Park marks the tasks of claims as parked: they are due at once, under their own attempt number. A claim that is lost
	// (see Renew) changes nothing.
	Park(ctx context.Context, claims []history.Claim) error
	// NextDue returns the time at which the earliest queued task comes due, which may long have passed; the zero time when
	// there is none.
	NextDue(ctx context.Context) (time.Time, error)
}

// QueueDepth is what waits in one task queue.
type QueueDepth struct {
	Namespace domain.Namespace
	TaskQueue string
	Tasks     int64
	Oldest    time.Time // when the task that waits longest could have begun
}

// QueueStore tells what waits.
type QueueStore interface {
	// Depths returns the task queues with tasks in state queued or parked whose time has come, by (namespace, task queue).
	Depths(ctx context.Context, now time.Time) ([]QueueDepth, error)
}

// Shards are parts of the workflows (domain.WorkflowID.Shard) that one of several servers looks after; nil: all of them.
// A store that one process has for itself is asked for all, and may take any other value for that.
type Shards []int

// TimerStore reads the open timers. Timers come and go with commits (history.Act).
type TimerStore interface {
	// DueTimers returns at most limit timers of the shards with fire_at at or before now, earliest first.
	DueTimers(ctx context.Context, of Shards, now time.Time, limit int) ([]history.Timer, error)
	// NextTimer returns the earliest fire_at of the shards; the zero time when there is none.
	NextTimer(ctx context.Context, of Shards) (time.Time, error)
}

// OutboxStore hands out what one workflow posted for another.
type OutboxStore interface {
	// Pending returns at most limit messages that workflows of the shards have posted, oldest first.
	Pending(ctx context.Context, of Shards, limit int) ([]history.Message, error)
	// Delivered removes messages; unknown ids are ignored.
	Delivered(ctx context.Context, ids []string) error
}
