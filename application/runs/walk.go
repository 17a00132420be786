package runs

import (
	"context"
	"fmt"
	"slices"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// WalkRequest reads events of a workflow, or of one of its runs, from one end to the other.
type WalkRequest struct {
	Ref
	FromSeq    history.Seq // the first one wanted; 0: the oldest, or the newest when Descending
	Descending bool
	Types      []string // kinds of events; none: all
}

// Walked is where a walk ended.
type Walked struct {
	WorkflowID domain.WorkflowID
	HeadSeq    history.Seq // the newest event of the workflow, whatever was asked
	Next       history.Seq // of the first event that was not taken
	More       bool        // there is one
}

// walkPortion is how many events are read at once: what is held in memory is bounded also for large events.
const walkPortion = 64

// Walk gives events to each until it takes no more of them; the one that it does not take is the next of the answer. What
// is recorded meanwhile is not given.
func (s *Service) Walk(ctx context.Context, who access.Caller, req WalkRequest, each func(history.Recorded) (taken bool, err error)) (Walked, error) {
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Walked{}, err
	}
	head, err := s.Events.Head(ctx, l.id)
	if err != nil {
		return Walked{}, err
	}
	w := walk{s: s, id: l.id, low: 1, high: head, req: req, each: each}
	if l.run != "" {
		w.low = l.row.FirstSeq
		if w.high, err = s.lastOf(ctx, l, head); err != nil {
			return Walked{}, err
		}
	}
	out := Walked{WorkflowID: l.id, HeadSeq: head}
	if req.Descending {
		out.Next, out.More, err = w.down(ctx)
	} else {
		out.Next, out.More, err = w.up(ctx)
	}
	return out, err
}

// lastOf is the newest event of a run.
func (s *Service) lastOf(ctx context.Context, l located, head history.Seq) (history.Seq, error) {
	if l.latest {
		return head, nil
	}
	rows, err := s.Index.RunsIn(ctx, l.namespace, l.id)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if row.Generation == l.row.Generation+1 {
			return row.FirstSeq - 1, nil
		}
	}
	return head, nil
}

type walk struct {
	s         *Service
	id        domain.WorkflowID
	low, high history.Seq
	req       WalkRequest
	each      func(history.Recorded) (bool, error)
}

func (w *walk) wanted(r history.Recorded) bool {
	return len(w.req.Types) == 0 || slices.Contains(w.req.Types, r.Type)
}

func (w *walk) up(ctx context.Context) (next history.Seq, more bool, err error) {
	at := max(w.req.FromSeq, w.low)
	for at <= w.high {
		events, err := w.s.Events.History(ctx, w.id, at, int(min(walkPortion, w.high-at+1)))
		if err != nil || len(events) == 0 {
			return at, false, err
		}
		for _, r := range events {
			if w.wanted(r) {
				if taken, err := w.each(r); err != nil || !taken {
					return r.Seq, true, err
				}
			}
		}
		at = events[len(events)-1].Seq + 1
	}
	return at, false, nil
}

func (w *walk) down(ctx context.Context) (next history.Seq, more bool, err error) {
	at := w.high
	if w.req.FromSeq > 0 {
		at = min(at, w.req.FromSeq)
	}
	for at >= w.low {
		first := max(at-walkPortion+1, w.low)
		events, err := w.s.Events.History(ctx, w.id, first, int(at-first+1))
		if err != nil {
			return at, false, err
		}
		for _, r := range slices.Backward(events) {
			if w.wanted(r) {
				if taken, err := w.each(r); err != nil || !taken {
					return r.Seq, true, err
				}
			}
		}
		at = first - 1
	}
	return max(at, 0), false, nil
}

// Event gives one event of a workflow, or refuses a seq that none has (EventNotFound).
func (s *Service) Event(ctx context.Context, who access.Caller, ref Ref, seq history.Seq) (history.Recorded, error) {
	l, err := s.locate(ctx, who, ref)
	if err != nil {
		return history.Recorded{}, err
	}
	events, err := s.Events.History(ctx, l.id, seq, 1)
	if err != nil {
		return history.Recorded{}, err
	}
	if len(events) == 0 || events[0].Seq != seq {
		return history.Recorded{}, eventNotFound(l.id, seq)
	}
	return events[0], nil
}

func eventNotFound(id domain.WorkflowID, seq history.Seq) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "EventNotFound",
		Message: fmt.Sprintf("workflow %s has no event %d; its history tells head_seq, the newest one", id, seq),
	}
}
