package ports

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// TaskStore reads and claims the tasks of open activities. Tasks come and go with commits (history.Act).
type TaskStore interface {
	// Due returns at most limit tasks in state queued or parked whose time has come, oldest scheduled first.
	Due(ctx context.Context, now time.Time, limit int) ([]history.Task, error)
	// Held returns the tasks in state started whose owner is one of owners; with no owners, all started ones.
	Held(ctx context.Context, owners ...string) ([]history.Task, error)
	// Open returns the tasks of one workflow by activity id.
	Open(ctx context.Context, id domain.WorkflowID) ([]history.Task, error)
	// Park marks started tasks as parked: they are due at once, under their own attempt number. A key that is not started
	// under that attempt is left as it is.
	Park(ctx context.Context, keys []domain.AttemptKey) error
	// Renew lets claims hold until a later time, whether they have ended or not, and returns those that are lost: their task
	// is gone, or not started with that attempt and token.
	Renew(ctx context.Context, claims []history.Claim, until time.Time) (lost []history.Claim, err error)
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

// TimerStore reads the open timers. Timers come and go with commits (history.Act).
type TimerStore interface {
	// DueTimers returns at most limit timers with fire_at at or before now, earliest first.
	DueTimers(ctx context.Context, now time.Time, limit int) ([]history.Timer, error)
	// NextTimer returns the earliest fire_at; the zero time when there is none.
	NextTimer(ctx context.Context) (time.Time, error)
}

// OutboxStore hands out what one workflow posted for another.
type OutboxStore interface {
	// Pending returns at most limit messages, oldest first.
	Pending(ctx context.Context, limit int) ([]history.Message, error)
	// Delivered removes messages; unknown ids are ignored.
	Delivered(ctx context.Context, ids []string) error
}
