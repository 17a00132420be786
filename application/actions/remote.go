package actions

import (
	"context"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/run"
	"aion/ports"
)

// leave tells that tasks wait for remote workers.
func (d *Dispatcher) leave() {
	if d.Left != nil {
		d.Left()
	}
}

// Waits reads what a worker needs of a task that waits; false: it cannot begin any more, or not now.
func (d *Dispatcher) Waits(ctx context.Context, t history.Task) (action.Dispatch, bool) {
	return d.prepare(ctx, fromStore(t))
}

// Runs reads the same of a task whose attempt a worker holds.
func (d *Dispatcher) Runs(ctx context.Context, l history.Lease) (action.Dispatch, bool) {
	return d.dispatchOf(ctx, l.Namespace, l.Key, func(v engine.View) (run.Activity, bool) {
		a, open, err := running(v, l.Key)
		return a, open && err == nil
	})
}

// Grants decides on the start of a waiting task by the worker of a lease, which begins then and ends ttl later, or with the
// authored bound. What has changed meanwhile records nothing.
func (d *Dispatcher) Grants(t history.Task, executor string, l *history.Lease, ttl time.Duration) engine.Decision {
	begin := begins(fromStore(t))
	return func(v engine.View) (engine.Change, error) {
		c, err := begin(v)
		if err != nil || len(c.Facts) == 0 {
			return c, err
		}
		a, _ := v.Run.Activity(t.Key.ActivityID)
		l.Token, l.GrantedAt, l.Until, l.Deadline, l.State = v.Run.Head()+1, v.At, v.At.Add(ttl), time.Time{}, history.LeaseHeld
		if bound := a.Config.TimeoutMS; bound > 0 {
			l.Deadline = v.At.Add(time.Duration(bound) * time.Millisecond)
			l.Until = earlier(l.Until, l.Deadline)
		}
		c.Facts[0] = history.ActivityStarted{ActivityID: t.Key.ActivityID, Attempt: t.Key.Attempt, Executor: executor}
		c.Remote, c.Acts = history.RemoteOwner(l.WorkerID), []history.Act{history.LeaseTaken{Lease: *l}}
		return c, nil
	}
}

// Settles decides on the verdict of an attempt that a lease holds; over is what becomes of the lease with it, which learns
// when the next attempt follows. An attempt that has ended otherwise records nothing.
func (d *Dispatcher) Settles(held history.Claim, verdict action.Verdict, over history.LeaseOver) engine.Decision {
	var decide engine.Decision
	switch verdict := verdict.(type) {
	case action.Completed:
		decide = d.completed(held, verdict)
	case action.Failed:
		decide = d.failed(held, verdict)
	case action.Parked, action.Dropped:
		return func(engine.View) (engine.Change, error) { return engine.Change{}, nil }
	}
	return func(v engine.View) (engine.Change, error) {
		c, err := decide(v)
		if err != nil || len(c.Facts) == 0 {
			return c, err
		}
		lease := over
		if f, ok := c.Facts[0].(history.ActivityFailed); ok {
			lease.RetryAt = f.RetryAt
		}
		c.Acts = []history.Act{lease}
		return c, nil
	}
}

// Standing tells why an attempt is not open any more, and which attempt of its activity is; empty: it is open.
func (d *Dispatcher) Standing(ctx context.Context, key domain.AttemptKey) (why history.LeaseEnd, attempt int, err error) {
	err = d.Engine.Look(ctx, key.WorkflowID, func(v engine.View) error {
		attempt = key.Attempt
		if v.Run == nil || v.Run.ID() != key.RunID || v.Run.Ended() {
			why = history.LeaseRunClosed
			return nil
		}
		a, open := v.Run.Activity(key.ActivityID)
		switch {
		case open && a.Attempt == key.Attempt && a.Started:
		case open:
			why, attempt = history.LeaseSuperseded, a.Attempt
		default:
			why = history.LeaseCancelled
		}
		return nil
	})
	return why, attempt, err
}

// Remote tells the gate how many attempts remote workers hold: by grants of this server, and of each namespace by those of
// any server.
func (g *Gate) Remote(mine int, perNS map[domain.Namespace]int) {
	g.mu.Lock()
	fewer := mine < g.granted
	g.granted, g.remote = mine, perNS
	g.mu.Unlock()
	if fewer {
		wake(g.freed)
	}
}

// Room is how many more attempts may begin on this server.
func (g *Gate) Room() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0
	}
	return g.limits.InFlight - len(g.held) - g.granted
}

// RoomOf is how many more attempts of a namespace may begin.
func (g *Gate) RoomOf(ns domain.Namespace) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most(ns) - g.perNS[ns] - g.remote[ns]
}

// Serves reports whether the server takes an action itself.
func (g *Gate) Serves(a *plan.Action) bool { return g.bodies.Serves(a) }

// Ended counts the end of a remote attempt.
func (d *Dispatcher) Ended(verdict action.Verdict, took time.Duration) {
	switch verdict := verdict.(type) {
	case action.Completed:
		d.Meter.AttemptEnded(ports.EndCompleted, took)
	case action.Failed:
		d.Meter.AttemptEnded(ports.EndClass(verdict.Class), took)
	case action.Parked, action.Dropped:
	}
}
