package task

import (
	"fmt"
	"time"

	"aion/domain"
)

// Lease takes the start of the task over until a time. It refuses a task that needs no start, or whose server may still
// be at it.
func (t Task) Lease(now time.Time, length time.Duration) (Task, error) {
	if err := t.working(); err != nil {
		return t, err
	}
	if t.Started() || t.LeaseUntil.After(now) {
		return t, &domain.Error{
			Code: domain.CodeInvalidState, Type: "TaskLeased",
			Message: fmt.Sprintf("task %s is started, or another server is starting it; tasks/get shows how it stands", t.ID),
		}
	}
	t.LeaseUntil = micros(now.Add(length))
	return t, nil
}

// Renew keeps the lease of a server that is still at the start. It refuses a task that needs no start any more.
func (t Task) Renew(now time.Time, length time.Duration) (Task, error) {
	t.LeaseUntil = time.Time{}
	return t.Lease(now, length)
}

// Begin records what the task has started. Only a working task starts anything: that is how a cancelled one never does.
// A task that has started it already stays as it is.
func (t Task) Begin(id domain.WorkflowID, run domain.RunID, at time.Time) (Task, error) {
	if err := t.working(); err != nil {
		return t, err
	}
	if t.Started() {
		return t, nil
	}
	t.WorkflowID, t.RunID = id, run
	t.StatusMessage = "run " + string(run) + " of workflow " + string(id) + " is Running"
	t.UpdatedAt = micros(at)
	return t, nil
}

// Settle ends a working task with the result of its call; run is the one that the result is about, empty when none was
// started. It lives for ttl from now on.
func (t Task) Settle(o Outcome, run domain.RunID, status string, end End) (Task, error) {
	if err := t.working(); err != nil {
		return t, err
	}
	if run != "" {
		t.RunID = run
	}
	t.Outcome = &o
	return t.end(Completed, status, end), nil
}

// Fail ends a working task whose call met a defect; the log holds the cause under the reference.
func (t Task) Fail(reference string, end End) (Task, error) {
	if err := t.working(); err != nil {
		return t, err
	}
	t.Reference = reference
	return t.end(Failed, "the server failed at this call; its operator finds the cause in the log under reference "+reference, end), nil
}

// Cancel ends the wait of a working task, and nothing else: what it has started goes on, what it has not started never
// starts. An ended task stays as it is.
func (t Task) Cancel(end End) Task {
	if t.State != Working {
		return t
	}
	status := "cancelled before its run was started; none will be"
	if t.Started() {
		status = fmt.Sprintf("cancelled; run %s of workflow %s goes on, the tool cancel ends it", t.RunID, t.WorkflowID)
	}
	return t.end(Cancelled, status, end)
}

// End is when a task ends, and how long it can be read after that.
type End struct {
	At  time.Time
	TTL time.Duration
}

func (t Task) end(state State, status string, e End) Task {
	t.State, t.StatusMessage = state, status
	t.UpdatedAt = micros(e.At)
	t.ExpiresAt = micros(e.At.Add(e.TTL))
	t.LeaseUntil = time.Time{}
	return t
}

func (t Task) working() error {
	if t.State == Working {
		return nil
	}
	return Ended(t.ID)
}

// Ended refuses to change a task that has ended. It has the code of a lost idempotency key because it is one: the start
// of a task that nobody waits for any more must fail alone in its commit.
func Ended(id ID) error {
	return &domain.Error{
		Code: domain.CodeIdempotencyConflict, Type: "TaskEnded",
		Message: fmt.Sprintf("task %s has ended; tasks/get shows how", id),
	}
}

// IsEnded reports whether an error is the refusal of Ended.
func IsEnded(err error) bool {
	return domain.CodeOf(err) == domain.CodeIdempotencyConflict && domain.TypeOf(err) == "TaskEnded"
}
