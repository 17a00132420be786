package runs

import (
	"context"

	"aion/domain/access"
	"aion/domain/history"
	"aion/ports"
)

// watchPortion is how many changes are read at once.
const watchPortion = 100

// Watched is how a watch ended that was not broken off: its place is no longer served, so that what happened meanwhile is
// not known.
type Watched struct{ Lost bool }

// RunsNow is the place behind every change of a namespace until now, for WatchRuns.
func (s *Service) RunsNow(ctx context.Context, who access.Caller, namespace string) (ports.ChangePosition, error) {
	ns, err := s.reach(ctx, who, namespace)
	if err != nil {
		return ports.ChangePosition{}, err
	}
	page, err := s.Changes.RunChanges(ctx, ns, nil, 0)
	return page.UpTo, err
}

// WatchRuns gives the runs of a namespace that change behind a place to each: every change once and in order, with
// the run as it stands when it is read. A change is the start of a run, a new status or its end. What the request says about
// status, end and attention is not looked at, because a change of these is what a reader waits for. It waits for what comes,
// and returns when the place is lost, with the error of each, or with the cause of ctx.
func (s *Service) WatchRuns(ctx context.Context, who access.Caller, req ListRequest, from ports.ChangePosition, each func(ports.ChangePosition, history.ListedRun) error) (Watched, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return Watched{}, err
	}
	filter := req.filter(ns)
	for {
		page, err := s.Changes.RunChanges(ctx, ns, &from, watchPortion)
		if err != nil || page.Lost {
			return Watched{Lost: page.Lost}, err
		}
		for _, c := range page.Changes {
			if !filter.Lasting(c.Run.RunRow) {
				continue
			}
			if err := each(c.At, c.Run); err != nil {
				return Watched{}, err
			}
		}
		if moved := from.Before(page.UpTo); moved {
			from = page.UpTo
			continue // there may be more
		}
		select {
		case <-ctx.Done():
			return Watched{}, context.Cause(ctx)
		case <-s.Clock.After(s.Limits.Poll):
		}
	}
}
