package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"aion/adapters/web/jsontext"
	"aion/application/tasks"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
)

// createTask is step 15 of a call that becomes a task: the record is durable before the answer.
func (x *exchange) createTask(ctx context.Context, call Call, arguments []byte) {
	begin := time.Now()
	if refusal := x.turnedAway(begin); refusal != nil {
		x.finish(ctx, call, begin, outcome{err: refusal})
		return
	}
	bounded, cancel := context.WithTimeoutCause(ctx, x.CallTimeout, errCallTimeout)
	defer cancel()
	t, err := x.Tasks.Create(bounded, x.caller, tasks.Call{Tool: call.Tool, Arguments: compact(arguments)})
	if err != nil {
		x.finish(ctx, call, begin, outcome{err: x.late(bounded, err)})
		return
	}
	body := append(x.taskMembers([]byte(`{"resultType":"task",`), t, false), x.catalogue.info...)
	x.finish(ctx, call, begin, outcome{body: append(body, '}')})
}

// serveTask is steps 12 and 13 of the task methods.
func (x *exchange) serveTask(ctx context.Context) *fault {
	id, f := x.named("taskId")
	if f != nil {
		return f
	}
	if !x.meta.tasks {
		return capabilityFault("%s needs the extension %s, declared in the clientCapabilities of this request", x.env.method, tasksExtension)
	}
	if x.env.method == "tasks/update" && jsontext.KindOf(x.env.params["inputResponses"]) != jsontext.Object {
		return paramsFault("params.inputResponses must be an object")
	}
	if x.refused != nil {
		return x.taskFault(ctx, task.Unknown()) // whoever is nobody owns nothing
	}
	bounded, cancel := context.WithTimeoutCause(ctx, x.CallTimeout, errCallTimeout)
	defer cancel()
	var t task.Task
	var err error
	switch x.env.method {
	case "tasks/get":
		t, err = x.Tasks.Get(bounded, x.caller, id)
	case "tasks/cancel":
		t, err = x.Tasks.Cancel(bounded, x.caller, id)
	default:
		err = x.Tasks.Update(bounded, x.caller, id)
	}
	if err != nil {
		return x.taskFault(ctx, err)
	}
	body := []byte(`{"resultType":"complete",`)
	if x.env.method == "tasks/get" {
		body = x.taskResult(x.taskMembers(body, t, true), t)
	}
	x.succeed(append(append(body, x.catalogue.info...), '}'))
	return nil
}

// taskFault tells why a task method was not served. A store that is away is no fault of the request.
func (x *exchange) taskFault(ctx context.Context, err error) *fault {
	var refusal *domain.Error
	if errors.As(err, &refusal) && refusal.Code == domain.CodeNotFound {
		return paramsFault("%s", refusal.Message)
	}
	reference := x.reference()
	x.Log.LogAttrs(ctx, slog.LevelError, "a task method failed", slog.String("request_id", reference), slog.String("method", x.env.method), slog.Any("error", err))
	return internalFault(reference)
}

// taskMembers writes the members that every form of a task has, each followed by a comma.
func (x *exchange) taskMembers(dst []byte, t task.Task, message bool) []byte {
	dst = domain.AppendText(append(dst, `"taskId":`...), string(t.ID))
	dst = domain.AppendText(append(dst, `,"status":`...), string(t.State))
	if message {
		dst = domain.AppendText(append(dst, `,"statusMessage":`...), t.StatusMessage)
	}
	dst = t.CreatedAt.AppendFormat(append(dst, `,"createdAt":"`...), history.TimeLayout)
	dst = t.UpdatedAt.AppendFormat(append(dst, `","lastUpdatedAt":"`...), history.TimeLayout)
	dst = append(dst, `","ttlMs":`...)
	if ttl, ends := t.TTL(); ends {
		dst = strconv.AppendInt(dst, max(ttl.Milliseconds(), 1), 10)
	} else {
		dst = append(dst, `null`...)
	}
	dst = strconv.AppendInt(append(dst, `,"pollIntervalMs":`...), x.PollInterval.Milliseconds(), 10)
	return append(dst, ',')
}

// taskResult writes how a task ended: the result that the call would have had, or the protocol error.
func (x *exchange) taskResult(dst []byte, t task.Task) []byte {
	switch t.State {
	case task.Completed:
		dst = append(dst, `"result":`...)
		if r := t.Outcome.Refusal; r != nil {
			refusal := &domain.Error{Code: r.Code, Type: r.Type, Message: r.Message}
			dst = append(dst, x.encodeRefusal(refusal, t.Outcome.Value)...)
		} else {
			dst = append(dst, x.encodeValue(t.Outcome.Value)...)
		}
		return append(dst, ',')
	case task.Failed:
		return append(internalFault(t.Reference).appendError(append(dst, `"error":`...)), ',')
	case task.Working, task.Cancelled:
	}
	return dst
}
