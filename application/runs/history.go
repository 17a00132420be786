package runs

import (
	"context"

	"aion/domain/access"
	"aion/domain/history"
)

// The pages of History.
const (
	defaultHistory = 100
	maxHistory     = 500
)

// History pages through the events of a workflow, oldest first, across all of its runs. HeadSeq is the newest event,
// whatever was asked.
func (s *Service) History(ctx context.Context, who access.Caller, req HistoryRequest) (HistoryPage, error) {
	l, err := s.locate(ctx, who, Ref{Namespace: req.Namespace, WorkflowID: req.WorkflowID})
	if err != nil {
		return HistoryPage{}, err
	}
	limit := req.Limit
	if limit <= 0 {
		limit = defaultHistory
	}
	events, err := s.Events.History(ctx, l.id, max(req.FromSeq, 1), min(limit, maxHistory))
	if err != nil {
		return HistoryPage{}, err
	}
	// Read after the page, so that the head is never behind its last event.
	head, err := s.Events.Head(ctx, l.id)
	return HistoryPage{WorkflowID: l.id, Events: events, HeadSeq: head}, err
}

// Reach tells where a reader of a workflow's events stands who is about to follow it: the newest event, and whether
// nothing comes after it.
type Reach struct {
	HeadSeq history.Seq
	Over    bool
}

// Ahead looks at what Follow would give from FromSeq on.
func (s *Service) Ahead(ctx context.Context, who access.Caller, req HistoryRequest) (Reach, error) {
	l, err := s.locate(ctx, who, Ref{Namespace: req.Namespace, WorkflowID: req.WorkflowID, RunID: req.RunID})
	if err != nil {
		return Reach{}, err
	}
	over, err := s.over(ctx, l, req.FromSeq, history.Recorded{})
	if err != nil {
		return Reach{}, err
	}
	head, err := s.Events.Head(ctx, l.id)
	return Reach{HeadSeq: head, Over: over}, err
}

// Follow gives every event of a workflow from FromSeq on to each, in order and once, waiting for those to come. It
// returns nil after the last event of a chain that has ended, the error of each, or the cause of ctx. With a run id it
// gives the events of that run alone, and returns after its last one.
func (s *Service) Follow(ctx context.Context, who access.Caller, req HistoryRequest, each func(history.Recorded) error) error {
	l, err := s.locate(ctx, who, Ref{Namespace: req.Namespace, WorkflowID: req.WorkflowID, RunID: req.RunID})
	if err != nil {
		return err
	}
	if l.run != "" {
		req.FromSeq = max(req.FromSeq, l.row.FirstSeq)
	}
	changes, stop := s.Watch.Subscribe(l.id)
	defer stop()
	from, last := max(req.FromSeq, 1), history.Recorded{}
	for {
		events, err := s.Events.History(ctx, l.id, from, walkPortion)
		if err != nil {
			return err
		}
		events = l.own(events)
		for _, rec := range events {
			if err := each(rec); err != nil {
				return err
			}
			from, last = rec.Seq+1, rec
		}
		if len(events) == walkPortion {
			continue
		}
		// What is recorded after this page was read wakes this reader.
		over, err := s.over(ctx, l, from, last)
		if err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
		case <-s.Clock.After(s.Limits.Poll):
		}
	}
}

// own cuts off what belongs to later runs than the one that is asked for.
func (l located) own(events []history.Recorded) []history.Recorded {
	for i, rec := range events {
		if l.run != "" && rec.RunID != l.run {
			return events[:i]
		}
	}
	return events
}

// over reports whether the chain has ended and no event from a seq on is stored. The last event that was given tells, if
// there is one.
func (s *Service) over(ctx context.Context, l located, from history.Seq, last history.Recorded) (bool, error) {
	if last.Seq > 0 {
		ev, err := last.Event()
		_, goesOn := ev.(history.WorkflowContinuedAsNew)
		return err == nil && history.Terminal(ev) && (!goesOn || l.run != ""), err
	}
	if l.run != "" && !l.latest {
		end, err := s.lastOf(ctx, l, 0)
		return end < from, err
	}
	rows, err := s.Index.Runs(ctx, l.id)
	if err != nil || len(rows) == 0 || !rows[len(rows)-1].Status.Terminal() {
		return false, err
	}
	head, err := s.Events.Head(ctx, l.id)
	return head < from, err
}
