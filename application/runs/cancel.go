package runs

import (
	"context"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// Cancel records the cancellation of a run that has not ended, also when its plan is not loaded. The next read shows it;
// running attempts are stopped after the commit, and none begins.
func (s *Service) Cancel(ctx context.Context, who access.Caller, req CancelRequest) (Cancelled, error) {
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Cancelled{}, err
	}
	key, err := keyedBy(who, l, "cancel", req.IdempotencyKey, req.Reason)
	if err != nil {
		return Cancelled{}, err
	}
	done, err := s.change(ctx, l, key, func(v engine.View) (engine.Change, error) {
		r, err := l.last(v)
		if err != nil {
			return engine.Change{}, err
		}
		fact, err := r.Cancel(who.Subject, req.Reason)
		audit := who.Audit("run.cancel", l.namespace, string(l.id))
		audit.Detail = domain.AuditDetail(map[string]any{"run_id": string(r.ID())})
		return engine.Change{Facts: []history.Event{fact}, Audit: audit}, err
	})
	if err != nil {
		return Cancelled{}, err
	}
	return Cancelled{WorkflowID: l.id, RunID: done.first.RunID, HistorySeq: done.first.Seq, Repeated: done.repeated}, nil
}
