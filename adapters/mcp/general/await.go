package general

import (
	"context"
	"fmt"

	"aion/adapters/mcp"
	"aion/application/runs"
	"aion/application/tasks"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/task"
)

// Awaited is what the tasks of /mcp wait for: the runs of start_run. It implements tasks.Work.
type Awaited struct{ runs *runs.Service }

// NewAwaited gives the work of awaited starts.
func NewAwaited(r *runs.Service) Awaited { return Awaited{runs: r} }

// Admit implements tasks.Work.
func (w Awaited) Admit(ctx context.Context, who access.Caller, call tasks.Call) (domain.Namespace, error) {
	return w.runs.Reach(ctx, who, mcp.ArgumentsOf(call.Arguments).Text("namespace"))
}

// Begin implements tasks.Work. The engine's idempotency key is the caller's, else the id of the task, so that a repeated
// try finds the run of the first.
func (w Awaited) Begin(ctx context.Context, t task.Task) (tasks.Begun, error) {
	request := startRequest(mcp.ArgumentsOf(t.Arguments))
	request.Task = string(t.ID)
	if request.IdempotencyKey == "" {
		request.IdempotencyKey = string(t.ID)
	}
	got, err := w.runs.Start(ctx, callerOf(t), request)
	if err != nil {
		return tasks.Begun{}, err
	}
	return tasks.Begun{WorkflowID: got.Run.WorkflowID, RunID: got.Run.RunID, At: got.Run.StartedAt, Linked: !got.Existing}, nil
}

// Look implements tasks.Work.
func (w Awaited) Look(ctx context.Context, t task.Task) (tasks.Standing, error) {
	run, err := w.runs.Latest(ctx, callerOf(t), runs.Ref{Namespace: string(t.Namespace), WorkflowID: string(t.WorkflowID)})
	if err != nil {
		return tasks.Standing{}, err
	}
	standing := tasks.Standing{
		RunID: run.RunID, Since: run.StartedAt,
		Status: fmt.Sprintf("run %s of workflow %s is %s", run.RunID, run.WorkflowID, run.Status),
	}
	if !run.Status.Terminal() || run.Status == history.ContinuedAsNew {
		return standing, nil
	}
	value, err := mcp.Encode(toStarted(run))
	if err != nil {
		panic(fmt.Errorf("encode the end of a run: %w", err))
	}
	standing.Outcome = &task.Outcome{Value: value, Refusal: unsuccessful(run)}
	return standing, nil
}

// callerOf is who made the task, with the grant that was checked then.
func callerOf(t task.Task) access.Caller {
	c := t.Caller
	return access.Caller{
		Subject: c.Subject, Mode: c.Mode, Source: c.Source, Issuer: c.Issuer, Namespaces: []domain.Namespace{t.Namespace},
		Via: access.Via{Surface: c.Surface, RequestID: c.RequestID, Remote: c.Remote},
	}
}

// unsuccessful is the refusal for a run that did not complete; nil for one that did.
func unsuccessful(run runs.Summary) *task.Refusal {
	kind, how := "", ""
	switch run.Status {
	case history.Completed, history.Running, history.Paused, history.ContinuedAsNew:
		return nil
	case history.Failed:
		kind, how = "RunFailed", "failed"
	case history.TimedOut:
		kind, how = "RunTimedOut", "timed out"
	case history.Cancelled:
		kind, how = "RunCancelled", "was cancelled"
	}
	message := fmt.Sprintf("run %s of workflow %s %s (status %s)", run.RunID, run.WorkflowID, how, run.Status)
	if f := run.Failure; f != nil {
		message += fmt.Sprintf(": %s: %s", f.Code, domain.Quote(f.Message, 1000))
	}
	if run.Outcome != "" {
		message += fmt.Sprintf("; its outcome is %q", run.Outcome)
	}
	message += "; describe_run and its transcripts show what happened"
	return &task.Refusal{Code: domain.CodeRunFailed, Type: kind, Message: message}
}

func startRequest(a mcp.Arguments) runs.StartRequest {
	return runs.StartRequest{
		Namespace: a.Text("namespace"), WorkflowType: a.Text("workflow_type"), Input: a["input"], IdempotencyKey: a.Text("idempotency_key"),
	}
}
