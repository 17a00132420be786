package worker

import (
	"fmt"

	"aion/domain"
	"aion/domain/history"
)

// NotFound is the one answer for a worker that does not exist, is gone, or belongs to somebody else.
func NotFound(id string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "WorkerNotFound",
		Message: fmt.Sprintf("no live worker %q; register again with POST /api/v1/workers and use the worker_id of the answer", domain.Quote(id, 64)),
	}
}

// TaskNotFound is the one answer for a task that was never granted with this token, or lies in a namespace that the caller
// does not reach.
func TaskNotFound(id string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "WorkerTaskNotFound",
		Message: fmt.Sprintf("no task %q with this lease_token; pass both as the poll gave them", domain.Quote(id, 64)),
	}
}

// QueueNotFound refuses a task queue that nothing waits in, nobody serves and no document declares.
func QueueNotFound(queue string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "QueueNotFound",
		Message: fmt.Sprintf("no task queue %q in this namespace; the list of queues shows what exists", domain.Quote(queue, 128)),
	}
}

// Denied refuses a caller who may not serve tasks.
func Denied(subject string) error {
	return &domain.Error{
		Code: domain.CodeWorkerDenied, Type: "WorkerNotAllowed",
		Message: fmt.Sprintf("%s may not serve tasks; its operator lists who may in workers.allowed_subjects", domain.Quote(subject, 128)),
	}
}

// LeaseLost refuses what a worker says about an attempt that it does not hold any more.
func LeaseLost(why history.LeaseEnd, currentAttempt int) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "LeaseLost",
		Message: fmt.Sprintf("the lease of this attempt is lost (%s); stop the work and poll for another task", why),
		Details: map[string]any{"reason": string(why), "current_attempt": currentAttempt},
	}
}

// AlreadySettled refuses a second verdict that differs from the first one.
func AlreadySettled() error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "AlreadySettled",
		Message: "this attempt was settled with another verdict before; the first one stands, so go on with the next task",
	}
}

// AlreadyStarted refuses to take a task back of which the transcript shows work.
func AlreadyStarted() error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "AlreadyStarted",
		Message: "this attempt has transcript events, so it counts as begun; settle it with complete or fail",
	}
}

// SlowDown refuses what there is no room for now.
func SlowDown(message string, afterMS int64) *domain.Error {
	return &domain.Error{
		Code: domain.CodeResourceExhausted, Type: "SlowDown", Message: message, Details: map[string]any{"retry_after_ms": afterMS},
	}
}
