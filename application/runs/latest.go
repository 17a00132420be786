package runs

import (
	"context"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// Latest shows the latest run of a workflow, without what it is doing now: less than Describe, and cheap to ask often.
func (s *Service) Latest(ctx context.Context, who access.Caller, ref Ref) (Summary, error) {
	l, err := s.locate(ctx, who, Ref{Namespace: ref.Namespace, WorkflowID: ref.WorkflowID})
	if err != nil {
		return Summary{}, err
	}
	if !l.row.Status.Terminal() {
		return summary(l.row, nil, nil), nil
	}
	return s.ended(ctx, l.row)
}

// ended shows a run that has ended, with its result.
func (s *Service) ended(ctx context.Context, row history.RunRow) (sum Summary, err error) {
	err = s.Reader.Run(ctx, row, func(v engine.View) error {
		sum = summary(v.Run.Row(), v.Run.Result(), v.Run.Failure())
		return nil
	})
	return sum, err
}

// Reach authorises a caller for a namespace as every call does, and gives its name.
func (s *Service) Reach(ctx context.Context, who access.Caller, namespace string) (domain.Namespace, error) {
	return s.reach(ctx, who, namespace)
}
