package actions

import (
	"context"
	"slices"
	"time"

	"aion/application/engine"
	"aion/domain/history"
)

// loadTasks is how many due tasks one reading asks for, beyond those that nobody here serves; a row carries its input.
const loadTasks = 256

// busyPolls is how many polls pass between two readings while everything that can run does.
const busyPolls = 30

// reload reads the due tasks that are not in memory: at the start, after an overflow, and from time to time.
func (d *Dispatcher) reload(ctx context.Context) {
	now := d.Clock.Now()
	d.reloadAt, d.more = now.Add(busyPolls*d.Poll), false
	if d.Gate.doubtful() {
		d.recoverDoubtful(ctx)
	}
	limit := min(d.Gate.spare(), loadTasks)
	if limit <= 0 {
		d.reloadAt, d.more = now.Add(d.Poll), true
		return
	}
	if !d.apart() {
		limit += d.unserved
	}
	tasks, others, err := d.due(ctx, now, limit)
	if err != nil {
		d.Logger.Warn("due tasks cannot be read", "error", err)
		d.reloadAt = now.Add(d.Poll)
		return
	}
	unserved := others
	for _, t := range tasks {
		w := fromStore(t)
		if !d.served(ctx, w) {
			unserved++
			continue
		}
		d.Gate.enqueue(w)
	}
	d.unserved = unserved
	if unserved > 0 {
		d.leave()
	}
	if len(tasks) == limit {
		d.reloadAt, d.more = now.Add(d.Poll), true
		return
	}
	d.reloadAt = earlier(d.reloadAt, d.nextDue(ctx, now))
	if idle, _ := d.Gate.rest(); idle {
		d.within(d.Engine.Rest(d.Poll))
	}
}

// apart reports whether so much waits for workers that what the server takes itself is read by action.
func (d *Dispatcher) apart() bool { return d.Backlogs != nil && d.unserved >= loadTasks }

// due reads due tasks, oldest first; others counts those that were left out because nobody here serves them.
func (d *Dispatcher) due(ctx context.Context, now time.Time, limit int) (tasks []history.Task, others int, err error) {
	if !d.apart() {
		tasks, err = d.Tasks.Due(ctx, now, limit)
		return tasks, 0, err
	}
	backlogs, err := d.Backlogs.Backlogs(ctx, "", now)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range backlogs {
		first, err := d.Backlogs.WaitingTasks(ctx, b, now, 1)
		if err != nil {
			return nil, 0, err
		}
		if len(first) == 0 {
			continue
		}
		if !d.served(ctx, fromStore(first[0])) {
			others += int(b.Tasks)
			continue
		}
		more, err := d.Backlogs.WaitingTasks(ctx, b, now, limit)
		if err != nil {
			return nil, 0, err
		}
		tasks = append(tasks, more...)
	}
	slices.SortStableFunc(tasks, func(a, b history.Task) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
	return tasks[:min(len(tasks), limit)], others, nil
}

// nextDue is when the store has another task; tasks that nobody here serves are due all the time and hide it, so it is
// then asked again after a few polls.
func (d *Dispatcher) nextDue(ctx context.Context, now time.Time) time.Time {
	next, err := d.Tasks.NextDue(ctx)
	switch {
	case err != nil:
		return now.Add(d.Poll)
	case next.IsZero():
		return time.Time{}
	case next.After(now):
		return next
	default:
		return now.Add(5 * d.Poll)
	}
}

// refill reads the store again when slots are free and it is known to hold more; what others may have left there is looked
// for in a while.
func (d *Dispatcher) refill(ctx context.Context) {
	idle, doubt := d.Gate.rest()
	if doubt {
		d.soon()
	}
	switch {
	case idle && d.more:
		d.reload(ctx)
	case idle:
		d.within(d.Engine.Rest(d.Poll))
	}
}

// noticed is how soon tasks that wait elsewhere are read after another server has told of them, and how long a comparison of
// claims rests: one that tells often must not keep this one reading.
const noticed = 100 * time.Millisecond

// hear takes what other servers have changed: tasks that wait there, when there is a slot for them, and maybe the end of
// what runs here.
func (d *Dispatcher) hear(outbox *engine.Outbox) {
	changed, all, tasks := outbox.Elsewhere()
	if all || d.registry.runsAny(changed) {
		wake(d.suspect)
	}
	if !tasks {
		return
	}
	d.leave() // some of them may be for workers
	if idle, _ := d.Gate.rest(); idle {
		d.within(noticed)
		return
	}
	d.more = true
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

func fromStore(t history.Task) waiting {
	return waiting{parked: t.State == history.TaskParked, Queued: engine.Queued{
		Namespace: t.Namespace, Key: t.Key, TaskQueue: t.TaskQueue,
		Name: t.Name, Version: t.PackageVersion, NotBefore: t.NotBefore,
	}}
}
