package runs

import (
	"context"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
)

// HoldRequest pauses or resumes a run.
type HoldRequest struct {
	Ref
	Reason         string
	IdempotencyKey string
}

// Held is how a run stands after it was paused or resumed. Changed is false when it stood so before; HistorySeq is then 0.
type Held struct {
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	Status     history.Status
	Changed    bool
	HistorySeq history.Seq
	Repeated   bool // an earlier request with the same key has done it
}

// Pause holds a run: no attempt begins and no timer fires until it is resumed. What runs goes on to its end, and signals
// are recorded.
func (s *Service) Pause(ctx context.Context, who access.Caller, req HoldRequest) (Held, error) {
	return s.hold(ctx, who, req, "run.pause", (*run.Run).Pause)
}

// Resume lets a paused run go on. One whose plan is not loaded cannot (NoLiveExecution).
func (s *Service) Resume(ctx context.Context, who access.Caller, req HoldRequest) (Held, error) {
	return s.hold(ctx, who, req, "run.resume", (*run.Run).Resume)
}

func (s *Service) hold(ctx context.Context, who access.Caller, req HoldRequest, action string,
	decide func(r *run.Run, by, reason string) (history.Event, error),
) (Held, error) {
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Held{}, err
	}
	key, err := keyedBy(who, l, action, req.IdempotencyKey, req.Reason)
	if err != nil {
		return Held{}, err
	}
	var held Held // as it stands when nothing is recorded
	done, err := s.change(ctx, l, key, func(v engine.View) (engine.Change, error) {
		r, err := l.last(v)
		if err != nil {
			return engine.Change{}, err
		}
		held = Held{WorkflowID: l.id, RunID: r.ID(), Status: r.Status()}
		fact, err := decide(r, who.Subject, req.Reason)
		if err != nil || fact == nil {
			return engine.Change{}, err
		}
		if v.State == nil {
			return engine.Change{}, r.NoLiveExecution()
		}
		audit := who.Audit(action, l.namespace, string(l.id))
		audit.Detail = domain.AuditDetail(map[string]any{"run_id": string(r.ID())})
		return engine.Change{Facts: []history.Event{fact}, Audit: audit}, nil
	})
	if err != nil {
		return Held{}, err
	}
	if done.first.Seq > 0 {
		held = Held{WorkflowID: l.id, RunID: done.first.RunID, Status: history.Running, Changed: true, HistorySeq: done.first.Seq, Repeated: done.repeated}
		if done.first.Type == (history.WorkflowPaused{}).Type() {
			held.Status = history.Paused
		}
	}
	return held, nil
}
