package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"aion/domain"
	"aion/domain/task"
)

// look brings a started task up to date: it is settled when what it waits for has ended, and otherwise shown with the run
// that it has come to. A store that is away leaves it as it was read.
func (s *Service) look(ctx context.Context, t task.Task) (task.Task, error) {
	standing, err := guard(func() (Standing, error) { return s.Work.Look(ctx, t) })
	if err != nil {
		return s.refused(ctx, t, err)
	}
	if standing.Outcome != nil {
		return s.settle(ctx, t, *standing.Outcome, standing)
	}
	if standing.RunID != t.RunID {
		t.RunID, t.UpdatedAt = standing.RunID, standing.Since
	}
	t.StatusMessage = standing.Status
	return t, nil
}

// refused ends a task whose work refuses. What may be repeated later leaves it working.
func (s *Service) refused(ctx context.Context, t task.Task, err error) (task.Task, error) {
	var d *defectError
	switch refusal, readable := task.RefusalOf(err); {
	case asDefect(err, &d):
		return s.fail(ctx, t, d)
	case task.IsEnded(err): // somebody ended the task meanwhile
		return s.Store.MCPTask(ctx, t.ID)
	case ctx.Err() != nil || readable && (refusal.Code == domain.CodeUnavailable || refusal.Code == domain.CodeSequenceConflict):
		return t, nil //nolint:nilerr // it goes on; who looks again finds out
	case readable:
		return s.settle(ctx, t, task.Outcome{Refusal: refusal}, Standing{Status: "the call was refused: " + refusal.Type})
	}
	reference := s.IDs.UUIDv7()
	s.Log.LogAttrs(ctx, slog.LevelError, "what a task waits for failed", slog.String("task_id", string(t.ID)), slog.String("request_id", reference),
		slog.Any("error", err))
	refusal := &task.Refusal{
		Code: domain.CodeBackend, Type: "Internal",
		Message: fmt.Sprintf("the server failed at this call; its operator finds the cause in the log under reference %s", reference),
	}
	return s.settle(ctx, t, task.Outcome{Refusal: refusal}, Standing{Status: "the server failed at the call"})
}

func (s *Service) settle(ctx context.Context, t task.Task, o task.Outcome, standing Standing) (task.Task, error) {
	return s.change(ctx, t, func(t task.Task) (task.Task, error) { return t.Settle(o, standing.RunID, standing.Status, s.end()) })
}

// fail ends a task whose work met a defect: the one case of a failed task.
func (s *Service) fail(ctx context.Context, t task.Task, d *defectError) (task.Task, error) {
	reference := s.IDs.UUIDv7()
	s.Log.LogAttrs(ctx, slog.LevelError, "panic while serving a task", slog.String("task_id", string(t.ID)), slog.String("request_id", reference),
		slog.String("error", domain.Quote(fmt.Sprint(d.cause), 2000)), slog.String("stack", domain.Quote(d.stack, 16_000)))
	return s.change(ctx, t, func(t task.Task) (task.Task, error) { return t.Fail(reference, s.end()) })
}

// change ends a working task; one that ended meanwhile is shown as it ended.
func (s *Service) change(ctx context.Context, t task.Task, change func(task.Task) (task.Task, error)) (task.Task, error) {
	changed, err := s.Store.ChangeMCPTask(ctx, t.ID, change)
	if task.IsEnded(err) {
		return s.Store.MCPTask(ctx, t.ID)
	}
	return changed, err
}

// defectError is a panic of the work.
type defectError struct {
	cause any
	stack string
}

func (d *defectError) Error() string { return fmt.Sprintf("panic: %v", d.cause) }

func guard[T any](do func() (T, error)) (got T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &defectError{cause: cause, stack: string(debug.Stack())}
		}
	}()
	return do()
}
