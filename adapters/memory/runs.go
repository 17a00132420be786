package memory

import (
	"context"
	"slices"
	"strings"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Runs implements ports.RunIndex.
func (s *Store) Runs(_ context.Context, id domain.WorkflowID) ([]history.RunRow, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w := s.workflows[id]
	if w == nil {
		return nil, nil
	}
	rows := make([]history.RunRow, len(w.runs))
	for i, r := range w.runs {
		rows[i] = copyRow(r)
	}
	return rows, nil
}

// RunsIn implements ports.RunIndex.
func (s *Store) RunsIn(ctx context.Context, ns domain.Namespace, id domain.WorkflowID) ([]history.RunRow, error) {
	s.mu.RLock()
	w := s.workflows[id]
	foreign := w != nil && len(w.runs) > 0 && w.runs[0].Namespace != ns
	s.mu.RUnlock()
	if foreign {
		return nil, nil
	}
	return s.Runs(ctx, id)
}

// List implements ports.RunIndex.
func (s *Store) List(_ context.Context, filter ports.RunFilter, after *ports.RunPosition, limit int) ([]history.RunRow, error) {
	rows := s.selectRuns(func(r history.RunRow) bool {
		if !matches(filter, r) {
			return false
		}
		if after == nil {
			return true
		}
		if filter.OldestFirst {
			return newerFirst(*after, positionOf(r)) > 0
		}
		return newerFirst(*after, positionOf(r)) < 0
	})
	if filter.OldestFirst {
		slices.Reverse(rows)
	}
	return rows[:min(max(limit, 0), len(rows))], nil
}

// Count implements ports.RunIndex.
func (s *Store) Count(_ context.Context, filter ports.RunFilter) (int64, error) {
	return int64(len(s.selectRuns(func(r history.RunRow) bool { return matches(filter, r) }))), nil
}

// PinnedBy implements ports.RunIndex.
func (s *Store) PinnedBy(_ context.Context, version string, limit int) ([]history.RunRow, int64, error) {
	rows := s.selectRuns(func(r history.RunRow) bool { return r.PackageVersion == version && !r.Status.Terminal() })
	return rows[:min(max(limit, 0), len(rows))], int64(len(rows)), nil
}

// selectRuns gives copies of the rows that are wanted, newest first.
func (s *Store) selectRuns(wanted func(history.RunRow) bool) []history.RunRow {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var rows []history.RunRow
	for _, w := range s.workflows {
		for _, r := range w.runs {
			if wanted(r) {
				rows = append(rows, copyRow(r))
			}
		}
	}
	slices.SortFunc(rows, func(a, b history.RunRow) int { return newerFirst(positionOf(a), positionOf(b)) })
	return rows
}

// newerFirst compares two places in the order of lists: (started_at, run_id) descending.
func newerFirst(a, b ports.RunPosition) int {
	if c := b.StartedAt.Compare(a.StartedAt); c != 0 {
		return c
	}
	return strings.Compare(string(b.RunID), string(a.RunID))
}

func positionOf(r history.RunRow) ports.RunPosition {
	return ports.RunPosition{StartedAt: r.StartedAt, RunID: r.RunID}
}

func matches(f ports.RunFilter, r history.RunRow) bool {
	return r.Namespace == f.Namespace &&
		(f.Status == "" || r.Status == f.Status) &&
		(f.WorkflowType == "" || r.WorkflowType == f.WorkflowType) &&
		(f.StartedAfter.IsZero() || !r.StartedAt.Before(f.StartedAfter)) &&
		(f.StartedBefore.IsZero() || r.StartedAt.Before(f.StartedBefore)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) &&
		(f.PackageVersion == "" || r.PackageVersion == f.PackageVersion) &&
		(f.Parent == "" || r.Parent != nil && r.Parent.WorkflowID == f.Parent) &&
		(f.EndedAfter.IsZero() || !r.EndedAt.IsZero() && !r.EndedAt.Before(f.EndedAfter)) &&
		(f.EndedBefore.IsZero() || !r.EndedAt.IsZero() && r.EndedAt.Before(f.EndedBefore)) &&
		labelled(r, f.Labels) && prefixed(r, f.Prefix)
}

func labelled(r history.RunRow, labels map[string]string) bool {
	for key, value := range labels {
		if got, ok := r.Labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

func prefixed(r history.RunRow, prefix string) bool {
	return strings.HasPrefix(string(r.WorkflowID), prefix) || strings.HasPrefix(string(r.RunID), prefix) || strings.HasPrefix(r.WorkflowType, prefix)
}
