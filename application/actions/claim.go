package actions

import (
	"context"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/run"
)

// claim records the start of a waiting task that holds a slot, and runs it. Whatever it finds changed meanwhile (the run
// over, the activity cancelled, another attempt) ends the claim without a trace.
func (d *Dispatcher) claim(ctx context.Context, w waiting) {
	defer d.Gate.release(w.Key)
	attempt, release, err := d.registry.register(ctx, w.Key)
	if err != nil {
		return // a drain; the row waits for the next start of the server
	}
	defer release()
	dispatch, ok := d.prepare(ctx, w)
	if !ok {
		return
	}
	held := d.Clock.Now()
	receipt, err := d.Engine.Do(ctx, w.Key.WorkflowID, begins(w))
	if claimLost(err) {
		return // another server has taken the parked attempt up
	}
	if err != nil {
		d.Gate.doubted()
		d.Logger.Warn("the start of an attempt cannot be recorded", keyed(w.Key, "error", err)...)
		return
	}
	if token := receipt.First(); token > 0 {
		d.registry.claim(w.Key, token, held)
		d.run(attempt, started{dispatch, token, w.Version, w.parked})
	}
}

// begins decides on the start of a waiting task. History does not tell whether a parked attempt was taken up meanwhile, so
// that start rests on the task: only one that is still parked is taken up, by one server.
func begins(w waiting) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		if _, ok := claimable(v, w); !ok {
			return engine.Change{}, nil
		}
		c := engine.Change{Facts: []history.Event{history.ActivityStarted{ActivityID: w.Key.ActivityID, Attempt: w.Key.Attempt, Executor: "server"}}}
		if w.parked {
			c.Claims = []history.Claim{{Key: w.Key}}
		}
		return c, nil
	}
}

// prepare reads what the executor needs of a task that may start now.
func (d *Dispatcher) prepare(ctx context.Context, w waiting) (action.Dispatch, bool) {
	return d.dispatchOf(ctx, w.Namespace, w.Key, func(v engine.View) (run.Activity, bool) { return claimable(v, w) })
}

// dispatchOf reads what an attempt is run with, when it is one that find gives.
func (d *Dispatcher) dispatchOf(
	ctx context.Context, ns domain.Namespace, key domain.AttemptKey, find func(engine.View) (run.Activity, bool),
) (action.Dispatch, bool) {
	var open run.Activity
	var labels map[string]string
	err := d.Engine.Look(ctx, key.WorkflowID, func(v engine.View) error {
		if a, ok := find(v); ok {
			open, labels = a, v.Run.Row().Labels
		}
		return nil
	})
	if err != nil || open.Type == "" {
		return action.Dispatch{}, false
	}
	page, err := d.Events.History(ctx, key.WorkflowID, open.ScheduledSeq, 1)
	if err != nil || len(page) == 0 {
		d.Gate.doubted()
		return action.Dispatch{}, false
	}
	ev, err := page[0].Event()
	scheduled, ok := ev.(history.ActivityScheduled)
	if err != nil || !ok {
		d.Logger.Error("the event that scheduled an activity cannot be read", keyed(key, "error", err)...)
		return action.Dispatch{}, false
	}
	return action.Dispatch{
		Namespace: ns, TaskQueue: open.TaskQueue, Node: open.Node, Key: key, Name: open.Type,
		Input: scheduled.Input, Config: open.Config, Labels: labels,
	}, true
}

// claimable reports whether the attempt may start as the workflow stands. A parked one is known as started.
func claimable(v engine.View, w waiting) (run.Activity, bool) {
	if v.Run == nil || v.State == nil || v.Run.ID() != w.Key.RunID || v.Run.Status() != history.Running {
		return run.Activity{}, false
	}
	a, ok := v.Run.Activity(w.Key.ActivityID)
	return a, ok && a.Attempt == w.Key.Attempt && a.Started == w.parked && (w.parked || !a.NotBefore.After(v.At))
}

// keyed puts the attempt's names before other log members.
func keyed(key domain.AttemptKey, more ...any) []any {
	return append([]any{"workflow_id", key.WorkflowID, "run_id", key.RunID, "activity_id", key.ActivityID, "attempt", key.Attempt}, more...)
}
