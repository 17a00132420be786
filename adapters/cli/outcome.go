package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
)

// outcome is the last line of `aion run`: how the chain ended.
type outcome struct {
	Namespace    string          `json:"namespace"`
	WorkflowID   string          `json:"workflow_id"`
	RunID        string          `json:"run_id"`
	WorkflowType string          `json:"workflow_type"`
	Status       string          `json:"status"`
	Outcome      *string         `json:"outcome"`
	Route        *string         `json:"route"`
	Result       json.RawMessage `json:"result"`
	Failure      *failure        `json:"failure"`
	StartedAt    string          `json:"started_at"`
	EndedAt      *string         `json:"ended_at"`
}

type failure struct {
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Step       *string `json:"step"`
	ActivityID *int64  `json:"activity_id"`
}

// finish prints the outcome of a run that has ended and answers the exit code of its route. What the following of it broke off
// for, if anything, is told besides: the outcome is durable all the same. A reader who has gone away does not change it either.
func finish(ctx context.Context, p *Program, e *Engine, r runs.Summary, broken error) error {
	ended, err := e.Runs.Latest(ctx, operator(), runs.Ref{Namespace: e.Namespace, WorkflowID: string(r.WorkflowID)})
	if err != nil {
		return errors.Join(broken, err)
	}
	if broken != nil && !ended.Status.Terminal() {
		return broken
	}
	if err := printJSON(p.Out, outcomeOf(ended)); err != nil && !errors.Is(err, syscall.EPIPE) {
		id := short(string(ended.WorkflowID))
		return &domain.Error{
			Code: domain.CodeUnavailable, Type: "OutputUnwritable", Err: err,
			Message: fmt.Sprintf("run %s has ended (%s), and its outcome could not be written to standard output; see it with: aion resume %s", id, ended.Status, id),
		}
	}
	if broken != nil {
		return broken
	}
	if ended.Status == history.Completed {
		return nil
	}
	return status(exitNo)
}

func outcomeOf(s runs.Summary) outcome {
	o := outcome{
		Namespace: string(s.Namespace), WorkflowID: string(s.WorkflowID), RunID: string(s.RunID), WorkflowType: s.WorkflowType,
		Status: string(s.Status), Outcome: optional(s.Outcome), Route: optional(s.Route), Result: s.Result, StartedAt: s.StartedAt.Format(history.TimeLayout),
	}
	if s.Result == nil {
		o.Result = json.RawMessage("null")
	}
	if !s.EndedAt.IsZero() {
		o.EndedAt = optional(s.EndedAt.UTC().Truncate(time.Microsecond).Format(history.TimeLayout))
	}
	if s.Failure != nil {
		o.Failure = &failure{Code: s.Failure.Code, Message: s.Failure.Message, Step: optional(s.Failure.Step), ActivityID: s.Failure.ActivityID}
	}
	return o
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
