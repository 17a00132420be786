package task

import (
	"errors"
	"fmt"

	"aion/domain"
)

// Unknown is the one answer for a task that does not exist, that has expired or that belongs to somebody else.
func Unknown() error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "TaskNotFound",
		Message: "Unknown task: pass a taskId that an earlier answer of this server gave to you, while its ttlMs lasts",
	}
}

// TooMany refuses a task to an owner who waits for many already.
func TooMany(limit int) error {
	return &domain.Error{
		Code: domain.CodeResourceExhausted, Type: "TooManyTasks",
		Message: fmt.Sprintf("%d of your tasks are working, and no more may (mcp.max_working_tasks); wait until one ends, end the wait with tasks/cancel, "+
			"or start without await_completion and follow the run with describe_run", limit),
	}
}

// RefusalOf is the refusal that a caller reads for an error; false for one that no caller may read.
func RefusalOf(err error) (*Refusal, bool) {
	var e *domain.Error
	if !errors.As(err, &e) || e.Code == domain.CodeBackend || e.Code == "" {
		return nil, false
	}
	return &Refusal{Code: e.Code, Type: e.Type, Message: e.Message}, true
}
