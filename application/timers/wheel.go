// Package timers turns due rows into facts.
package timers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// batch is how many due timers are fired side by side.
const batch = 1024

// asideMost bounds the timers that are left alone because their run cannot take them now.
const asideMost = 10_000

// Wheel fires due timers. A timer is never fired early by the time that its firing records, and one whose run cannot take
// it (its plan is not loaded, its history cannot be read) hides no other.
type Wheel struct {
	engine *engine.Engine
	timers ports.TimerStore
	clock  ports.Clock
	logger *slog.Logger
	poll   time.Duration

	aside map[timer]time.Time // until when a timer is left alone
}

type timer struct {
	run domain.RunID
	id  int64
}

// New gives a wheel that does nothing until Run. A wake-up that gets lost stays unnoticed for at most poll (1 s when zero).
func New(e *engine.Engine, timers ports.TimerStore, clock ports.Clock, logger *slog.Logger, poll time.Duration) *Wheel {
	if poll <= 0 {
		poll = time.Second
	}
	return &Wheel{engine: e, timers: timers, clock: clock, logger: logger, poll: poll, aside: map[timer]time.Time{}}
}

// Run fires timers until ctx ends, and returns its cause.
func (w *Wheel) Run(ctx context.Context) error {
	sooner := w.engine.Outbox().Timers()
	next := w.fireDue(ctx)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sooner:
			if set := w.engine.Outbox().Earliest(); !set.IsZero() && set.Before(next) {
				next = set
			}
			if next.After(w.clock.Now()) {
				continue
			}
		case <-w.clock.After(w.until(next)):
		}
		if !next.After(w.clock.Now()) {
			next = w.fireDue(ctx)
		}
	}
}

// until is how long to wait for a time: the wall clock may be set meanwhile, so it is looked at again after each poll.
func (w *Wheel) until(next time.Time) time.Duration {
	return min(max(next.Sub(w.clock.Now()), 0), w.poll)
}

// fireDue fires what is due and gives the time of the next look at the store.
func (w *Wheel) fireDue(ctx context.Context) time.Time {
	for {
		now := w.clock.Now()
		w.forget(now)
		limit := batch + len(w.aside)
		due, err := w.timers.DueTimers(ctx, w.engine.Shards(), now, limit)
		if err != nil {
			w.logger.Warn("due timers cannot be read", "error", err)
			return now.Add(w.poll)
		}
		fired, away := w.fire(ctx, due)
		if away {
			return now.Add(w.poll)
		}
		if fired == 0 || len(due) < limit {
			return w.next(ctx, now)
		}
	}
}

// next is when the store has another timer. Those that are left aside are due all the time and hide it, so it is then
// asked again after a poll; the outbox tells of every timer that is set meanwhile.
func (w *Wheel) next(ctx context.Context, now time.Time) time.Time {
	rest := w.engine.Rest(w.poll)
	next, err := w.timers.NextTimer(ctx, w.engine.Shards())
	switch {
	case err != nil:
		w.logger.Warn("the next timer cannot be read", "error", err)
		return now.Add(w.poll)
	case next.After(now) && next.Before(now.Add(rest)):
		return next
	case next.IsZero() || next.After(now):
		return now.Add(rest)
	default:
		return now.Add(w.poll)
	}
}

// fire puts the due timers to their runs, side by side, and waits for all.
func (w *Wheel) fire(ctx context.Context, due []history.Timer) (fired int, away bool) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, t := range due {
		key := timer{t.RunID, t.TimerID}
		if _, left := w.left(&mu, key); left {
			continue
		}
		fired++
		wait.Add(1)
		w.engine.Post(ctx, t.WorkflowID, Fire(t), func(r engine.Receipt, err error) {
			defer wait.Done()
			if len(r.Events) > 0 {
				w.engine.TimerFired(r.Events[0].At.Sub(t.FireAt))
			}
			if len(r.Events) > 0 || err == nil && w.clock.Now().Before(t.FireAt) {
				return // fired, or the clock was set back and it will be due again
			}
			mu.Lock()
			defer mu.Unlock()
			if engine.Later(err) {
				away = true
				return
			}
			w.leave(key, t, err)
		})
	}
	wait.Wait()
	return fired, away
}

func (w *Wheel) left(mu *sync.Mutex, key timer) (time.Time, bool) {
	mu.Lock()
	defer mu.Unlock()
	until, ok := w.aside[key]
	return until, ok
}

// leave leaves a timer alone for a minute: its run cannot take it, or does not know it.
func (w *Wheel) leave(key timer, t history.Timer, err error) {
	if err != nil {
		w.logger.Error("a due timer cannot be fired", "workflow_id", t.WorkflowID, "run_id", t.RunID, "error", err)
	}
	if len(w.aside) < asideMost {
		w.aside[key] = w.clock.Now().Add(time.Minute)
	}
}

func (w *Wheel) forget(now time.Time) {
	for key, until := range w.aside {
		if !until.After(now) {
			delete(w.aside, key)
		}
	}
}

// Fire decides on a due timer: it fires when its run still has it and its time has come by the clock that records the
// firing. One that is stale by now records nothing; its row goes with the event that made it stale.
func Fire(t history.Timer) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		if v.Run == nil || v.Run.ID() != t.RunID || v.Run.Status() != history.Running {
			return engine.Change{}, nil
		}
		open, ok := v.Run.Timer(t.TimerID)
		if !ok || open.FireAt.After(v.At) {
			return engine.Change{}, nil
		}
		if v.State == nil {
			return engine.Change{}, v.Run.NoLiveExecution()
		}
		return engine.Change{Facts: []history.Event{history.TimerFired{TimerID: t.TimerID}}}, nil
	}
}
