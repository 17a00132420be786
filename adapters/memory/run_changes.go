package memory

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// changes are those of the rows of runs; dropped counts the ones that are gone, so that the first that is left has the number
// behind that.
type changes struct {
	list    []change
	dropped int64
}

type change struct {
	at         time.Time
	id         domain.WorkflowID
	generation int
}

// note adds the rows of a commit.
func (l *changes) note(c *history.Commit) {
	for i := range c.Rows {
		at := c.Rows[i].StartedAt
		if len(c.Events) > 0 {
			at = c.Events[len(c.Events)-1].At
		}
		l.list = append(l.list, change{at, c.WorkflowID, c.Rows[i].Generation})
		for len(l.list) > 1 && (len(l.list) > ports.MostChangesKept || !l.list[0].at.After(at.Add(-ports.ChangesKept))) {
			l.list = l.list[1:]
			l.dropped++
		}
	}
}

// RunChanges implements ports.ChangeLog.
func (s *Store) RunChanges(_ context.Context, ns domain.Namespace, after *ports.ChangePosition, limit int) (ports.ChangePage, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	end := s.changes.dropped + int64(len(s.changes.list))
	if after == nil {
		return ports.ChangePage{UpTo: ports.ChangePosition{N: end}}, nil
	}
	page := ports.ChangePage{UpTo: *after, Lost: after.N < s.changes.dropped || after.N > end || after.Epoch != 0}
	if page.Lost {
		return page, nil
	}
	for i, c := range s.changes.list[after.N-s.changes.dropped:] {
		if i == limit {
			break
		}
		page.UpTo.N++
		for _, r := range s.workflows[c.id].runs {
			if r.Generation == c.generation && r.Namespace == ns {
				page.Changes = append(page.Changes, ports.RunChange{At: page.UpTo, Run: s.listed(copyRow(r))})
			}
		}
	}
	return page, nil
}
