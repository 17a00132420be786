package actions

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
)

// begin runs an attempt whose start was recorded by the commit that scheduled it. It is registered before anything else
// is read from the outbox, so that no cancellation can miss it.
func (d *Dispatcher) begin(work context.Context, t history.Task) {
	dispatch := action.Dispatch{
		Namespace: t.Namespace, TaskQueue: t.TaskQueue, Node: t.Node, Key: t.Key, Name: t.Name, Input: t.Input,
		Config: t.Config,
	}
	attempt, release, err := d.registry.register(work, t.Key)
	if err != nil {
		d.attempts.Go(func() {
			defer d.Gate.release(t.Key)
			d.settle(work, history.Claim{Key: t.Key, Token: t.Token}, unregistered(t.Key, err), 0)
		})
		return
	}
	now := d.Clock.Now() // a moment of this clock, so that what passed since the commit is taken from it
	d.registry.claim(t.Key, t.Token, now.Add(-max(now.Sub(t.ClaimUntil.Add(-d.ClaimTTL)), 0)))
	d.attempts.Go(func() {
		defer release()
		defer d.Gate.release(t.Key)
		pprof.Do(attempt, pprof.Labels("component", "actions.attempt"), func(ctx context.Context) {
			d.run(ctx, started{dispatch, t.Token, t.PackageVersion, false})
		})
	})
}

// unregistered is the verdict of an attempt that could not join the registry: nothing has run, because what cannot be
// stopped is not started. During a drain the same attempt starts with the next server.
func unregistered(key domain.AttemptKey, err error) action.Verdict {
	if errors.Is(err, errDraining) {
		return action.Parked{}
	}
	return action.Fail(action.Terminal, action.CodeCancelPath, fmt.Sprintf("the attempt %s cannot be registered, so it could not be "+
		"stopped, and is not started: %v", key, err), nil)
}

// started is an attempt whose start is recorded; a resumed one was parked before.
type started struct {
	action.Dispatch
	token   history.Seq
	version string
	resumed bool
}

// run executes a started attempt and records its verdict.
func (d *Dispatcher) run(attempt context.Context, a started) {
	work := context.WithoutCancel(attempt)
	began := d.Clock.Now()
	verdict := d.judged(attempt, a.Dispatch, a.version, a.resumed)
	d.registry.ended(a.Key)
	d.settle(work, history.Claim{Key: a.Key, Token: a.token}, verdict, d.Clock.Now().Sub(began))
	_, dropped := verdict.(action.Dropped)
	if cause := context.Cause(attempt); cause == ports.StopClaimLost || cause == nil && dropped { //nolint:errorlint // a cause is the value itself
		d.Gate.doubted() // when nobody has taken it over, it is a task of this server that nobody runs
	}
}

// judged executes an attempt by the answer of the catalogue, and holds its result against the declared type.
func (d *Dispatcher) judged(attempt context.Context, dispatch action.Dispatch, version string, resumed bool) action.Verdict {
	a := d.lookup(context.WithoutCancel(attempt), dispatch.TaskQueue, dispatch.Name, dispatch.Key, version)
	switch found := a.Lookup.(type) {
	case action.Ambiguous:
		return action.AmbiguousBody(dispatch.Name, dispatch.TaskQueue, found)
	case action.Unreadable: // it waits under its own number until the body can be read
		return action.Parked{}
	case action.NoBody:
		return action.Fail(action.Lost, action.CodeServerDied, "the body of this attempt is not there any more", nil)
	case action.Declared:
	}
	verdict := d.execute(attempt, dispatch, a.Contract, resumed)
	if done, ok := verdict.(action.Completed); ok {
		verdict = a.Contract.JudgeResult(dispatch.TaskQueue, dispatch.Name, done.Result)
	}
	return verdict
}

// execute hands a declared body to the executor. The transcript is flushed before the verdict is given.
func (d *Dispatcher) execute(attempt context.Context, dispatch action.Dispatch, c *deployment.Contract, resumed bool) (verdict action.Verdict) {
	declared := c.Plan.Action(dispatch.TaskQueue, dispatch.Name)
	if refused := d.refused(dispatch); refused != nil {
		return *refused
	}
	if attempt.Err() != nil {
		return stopped(context.Cause(attempt))
	}
	stream := d.Transcript.Open(context.WithoutCancel(attempt), dispatch.Key, resumed)
	defer d.flushed(stream, dispatch.Key)
	defer func() {
		if p := recover(); p != nil {
			d.Logger.Error("the executor panicked", keyed(dispatch.Key, "error", p, "stack", string(debug.Stack()))...)
			verdict = action.Fail(action.Lost, action.CodeServerDied, fmt.Sprintf("the executor failed: %v", p), nil)
		}
	}()
	return d.Executor.Execute(attempt, ports.Execution{
		Dispatch: dispatch, Body: *declared.Body, Params: declared.Params, OutputSchema: declared.OutputSchema,
		ResultIsNil: c.ResultIsNil(dispatch.TaskQueue, dispatch.Name), Bound: time.Duration(dispatch.Config.TimeoutMS) * time.Millisecond, MaxResult: d.MaxResult,
		Left: d.left(dispatch.Key),
	}, stream)
}

// refused gives the failure of a dispatch that is not executed at all: unreadable input first, then the operator's switch.
// The executor makes the checks that follow (actions 1.2).
func (d *Dispatcher) refused(dispatch action.Dispatch) *action.Failed {
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
