package actions

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
)

// begin runs an attempt whose start was recorded by the commit that scheduled it. It is registered before anything else
// is read from the outbox, so that no cancellation can miss it.
func (d *Dispatcher) begin(work context.Context, t history.Task) {
	attempt, release, err := d.registry.register(work, t.Key)
	if err != nil {
		// Nothing has run: the row is parked and the same attempt starts with the next server.
		d.attempts.Go(func() {
			defer d.Gate.release(t.Key)
			d.park(work, t.Key)
		})
		return
	}
	dispatch := action.Dispatch{
		Namespace: t.Namespace, TaskQueue: t.TaskQueue, Node: t.Node, Key: t.Key, Name: t.Name, Input: t.Input,
		Config: t.Config,
	}
	d.attempts.Go(func() {
		defer release()
		defer d.Gate.release(t.Key)
		pprof.Do(attempt, pprof.Labels("component", "actions.attempt"), func(ctx context.Context) {
			d.run(ctx, dispatch, t.PackageVersion, false)
		})
	})
}

// run executes a started attempt and records its verdict.
func (d *Dispatcher) run(attempt context.Context, dispatch action.Dispatch, version string, resumed bool) {
	work := context.WithoutCancel(attempt)
	contract, err := d.Plans.Contract(work, version)
	if err != nil {
		d.Logger.Error("the plan of a started attempt cannot be loaded", keyed(dispatch.Key, "error", err)...)
		d.settle(work, dispatch, action.Failed{Class: action.Lost, Code: action.CodeServerDied, Message: "the plan of this attempt could not be loaded"})
		return
	}
	verdict := d.execute(attempt, dispatch, contract, resumed)
	if done, ok := verdict.(action.Completed); ok {
		verdict = contract.JudgeResult(dispatch.TaskQueue, dispatch.Name, done.Result)
	}
	d.settle(work, dispatch, verdict)
}

// execute hands a declared body to the executor. The transcript is flushed before the verdict is given.
func (d *Dispatcher) execute(attempt context.Context, dispatch action.Dispatch, c *deployment.Contract, resumed bool) (verdict action.Verdict) {
	declared := c.Plan.Action(dispatch.TaskQueue, dispatch.Name)
	if refused := d.refused(dispatch, declared); refused != nil {
		return *refused
	}
	if attempt.Err() != nil {
		return stopped(context.Cause(attempt))
	}
	stream := d.Transcript.Open(context.WithoutCancel(attempt), dispatch.Key, resumed)
	defer stream.Close()
	defer func() {
		if p := recover(); p != nil {
			d.Logger.Error("the executor panicked", keyed(dispatch.Key, "error", p, "stack", string(debug.Stack()))...)
			verdict = action.Fail(action.Lost, action.CodeServerDied, fmt.Sprintf("the executor failed: %v", p), nil)
		}
	}()
	return d.Executor.Execute(attempt, ports.Execution{
		Dispatch: dispatch, Body: *declared.Body, Params: declared.Params, OutputSchema: declared.OutputSchema,
		ResultIsNil: isNil(c, dispatch), Bound: time.Duration(dispatch.Config.TimeoutMS) * time.Millisecond, MaxResult: d.MaxResult,
	}, stream)
}

// refused gives the failure of a dispatch that is not executed at all: unreadable input first, then the operator's switch.
func (d *Dispatcher) refused(dispatch action.Dispatch, declared *plan.Action) *action.Failed {
	if declared == nil || declared.Body == nil {
		f := action.Fail(action.Terminal, action.CodeBodyUnparsable,
			fmt.Sprintf("action `%s` of task queue `%s` has no declared body in this run's version", dispatch.Name, dispatch.TaskQueue), nil)
		return &f
	}
	if d.Gate.bodies != BodiesOff {
		return nil
	}
	if _, unreadable := action.ParseInput(dispatch.Input); unreadable != nil {
		return unreadable
	}
	f := action.BodiesOff(dispatch.Name, dispatch.TaskQueue)
	return &f
}

// stopped is the verdict of an attempt that was stopped before anything of it began.
func stopped(cause error) action.Verdict {
	if cause == ports.StopDrain { //nolint:errorlint // a cause is the value itself
		return action.Parked{}
	}
	return action.Dropped{}
}

// isNil reports whether the declared result is Nil: the only type that null fits.
func isNil(c *deployment.Contract, dispatch action.Dispatch) bool {
	_, fits := c.JudgeResult(dispatch.TaskQueue, dispatch.Name, []byte("null")).(action.Completed)
	return fits
}
