package fake

import (
	"context"
	"time"

	"aion/domain"
	"aion/ports"
)

// Closed implements ports.RetentionStore.
func (s *Store) Closed(ctx context.Context, ns domain.Namespace, by time.Time, after *ports.ClosedWorkflow, limit int) ([]ports.ClosedWorkflow, error) {
	return call(ctx, s, "Closed", func() ([]ports.ClosedWorkflow, error) { return s.next.Closed(ctx, ns, by, after, limit) })
}

// RemoveClosed implements ports.RetentionStore.
func (s *Store) RemoveClosed(ctx context.Context, workflows []ports.ClosedWorkflow) (int, error) {
	return call(ctx, s, "RemoveClosed", func() (int, error) { return s.next.RemoveClosed(ctx, workflows) })
}

// DropAudit implements ports.AuditRetention.
func (s *Store) DropAudit(ctx context.Context, chain string, first, last int64) error {
	return act(ctx, s, "DropAudit", func() error { return s.next.DropAudit(ctx, chain, first, last) })
}
