package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

// Closed implements ports.RetentionStore.
func (s *Store) Closed(_ context.Context, ns domain.Namespace, by time.Time, after *ports.ClosedWorkflow, limit int) ([]ports.ClosedWorkflow, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []ports.ClosedWorkflow
	for id, w := range s.workflows {
		at := w.closedAt()
		if len(w.runs) == 0 || w.runs[0].Namespace != ns || at.IsZero() || at.After(by) || s.needed(id, w) {
			continue
		}
		found := ports.ClosedWorkflow{ID: id, ClosedAt: at, Head: w.head()}
		for key, t := range s.transcripts {
			if key.WorkflowID == id {
				found.Records += int64(len(t.records))
			}
		}
		if after == nil || closedFirst(*after, found) < 0 {
			list = append(list, found)
		}
	}
	slices.SortFunc(list, closedFirst)
	return list[:min(max(limit, 0), len(list))], nil
}

func closedFirst(a, b ports.ClosedWorkflow) int {
	return cmp.Or(a.ClosedAt.Compare(b.ClosedAt), cmp.Compare(a.ID, b.ID))
}

// closedAt is when the latest run ended; zero while it has not.
func (w *workflow) closedAt() time.Time {
	if w == nil || len(w.runs) == 0 {
		return time.Time{}
	}
	return w.runs[len(w.runs)-1].EndedAt
}

// needed reports whether something still needs a closed workflow.
func (s *Store) needed(id domain.WorkflowID, w *workflow) bool {
	now := s.clock.Now()
	alive := func(other domain.WorkflowID) bool {
		o := s.workflows[other]
		return o != nil && o.closedAt().IsZero()
	}
	key := func(k history.Idempotency) bool { return k.WorkflowID == id && k.ExpiresAt.After(now) }
	if len(s.tasks[id]) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(s.keys)), key) ||
		slices.ContainsFunc(w.runs, func(r history.RunRow) bool { return r.Parent != nil && alive(r.Parent.WorkflowID) }) ||
		slices.ContainsFunc(s.outbox, func(m history.Message) bool { return m.WorkflowID == id }) {
		return true
	}
	for _, k := range s.mcpTasks {
		if k.State == task.Working && k.WorkflowID == id {
			return true
		}
	}
	for other, o := range s.workflows {
		of := func(r history.RunRow) bool { return r.Parent != nil && r.Parent.WorkflowID == id }
		if alive(other) && slices.ContainsFunc(o.runs, of) {
			return true
		}
	}
	return false
}

// RemoveClosed implements ports.RetentionStore.
func (s *Store) RemoveClosed(ctx context.Context, workflows []ports.ClosedWorkflow) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	for _, c := range workflows {
		w := s.workflows[c.ID]
		if w == nil || w.head() != c.Head || w.closedAt().IsZero() || s.needed(c.ID, w) {
			continue
		}
		removed++
		delete(s.workflows, c.ID)
		delete(s.timers, c.ID)
		maps.DeleteFunc(s.keys, func(_ idempotencyKey, k history.Idempotency) bool { return k.WorkflowID == c.ID })
		maps.DeleteFunc(s.leases, func(_ string, l history.Lease) bool { return l.Key.WorkflowID == c.ID })
		maps.DeleteFunc(s.transcripts, func(k domain.AttemptKey, _ *stream) bool { return k.WorkflowID == c.ID })
	}
	return removed, nil
}

// DropAudit implements ports.AuditRetention.
func (s *Store) DropAudit(_ context.Context, chain string, first, last int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audit = slices.DeleteFunc(s.audit, func(r domain.AuditRecord) bool { return r.Chain == chain && r.Seq >= first && r.Seq <= last })
	return nil
}
