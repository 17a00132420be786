package ports

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// RetentionStore removes workflows that have closed. A workflow is needed, however old it is, while one of these holds: its
// parent or one of its children has not closed, one of its activities has an open task, an idempotency key that names it is
// alive, a message that it has posted is not delivered, or a working MCP task waits for it.
type RetentionStore interface {
	// Closed returns at most limit workflows of a namespace that closed at or before a time and that nothing needs, the one
	// that closed first in front; with after, those behind it.
	Closed(ctx context.Context, ns domain.Namespace, by time.Time, after *ClosedWorkflow, limit int) ([]ClosedWorkflow, error)
	// RemoveClosed removes workflows with all that belongs to them: runs, history, transcripts, timers, leases of
	// workers, idempotency keys. One
	// that has gone on since Closed gave it, or that something needs by now, stays whole. It says how many are gone. Nobody
	// ever reads a part of a workflow, and a large one is removed in pieces, so that other changes are not held up; what an
	// earlier call has left of one when it failed is removed first.
	RemoveClosed(ctx context.Context, workflows []ClosedWorkflow) (removed int, err error)
}

// ClosedWorkflow is a workflow that may be removed.
type ClosedWorkflow struct {
	ID       domain.WorkflowID
	ClosedAt time.Time
	Head     history.Seq
	Records  int64 // of its transcripts
}
