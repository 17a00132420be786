package run

import (
	"fmt"

	"aion/domain"
	"aion/domain/history"
)

// WorkflowNotFound refuses a workflow that does not exist or belongs to another namespace: the same words for both.
func WorkflowNotFound(id domain.WorkflowID, ns domain.Namespace) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "WorkflowNotFound",
		Message: fmt.Sprintf("no workflow %s in namespace %q; list_runs shows what exists", id, ns),
	}
}

// NotFound refuses a run id that is no generation of the workflow.
func NotFound(id domain.WorkflowID, run domain.RunID) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "RunNotFound",
		Message: fmt.Sprintf("%s is not a run of workflow %s; omit run_id, or take one from describe_run", run, id),
	}
}

// Cancel decides what a cancellation records. Nothing follows a terminal, so an ended run refuses.
func (r *Run) Cancel(by, reason string) (history.Event, error) {
	if err := r.Alive(); err != nil {
		return nil, err
	}
	return history.WorkflowCancelled{By: by, Reason: reason}, nil
}

// Alive refuses an ended run (WorkflowTerminal).
func (r *Run) Alive() error {
	if !r.Ended() {
		return nil
	}
	return Terminal(r.WorkflowID(), r.Status())
}

// Terminal refuses what a run that has ended cannot take any more (WorkflowTerminal).
func Terminal(id domain.WorkflowID, status history.Status) error {
	return notRunning("WorkflowTerminal", "workflow %s is %s and takes nothing any more; describe_run shows how it ended", id, status)
}

// NoLiveExecution refuses a run that has not ended but whose state cannot be reached: nothing could take the call.
func (r *Run) NoLiveExecution() error {
	return notRunning("NoLiveExecution", "workflow %s is %s, but its plan is not loaded, so nothing can take the call; describe_run shows where it stands",
		r.WorkflowID(), r.Status())
}

// QueryNotRunning refuses a query of a run that cannot answer.
func (r *Run) QueryNotRunning() error {
	if r.Ended() {
		return notRunning("QueryNotRunning", "workflow %s is %s and answers no query; describe_run shows how it ended", r.WorkflowID(), r.Status())
	}
	return notRunning("QueryNotRunning", "workflow %s is %s, but its plan is not loaded; describe_run shows where it stands", r.WorkflowID(), r.Status())
}

func notRunning(typ, format string, args ...any) error {
	return &domain.Error{Code: domain.CodeNotRunning, Type: typ, Message: fmt.Sprintf(format, args...)}
}

// Attempt is what history knows of one attempt.
type Attempt struct {
	ActivityType string
	Dispatched   bool // the run has started it
	Open         bool // it runs now
}

// Attempt tells what the run knows of an attempt.
func (r *Run) Attempt(activityID int64, attempt int) Attempt {
	name, started, ok := r.Dispatched(activityID)
	return Attempt{ActivityType: name, Dispatched: ok && attempt >= 1 && attempt <= started, Open: r.AttemptOpen(activityID, attempt)}
}

// Find picks a run of a workflow from its rows, the latest for an empty id. A workflow without rows and one of another
// namespace are refused alike (WorkflowNotFound); an id that is no generation of it is refused (RunNotFound).
func Find(rows []history.RunRow, ns domain.Namespace, id domain.WorkflowID, run domain.RunID) (history.RunRow, error) {
	if len(rows) == 0 || rows[0].Namespace != ns {
		return history.RunRow{}, WorkflowNotFound(id, ns)
	}
	if run == "" {
		return rows[len(rows)-1], nil
	}
	for _, r := range rows {
		if r.RunID == run {
			return r, nil
		}
	}
	return history.RunRow{}, NotFound(id, run)
}
