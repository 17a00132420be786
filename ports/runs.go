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
	// List returns at most limit rows after the position, by (started_at, run_id) descending, or ascending by the filter.
	List(ctx context.Context, filter RunFilter, after *RunPosition, limit int) ([]history.RunRow, error)
	// Count counts what List would return without a limit.
	Count(ctx context.Context, filter RunFilter) (int64, error)
	// PinnedBy returns at most limit open runs that use a version, and the number of all of them.
	PinnedBy(ctx context.Context, version string, limit int) ([]history.RunRow, int64, error)
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
	EndedAfter     time.Time         // inclusive; an open run fits no bound of its end
	EndedBefore    time.Time         // exclusive
	Labels         map[string]string // all of them
	Prefix         string            // of the workflow id, the run id or the workflow type: letters, digits, - and _
	OldestFirst    bool              // turns the order of List round
}

// RunPosition is a place in the order of List.
type RunPosition struct {
	StartedAt time.Time
	RunID     domain.RunID
}
