package ports

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// RunIndex reads the visibility projection.
type RunIndex interface {
	// Runs returns the runs of one workflow, oldest generation first; none when the workflow does not exist.
	Runs(ctx context.Context, id domain.WorkflowID) ([]history.RunRow, error)
	// RunsIn is Runs for a workflow of one namespace. A workflow of another one has none, and that is found out without
	// reading them: it takes the time of a workflow that does not exist.
	RunsIn(ctx context.Context, ns domain.Namespace, id domain.WorkflowID) ([]history.RunRow, error)
	// List returns at most limit runs after the position, in the order of the filter.
	List(ctx context.Context, filter RunFilter, after *RunPosition, limit int) ([]history.ListedRun, error)
	// Count counts what List would return without a limit, by status; a status that none has is not in it.
	Count(ctx context.Context, filter RunFilter) (map[history.Status]int64, error)
	// PinnedBy returns at most limit open runs that use a version, and the number of all of them: of some namespaces, or of
	// all when in is nil.
	PinnedBy(ctx context.Context, version string, in []domain.Namespace, limit int) ([]history.RunRow, int64, error)
}

// RunFilter selects runs. Zero members do not filter; Namespace is required.
type RunFilter struct {
	Namespace     domain.Namespace
	Status        history.Status
	WorkflowType  string
	StartedAfter  time.Time // inclusive
	StartedBefore time.Time // exclusive

	Statuses       []history.Status // one of them
	PackageVersion string
	Parent         domain.WorkflowID // whose children they are
	ScheduleID     string            // which schedule has started them
	EndedAfter     time.Time         // inclusive; an open run fits no bound of its end
	EndedBefore    time.Time         // exclusive
	Labels         map[string]string // all of them
	Prefix         string            // of the workflow id, the run id or the workflow type: letters, digits, - and _
	FailedSince    time.Time         // inclusive: failed or timed out then or later
	Order          RunOrder          // of List
}

// RunOrder is an order of runs.
type RunOrder int

// The orders. Only runs that have ended are in the last one.
const (
	NewestFirst    RunOrder = iota // by (started_at, run_id), descending
	OldestFirst                    // the same, ascending
	LastEndedFirst                 // by (ended_at, run_id), descending
)

// RunPosition is a place in an order of runs.
type RunPosition struct {
	At    time.Time // of the start, or of the end where that is the order
	RunID domain.RunID
}

// PositionOf is where a run stands in an order.
func PositionOf(row history.RunRow, order RunOrder) RunPosition {
	if order == LastEndedFirst {
		return RunPosition{At: row.EndedAt, RunID: row.RunID}
	}
	return RunPosition{At: row.StartedAt, RunID: row.RunID}
}
