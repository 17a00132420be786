package memory

import (
	"cmp"
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
func (s *Store) List(_ context.Context, filter ports.RunFilter, after *ports.RunPosition, limit int) ([]history.ListedRun, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	inOrder := func(a, b ports.RunPosition) int {
		if filter.Order == ports.OldestFirst {
			a, b = b, a
		}
		return cmp.Or(b.At.Compare(a.At), strings.Compare(string(b.RunID), string(a.RunID)))
	}
	rows := s.selectRuns(func(r history.RunRow) bool {
		return matches(filter, r) && (after == nil || inOrder(*after, ports.PositionOf(r, filter.Order)) < 0)
	})
	slices.SortFunc(rows, func(a, b history.RunRow) int {
		return inOrder(ports.PositionOf(a, filter.Order), ports.PositionOf(b, filter.Order))
	})
	listed := make([]history.ListedRun, 0, min(max(limit, 0), len(rows)))
	for _, r := range rows[:cap(listed)] {
		listed = append(listed, s.listed(r))
	}
	return listed, nil
}

// listed adds to a row what moves on with each commit.
func (s *Store) listed(r history.RunRow) history.ListedRun {
	w := s.workflows[r.WorkflowID]
	if latest := w.runs[len(w.runs)-1]; r.Generation < latest.Generation {
		next := slices.IndexFunc(w.runs, func(n history.RunRow) bool { return n.Generation > r.Generation })
		return history.ListedRun{RunRow: r, HeadSeq: w.runs[next].FirstSeq - 1}
	}
	out := history.ListedRun{RunRow: r, HeadSeq: w.head()}
	if w.current != nil && !r.Status.Terminal() {
		current := *w.current
		out.Current = &current
	}
	return out
}

// Count implements ports.RunIndex.
func (s *Store) Count(_ context.Context, filter ports.RunFilter) (map[history.Status]int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	counts := map[history.Status]int64{}
	for _, r := range s.selectRuns(func(r history.RunRow) bool { return matches(filter, r) }) {
		counts[r.Status]++
	}
	return counts, nil
}

// PinnedBy implements ports.RunIndex.
func (s *Store) PinnedBy(_ context.Context, version string, in []domain.Namespace, limit int) ([]history.RunRow, int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := s.selectRuns(func(r history.RunRow) bool {
		return r.PackageVersion == version && !r.Status.Terminal() && (in == nil || slices.Contains(in, r.Namespace))
	})
	slices.SortFunc(rows, newestFirst)
	return rows[:min(max(limit, 0), len(rows))], int64(len(rows)), nil
}

func newestFirst(a, b history.RunRow) int {
	return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(string(b.RunID), string(a.RunID)))
}

// selectRuns gives copies of the rows that are wanted, under the lock of the store.
func (s *Store) selectRuns(wanted func(history.RunRow) bool) []history.RunRow {
	var rows []history.RunRow
	for _, w := range s.workflows {
		for _, r := range w.runs {
			if wanted(r) {
				rows = append(rows, copyRow(r))
			}
		}
	}
	return rows
}

func matches(f ports.RunFilter, r history.RunRow) bool {
	return r.Namespace == f.Namespace &&
		(f.Status == "" || r.Status == f.Status) &&
		(f.WorkflowType == "" || r.WorkflowType == f.WorkflowType) &&
		(f.StartedAfter.IsZero() || !r.StartedAt.Before(f.StartedAfter)) &&
		(f.StartedBefore.IsZero() || r.StartedAt.Before(f.StartedBefore)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) &&
		(f.PackageVersion == "" || r.PackageVersion == f.PackageVersion) &&
		(f.ScheduleID == "" || r.ScheduleID == f.ScheduleID) &&
		(f.Parent == "" || r.Parent != nil && r.Parent.WorkflowID == f.Parent) &&
		(f.EndedAfter.IsZero() || !r.EndedAt.IsZero() && !r.EndedAt.Before(f.EndedAfter)) &&
		(f.EndedBefore.IsZero() || !r.EndedAt.IsZero() && r.EndedAt.Before(f.EndedBefore)) &&
		(f.FailedSince.IsZero() || (r.Status == history.Failed || r.Status == history.TimedOut) && !r.EndedAt.Before(f.FailedSince)) &&
		(f.Order != ports.LastEndedFirst || !r.EndedAt.IsZero()) &&
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
