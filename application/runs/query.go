package runs

import (
	"context"
	"errors"
	"fmt"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
)

// Query asks a live run a question without changing it. A run that has ended, or whose plan is not loaded, answers none
// (QueryNotRunning).
func (s *Service) Query(ctx context.Context, who access.Caller, req QueryRequest) (Answer, error) {
	answer, err := s.ask(ctx, who, req)
	if s.Meter != nil {
		s.Meter.Queried(resultOf(err))
	}
	return answer, err
}

func (s *Service) ask(ctx context.Context, who access.Caller, req QueryRequest) (Answer, error) {
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Answer{}, err
	}
	slow := errors.New("query timeout")
	bounded, cancel := context.WithTimeoutCause(ctx, s.Limits.QueryTimeout, slow)
	defer cancel()
	answer := Answer{WorkflowID: l.id, RunID: l.row.RunID}
	err = s.Reader.Run(bounded, l.row, func(v engine.View) error {
		if v.State == nil || v.Run.Ended() {
			return v.Run.QueryNotRunning()
		}
		// The result is a fresh encoding, so it may be kept.
		result, err := v.State.Query(v.Contract.Plan, req.Name)
		if err != nil {
			return failedQuery(req.Name, err)
		}
		answer.Result, answer.AtSeq = result, v.Run.Head()
		return nil
	})
	if err != nil && ctx.Err() == nil && context.Cause(bounded) == slow { //nolint:errorlint // a cause is the value itself
		return Answer{}, &domain.Error{
			Code: domain.CodeQueryTimeout, Type: "QueryTimeout", Err: err,
			Message: fmt.Sprintf("the run did not answer within %s (engine.query_timeout); repeat the query", s.Limits.QueryTimeout),
		}
	}
	return answer, err
}

// failedQuery passes the refusals of a query and turns any other error into the query's own failure.
func failedQuery(name string, err error) error {
	var refusal *domain.Error
	if errors.As(err, &refusal) {
		return err
	}
	return &domain.Error{
		Code: domain.CodeQueryFailed, Type: "QueryFailed", Err: err,
		Message: fmt.Sprintf("query %q failed: %v", domain.Quote(name, 128), err),
	}
}
