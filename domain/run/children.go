package run

import (
	"encoding/json"

	"aion/domain"
	"aion/domain/history"
)

// The kinds of messages that one workflow leaves for another.
const (
	StartChild = "start_child"
	CloseChild = "close_child"
	ChildEnded = "child_ended"
)

// ChildStart asks for a child; RunID is the run of the parent that asks.
type ChildStart struct {
	Child        int64             `json:"child"`
	WorkflowID   domain.WorkflowID `json:"workflow_id"`
	WorkflowType string            `json:"workflow_type"`
	Input        domain.Payload    `json:"input"`
	Detached     bool              `json:"detached"`
	RunID        domain.RunID      `json:"run_id"`
}

// ChildClose ends an awaited child whose parent goes on without it.
type ChildClose struct {
	WorkflowID domain.WorkflowID `json:"workflow_id"`
	Reason     string            `json:"reason"`
}

// ChildEnd tells a parent how its child ended. Exactly one of Completed and Failed is set.
type ChildEnd struct {
	Parent    history.Parent          `json:"parent"`
	Completed *history.ChildCompleted `json:"completed,omitempty"`
	Failed    *history.ChildFailed    `json:"failed,omitempty"`
}

// DecodeMessage reads the body of a message of its kind into one of the types above.
func DecodeMessage[T ChildStart | ChildClose | ChildEnd](m history.Message) (T, error) {
	var body T
	if err := json.Unmarshal(m.Body, &body); err != nil {
		return body, &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: "message " + m.ID + " cannot be read", Err: err}
	}
	return body, nil
}

// childEnd is what the parent of an ended run records.
func (r *Run) childEnd() domain.Payload {
	end := ChildEnd{Parent: *r.row.Parent}
	if r.row.Status == history.Completed {
		end.Completed = &history.ChildCompleted{Child: end.Parent.Child, Outcome: r.row.Outcome, Result: r.result}
		return encode(end)
	}
	failed := &history.ChildFailed{Child: end.Parent.Child, Outcome: r.row.Outcome, Result: r.result}
	if r.failure != nil {
		failed.Failure = &history.Failure{Code: r.failure.Code, Message: r.failure.Message}
	}
	end.Failed = failed
	return encode(end)
}

// encode cannot fail: the bodies hold strings, numbers and JSON that was valid when it was recorded.
func encode(v any) domain.Payload {
	text, err := domain.Encode(v)
	if err != nil {
		panic("run: message body cannot be encoded: " + err.Error())
	}
	return text
}
