package actions

import (
	"context"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/run"
	"aion/ports"
)

// The pauses between two tries to record a verdict while the store is away.
const (
	settleFirst = 50 * time.Millisecond
	settleMost  = 2 * time.Second
)

// unmetered counts nothing.
type unmetered struct{}

func (unmetered) AttemptEnded(ports.EndClass, time.Duration) {}

// settle records the verdict of an attempt that ran so long. While the store is away it is kept and tried again: what a
// command has done is not forgotten. The slot is free meanwhile, because nothing of the attempt runs any more. One that
// cannot be recorded is counted when it is found lost.
func (d *Dispatcher) settle(ctx context.Context, held history.Claim, verdict action.Verdict, took time.Duration) {
	if end := d.record(ctx, held, verdict); end != "" {
		d.Meter.AttemptEnded(end, took)
	}
}

// record tells how the attempt ended for history; empty: nothing was recorded.
func (d *Dispatcher) record(ctx context.Context, held history.Claim, verdict action.Verdict) ports.EndClass {
	key, end := held.Key, ports.EndCompleted
	var decide engine.Decision
	switch verdict := verdict.(type) {
	case action.Parked:
		d.park(ctx, held)
		d.Gate.doubted() // without a drain it is looked for again soon
		return ports.EndParked
	case action.Dropped:
		d.Logger.Info("the end of an attempt was dropped: its run is over, its activity cancelled or its claim lost", keyed(key)...)
		return ports.EndDropped
	case action.Completed:
		decide = d.completed(held, verdict)
	case action.Failed:
		decide, end = d.failed(held, verdict), ports.EndClass(verdict.Class)
	}
	d.Gate.release(key)
	wait := settleFirst
	for {
		receipt, err := d.Engine.Do(ctx, key.WorkflowID, decide)
		if err == nil {
			d.registry.claim(key, 0, time.Time{})
			if len(receipt.Events) == 0 {
				d.Logger.Info("a late verdict was dropped", keyed(key)...)
				return ports.EndDropped
			}
			return end
		}
		if claimLost(err) {
			d.Logger.Warn("a verdict was refused, because the claim of its attempt is lost", keyed(key, "error", err)...)
			return ports.EndDropped
		}
		if !engine.Later(err) || d.ended() {
			d.Logger.Error("a verdict cannot be recorded; the attempt counts as lost at the next start", keyed(key, "error", err)...)
			d.notKept(err)
			return ""
		}
		select {
		case <-d.Clock.After(wait):
		case <-d.ending: // one more try
		}
		wait = min(2*wait, settleMost)
	}
}

// hurry lets nobody wait for a store that is away any more.
func (d *Dispatcher) hurry() { d.hurries.Do(func() { close(d.ending) }) }

// ended reports whether the dispatcher has to end: nothing is waited for any more.
func (d *Dispatcher) ended() bool {
	select {
	case <-d.ending:
		return true
	default:
		return d.Engine.Stopped()
	}
}

func (d *Dispatcher) completed(held history.Claim, c action.Completed) engine.Decision {
	key := held.Key
	return func(v engine.View) (engine.Change, error) {
		_, open, err := running(v, key)
		if err != nil || !open {
			return engine.Change{}, err
		}
		return engine.Change{Claims: []history.Claim{held}, Facts: []history.Event{history.ActivityCompleted{ActivityID: key.ActivityID, Attempt: key.Attempt, Result: c.Result}}}, nil
	}
}

func (d *Dispatcher) failed(held history.Claim, f action.Failed) engine.Decision {
	key := held.Key
	factor := d.IDs.Factor()
	return func(v engine.View) (engine.Change, error) {
		a, open, err := running(v, key)
		if err != nil || !open {
			return engine.Change{}, err
		}
		return engine.Change{Claims: []history.Claim{held}, Facts: []history.Event{history.ActivityFailed{
			ActivityID: key.ActivityID, Attempt: key.Attempt, Class: f.Class,
			Code: f.Code, Message: f.Message, Details: f.Details, RetryAt: d.retryAt(v.At, a, f.Class, factor),
		}}}, nil
	}
}

// retryAt is when the next attempt starts; the zero time when there is none. A lost attempt is followed at once, outside
// the policy, so often in a row.
func (d *Dispatcher) retryAt(now time.Time, a run.Activity, class action.Class, factor float64) time.Time {
	if class == action.Lost {
		if a.LostInRow+1 < d.LostAttempts {
			return now
		}
		return time.Time{}
	}
	if !class.Budgeted() {
		return time.Time{}
	}
	delay, ok := action.NextDelay(a.Config.Retry, a.PolicyFailures+1, factor)
	if !ok {
		return time.Time{}
	}
	return now.Add(delay)
}

// running finds the activity whose attempt a verdict belongs to; false when it has ended otherwise. Without a folded
// state only a paused run takes the fact.
func running(v engine.View, key domain.AttemptKey) (run.Activity, bool, error) {
	if v.Run == nil || v.Run.ID() != key.RunID || !v.Run.AttemptOpen(key.ActivityID, key.Attempt) {
		return run.Activity{}, false, nil
	}
	if v.State == nil && v.Run.Status() != history.Paused {
		return run.Activity{}, false, v.Run.NoLiveExecution()
	}
	a, ok := v.Run.Activity(key.ActivityID)
	return a, ok, nil
}
