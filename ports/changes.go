package ports

import (
	"context"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// How long changes of runs are kept, and how many at most.
const (
	ChangesKept     = time.Hour
	MostChangesKept = 100_000
)

// ChangePosition is a place in the log of changes. Places are ordered, by Epoch and then N; the zero place is before all.
type ChangePosition struct{ Epoch, N int64 }

// Before reports whether a place comes before another one.
func (p ChangePosition) Before(q ChangePosition) bool {
	return p.Epoch < q.Epoch || p.Epoch == q.Epoch && p.N < q.N
}

// RunChange says that the row of a run was written. Run is how the run stands when it is read, which may be after later
// changes.
type RunChange struct {
	At  ChangePosition
	Run history.ListedRun
}

// ChangePage is what follows a place. A reader goes on from UpTo. Lost says that changes behind the place were dropped, or
// that the place is of another store: the reader must begin anew.
type ChangePage struct {
	Changes []RunChange
	UpTo    ChangePosition
	Lost    bool
}

// ChangeLog tells what has changed in the visibility projection. Each commit that writes the row of a run adds to it.
type ChangeLog interface {
	// RunChanges returns at most limit changes of a namespace that come after a place, in their order: each once, and none
	// appears later before one that was returned. Those that are older than ChangesKept, or beyond MostChangesKept, may be
	// gone. Without a place it returns that of the end, and no changes.
	RunChanges(ctx context.Context, ns domain.Namespace, after *ChangePosition, limit int) (ChangePage, error)
}

// Lasting is the part of a filter that a run fits or not for all its life: a reader of changes is told of the rest.
func (f RunFilter) Lasting(r history.RunRow) bool {
	for key, value := range f.Labels {
		if got, ok := r.Labels[key]; !ok || got != value {
			return false
		}
	}
	named := strings.HasPrefix(string(r.WorkflowID), f.Prefix) || strings.HasPrefix(string(r.RunID), f.Prefix) || strings.HasPrefix(r.WorkflowType, f.Prefix)
	return named && r.Namespace == f.Namespace &&
		(f.WorkflowType == "" || r.WorkflowType == f.WorkflowType) &&
		(f.StartedAfter.IsZero() || !r.StartedAt.Before(f.StartedAfter)) &&
		(f.StartedBefore.IsZero() || r.StartedAt.Before(f.StartedBefore)) &&
		(f.PackageVersion == "" || r.PackageVersion == f.PackageVersion) &&
		(f.Parent == "" || r.Parent != nil && r.Parent.WorkflowID == f.Parent)
}
