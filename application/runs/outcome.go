package runs

import (
	"context"
	"time"

	"aion/domain/access"
	"aion/domain/history"
)

// Outcome tells how a run ended, waiting at most so long for the end. Without a run id it follows the chain to its last
// generation. Whoever asks for an open run gets its summary.
func (s *Service) Outcome(ctx context.Context, who access.Caller, ref Ref, wait time.Duration) (Summary, error) {
	l, err := s.locate(ctx, who, ref)
	if err != nil {
		return Summary{}, err
	}
	changes, stop := s.Watch.Subscribe(l.id)
	defer stop()
	over := s.Clock.After(wait)
	// What ended between the first look and the subscription has no change to tell of: the last look counts, not the first.
	for last := false; ; {
		// A generation that goes on in another one is no end of the chain.
		open := !l.row.Status.Terminal() || l.run == "" && l.row.Status == history.ContinuedAsNew
		if !open {
			return s.ended(ctx, l.row)
		}
		if last {
			return summary(l.row, nil, nil), nil
		}
		select {
		case <-ctx.Done():
			return Summary{}, context.Cause(ctx)
		case <-over:
			last = true
		case <-changes:
		case <-s.Clock.After(min(s.Limits.Poll, max(wait, time.Millisecond))):
		}
		if l, err = s.locate(ctx, who, ref); err != nil {
			return Summary{}, err
		}
	}
}

// Counts are the runs of a namespace by status.
type Counts struct {
	ByStatus map[history.Status]int64 // all seven
	Total    int64
	AsOf     time.Time
}

// Count counts the runs that List would show, whatever their status.
func (s *Service) Count(ctx context.Context, who access.Caller, req ListRequest) (Counts, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return Counts{}, err
	}
	counts := Counts{ByStatus: map[history.Status]int64{}, AsOf: s.Clock.Now()}
	req.Statuses = nil
	found, err := s.Index.Count(ctx, s.filter(ns, req))
	for _, status := range history.Statuses() {
		counts.ByStatus[status] = found[status]
		counts.Total += found[status]
	}
	return counts, err
}

// Generation is one run of a chain with the events that are its own.
type Generation struct {
	history.RunRow
	LastSeq history.Seq
}

// Generations gives the runs of a workflow, oldest first.
func (s *Service) Generations(ctx context.Context, who access.Caller, namespace, workflowID string) ([]Generation, error) {
	l, err := s.locate(ctx, who, Ref{Namespace: namespace, WorkflowID: workflowID})
	if err != nil {
		return nil, err
	}
	rows, err := s.Index.RunsIn(ctx, l.namespace, l.id)
	if err != nil {
		return nil, err
	}
	head, err := s.Events.Head(ctx, l.id)
	if err != nil {
		return nil, err
	}
	list := make([]Generation, 0, len(rows))
	for i, row := range rows {
		g := Generation{RunRow: row, LastSeq: head}
		if i+1 < len(rows) {
			g.LastSeq = rows[i+1].FirstSeq - 1
		}
		list = append(list, g)
	}
	return list, nil
}
