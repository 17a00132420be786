package runs

import (
	"context"
	"errors"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
)

// Reopen goes on with a run that failed, timed out or was cancelled: what failed is done again, what was in flight begins
// anew, what is recorded stays, and the timeout of the workflow starts anew. It refuses any other run (NotReopenable), and
// one whose version is not loaded (PlanGone). A parent that was told of the end is not told of another one.
func (s *Service) Reopen(ctx context.Context, who access.Caller, req HoldRequest) (Held, error) {
	const action = "run.reopen"
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Held{}, err
	}
	if req.Reason == "" {
		return Held{}, invalid("reason is missing: say why the run goes on; its history keeps it")
	}
	key, err := keyedBy(who, l, action, req.IdempotencyKey, req.Reason)
	if err != nil {
		return Held{}, err
	}
	key.ended = true
	gone, err := s.gone(ctx, l.row.PackageVersion)
	if err != nil {
		return Held{}, err
	}
	done, err := s.change(ctx, l, key, func(v engine.View) (engine.Change, error) {
		fact, err := l.reopening(v, gone, who.Subject, req.Reason)
		if err != nil {
			return engine.Change{}, err
		}
		audit := who.Audit(action, l.namespace, string(l.id))
		audit.Detail = domain.AuditDetail(map[string]any{"run_id": string(v.Run.ID())})
		return engine.Change{Facts: []history.Event{fact}, Audit: audit}, nil
	})
	if err != nil {
		return Held{}, err
	}
	return Held{
		WorkflowID: l.id, RunID: done.first.RunID, Status: history.Running, Changed: true, HistorySeq: done.first.Seq, Repeated: done.repeated,
	}, nil
}

// reopening decides what going on with the run records.
func (l located) reopening(v engine.View, gone bool, by, reason string) (history.Event, error) {
	if v.Run == nil {
		return nil, run.WorkflowNotFound(l.id, l.namespace)
	}
	if l.run != "" && v.Run.ID() != l.run {
		return nil, run.NotReopenable("run %s of workflow %s goes on in a later run; omit run_id to reach that", l.run, l.id)
	}
	fact, err := v.Run.Reopen(by, reason)
	switch {
	case err != nil:
		return nil, err
	case gone || v.Contract == nil:
		return nil, v.Run.PlanGone()
	case v.State == nil:
		return nil, run.NotReopenable("the history of workflow %s does not fold under its plan, so nothing can go on from it; start a new one", l.id)
	}
	return fact, nil
}

// gone reports whether a version was unloaded. The store is asked: another server may have done it.
func (s *Service) gone(ctx context.Context, version string) (bool, error) {
	_, err := s.Types.Source(ctx, version)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return true, nil
	}
	return false, err
}

// unreopenable tells why a run cannot be reopened now; empty: it can.
func (s *Service) unreopenable(ctx context.Context, row history.RunRow) (why string, err error) {
	switch row.Status {
	case history.ContinuedAsNew:
		return goesOn, nil
	case history.Completed:
		return "the run has completed", nil
	case history.Running, history.Paused:
		return "the run has not ended", nil
	case history.Failed, history.TimedOut, history.Cancelled:
	}
	l := located{namespace: row.Namespace, id: row.WorkflowID, run: row.RunID}
	gone, err := s.gone(ctx, row.PackageVersion)
	if err != nil {
		return "", err
	}
	err = s.Engine.LookEnded(ctx, row.WorkflowID, func(v engine.View) error {
		_, refusal := l.reopening(v, gone, "", "")
		var e *domain.Error
		if errors.As(refusal, &e) {
			why = e.Message
		}
		return nil
	})
	return why, err
}
