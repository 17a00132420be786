package actions

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

// recoverAtOnce bounds the lost attempts that are recorded side by side.
const recoverAtOnce = 256

// Recover records as lost every attempt that an earlier server left running, so that it is tried again. It must be called
// once, while the engine runs and before the dispatcher does. Where other servers work on the store, those are the attempts of
// the instances that are proved dead; else all that are not this server's. It tells how many there were.
func (d *Dispatcher) Recover(ctx context.Context, dead ...string) (int, error) {
	if !d.Engine.Shared() {
		dead = nil
	} else if len(dead) == 0 {
		return 0, nil
	}
	held, err := d.Tasks.Held(ctx, dead...)
	if err != nil {
		return 0, err
	}
	var left []history.Task
	for _, t := range held {
		if t.Owner != d.Engine.Owner() && !t.Remote() { // leases hold across a restart (actions 5.5)
			left = append(left, t)
		}
	}
	_, err = d.recordLost(ctx, left)
	return len(left), err
}

// The attempts that cannot be recorded as lost now, because their plan is not loaded, are left alone for a while.
const (
	asideMost = 10_000
	asideFor  = time.Minute
)

// lapsedMost bounds the claims that one look finds ended.
const lapsedMost = 1024

// sighting is a claim that its owner should have renewed.
type sighting struct {
	task  history.Task
	polls int // so often in a row, unchanged
}

// TakeOver records attempts of other servers as lost whose claims have ended, until ctx ends (actions 5.4); only once the
// store has answered this server without a gap for as long as a claim holds, because when it was away for all their owners
// come back first. And because clocks may be set, nobody must have renewed the claim over more polls than its owner lets pass.
// It returns the cause of ctx.
func (d *Dispatcher) TakeOver(ctx context.Context) error {
	aside, seen := map[domain.AttemptKey]time.Time{}, map[domain.AttemptKey]sighting{}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.Clock.After(d.Poll):
		}
		if d.Peers == nil || d.Peers.Gapless() < d.ClaimTTL {
			continue
		}
		if err := d.takeOver(ctx, aside, seen); err != nil && ctx.Err() == nil {
			d.Logger.Warn("attempts of a dead server cannot be taken over now", "error", err)
		}
	}
}

func (d *Dispatcher) takeOver(ctx context.Context, aside map[domain.AttemptKey]time.Time, seen map[domain.AttemptKey]sighting) error {
	now := d.Clock.Now()
	maps.DeleteFunc(aside, func(_ domain.AttemptKey, until time.Time) bool { return !until.After(now) })
	overdue := d.ClaimTTL/renewals + margin
	late, err := d.Tasks.Lapsed(ctx, now.Add(overdue), lapsedMost+len(aside))
	if err != nil {
		clear(seen)
		return err
	}
	lapsed := unrenewed(late, seen, now, max(int(overdue/d.Poll), 1))
	lapsed = slices.DeleteFunc(lapsed, func(t history.Task) bool { _, left := aside[t.Key]; return left })
	refused, err := d.recordLost(ctx, d.abandoned(lapsed))
	for _, key := range refused {
		if len(aside) < asideMost {
			aside[key] = now.Add(asideFor)
		}
	}
	return err
}

// unrenewed gives the tasks whose claims have ended, and were seen unchanged more often than so.
func unrenewed(late []history.Task, seen map[domain.AttemptKey]sighting, now time.Time, often int) (lapsed []history.Task) {
	before := maps.Clone(seen)
	clear(seen)
	for _, t := range late {
		s := sighting{task: t, polls: 1}
		if old, ok := before[t.Key]; ok && old.task.Token == t.Token && old.task.ClaimUntil.Equal(t.ClaimUntil) {
			s.polls = old.polls + 1
		}
		seen[t.Key] = s
		if s.polls > often && !t.ClaimUntil.After(now) {
			lapsed = append(lapsed, t)
		}
	}
	return lapsed
}

// recoverDoubtful finds attempts of this server that nobody runs: they were recorded as started by a commit that seemed to
// fail, or stopped while the store was away.
func (d *Dispatcher) recoverDoubtful(ctx context.Context) {
	held, err := d.Tasks.Held(ctx, d.Engine.Owner())
	if err == nil {
		_, err = d.recordLost(ctx, d.abandoned(held))
	}
	if err != nil {
		d.Gate.doubted()
		d.soon()
	}
}

// abandoned gives the tasks whose attempts are not looked after here.
func (d *Dispatcher) abandoned(tasks []history.Task) (left []history.Task) {
	for _, t := range tasks {
		if !d.Gate.holds(t.Key) && !d.registry.holds(t.Key) {
			left = append(left, t)
		}
	}
	return left
}

// recordLost records attempts as lost. One that has ended or was taken up meanwhile is left as it is, and so is one that is refused,
// because its plan is not loaded.
func (d *Dispatcher) recordLost(ctx context.Context, tasks []history.Task) (refused []domain.AttemptKey, away error) {
	var mu sync.Mutex
	for len(tasks) > 0 {
		n := min(len(tasks), recoverAtOnce)
		var wait sync.WaitGroup
		wait.Add(n)
		for _, t := range tasks[:n] {
			d.Engine.Post(ctx, t.Key.WorkflowID, d.died(history.Claim{Key: t.Key, Token: t.Token}), func(r engine.Receipt, err error) {
				defer wait.Done()
				err = d.noteLost(t.Key, r, err)
				mu.Lock()
				defer mu.Unlock()
				if engine.Later(err) {
					away = err
				} else if err != nil {
					refused = append(refused, t.Key)
				}
			})
		}
		wait.Wait()
		tasks = tasks[n:]
	}
	return refused, away
}

// noteLost counts an attempt that was recorded as lost. It passes what stands against that; not that another server says by
// now how it ends.
func (d *Dispatcher) noteLost(key domain.AttemptKey, r engine.Receipt, err error) error {
	switch {
	case err == nil && len(r.Events) > 0:
		d.Meter.AttemptEnded(ports.EndClass(action.Lost), 0)
	case err != nil && !claimLost(err):
		d.Logger.Error("a lost attempt cannot be recorded", keyed(key, "error", err)...)
		return err
	}
	return nil
}

func (d *Dispatcher) died(held history.Claim) engine.Decision {
	key := held.Key
	return func(v engine.View) (engine.Change, error) {
		a, open, err := running(v, key)
		if err != nil || !open || d.registry.holds(key) {
			return engine.Change{}, err
		}
		return engine.Change{Claims: []history.Claim{held}, Facts: []history.Event{history.ActivityFailed{
			ActivityID: key.ActivityID, Attempt: key.Attempt, Class: action.Lost,
			Code: action.CodeServerDied, Message: "the server that ran this attempt died", RetryAt: d.retryAt(v.At, a, action.Lost, 0),
		}}}, nil
	}
}
