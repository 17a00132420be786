package cli

import (
	"encoding/json"
	"time"

	"aion/application/runs"
	"aion/domain/history"
)

// ending is the last line of `aion run`: how the chain ended.
type ending struct {
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

func outcomeOf(s runs.Summary) ending {
	o := ending{
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
