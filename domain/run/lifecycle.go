package run

import (
	"fmt"
	"time"

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

// Cancel decides what a cancellation records. Nothing follows a terminal, so an ended run refuses; one that is cancelled
// already says that nothing is left to do, because whoever repeats a call after a lost answer has what was asked for.
func (r *Run) Cancel(by, reason string) (history.Event, error) {
	if r.Status() == history.Cancelled {
		return nil, notRunning("WorkflowTerminal", "workflow %s is cancelled already (status %s): nothing is left to do, and this call changed nothing; describe_run shows when and why",
			r.WorkflowID(), r.Status())
	}
	if err := r.Alive(); err != nil {
		return nil, err
	}
	return history.WorkflowCancelled{By: by, Reason: reason}, nil
}

// Pause decides what holding a run records; nil when it is held already.
func (r *Run) Pause(by, reason string) (history.Event, error) {
	if err := r.Alive(); err != nil || r.Status() == history.Paused {
		return nil, err
	}
	return history.WorkflowPaused{By: by, Reason: reason}, nil
}

// Resume decides what letting a run go on records; nil when nobody holds it.
func (r *Run) Resume(by, reason string) (history.Event, error) {
	if err := r.Alive(); err != nil || r.Status() != history.Paused {
		return nil, err
	}
	return history.WorkflowResumed{By: by, Reason: reason}, nil
}

// Reopen decides what going on with an ended run records. Only one that failed, timed out or was cancelled can go on
// (NotReopenable).
func (r *Run) Reopen(by, reason string) (history.Event, error) {
	switch r.Status() {
	case history.Failed, history.TimedOut, history.Cancelled:
		return history.WorkflowReopened{By: by, Reason: reason, FromSeq: r.terminal}, nil
	case history.ContinuedAsNew:
		return nil, NotReopenable("run %s of workflow %s goes on in a later run; omit run_id to reach that", r.ID(), r.WorkflowID())
	case history.Completed:
		return nil, NotReopenable("workflow %s is %s, and a run that has completed has nothing left to do; start a new one", r.WorkflowID(), r.ending())
	case history.Running, history.Paused:
	}
	return nil, NotReopenable("workflow %s is %s; only a run that is %s, %s or %s can be reopened", r.WorkflowID(), r.Status(),
		history.Failed, history.TimedOut, history.Cancelled)
}

// NotReopenable refuses to go on with a run.
func NotReopenable(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidState, Type: "NotReopenable", Message: fmt.Sprintf(format, args...)}
}

// PlanGone refuses to go on with a run whose version was unloaded.
func (r *Run) PlanGone() error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "PlanGone",
		Message: fmt.Sprintf("version %s of %s, which workflow %s is pinned to, is not loaded; deploy the same text again, then reopen",
			r.row.PackageVersion, r.row.WorkflowType, r.WorkflowID()),
	}
}

// Alive refuses an ended run (WorkflowTerminal).
func (r *Run) Alive() error {
	if !r.Ended() {
		return nil
	}
	return notRunning("WorkflowTerminal", "workflow %s has already ended (%s), so the call changed nothing; describe_run shows its result or failure",
		r.WorkflowID(), r.ending())
}

// Superseded refuses what is meant for an earlier generation of a workflow (WorkflowTerminal).
func Superseded(id domain.WorkflowID, run domain.RunID) error {
	return notRunning("WorkflowTerminal", "run %s of workflow %s has already ended (%s) and the workflow goes on in a later run; omit run_id to reach that, describe_run shows it",
		run, id, history.ContinuedAsNew)
}

// ending is how an ended run stands, in a few words.
func (r *Run) ending() string {
	if r.row.Outcome == "" {
		return string(r.Status())
	}
	return string(r.Status()) + ", outcome " + r.row.Outcome
}

// cancelled is the failure of a run that was cancelled; its message is the reason, for whoever reads only that.
func cancelled(ev history.WorkflowCancelled) *history.Failure {
	f := &history.Failure{Code: "cancelled", Message: ev.Reason}
	if ev.Reason == "" {
		f.Message = "no reason was given"
	}
	return f
}

// timedOut is the failure of a run that reached the timeout of its workflow.
func timedOut(ev history.WorkflowTimedOut) *history.Failure {
	return &history.Failure{Code: "timed_out", Message: fmt.Sprintf("the run reached its timeout of %s", time.Duration(ev.TimeoutMS)*time.Millisecond)}
}

// NoLiveExecution refuses a run that has not ended but whose state cannot be reached: nothing could take the call.
func (r *Run) NoLiveExecution() error {
	return notRunning("NoLiveExecution", "workflow %s is %s, but its plan is not loaded, so nothing can take the call; describe_run shows where it stands",
		r.WorkflowID(), r.Status())
}

// QueryNotRunning refuses a query of a run that cannot answer.
func (r *Run) QueryNotRunning() error {
	if r.Ended() {
		return notRunning("QueryNotRunning", "workflow %s has already ended (%s) and answers no query; describe_run shows its result or failure",
			r.WorkflowID(), r.ending())
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
