package engine

import (
	"slices"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// Offer is what a commit asks of those who run attempts: a closed set.
//
//sumtype:decl
type Offer interface{ offer() }

// The offers.
type (
	// Granted is an attempt whose start is durable and whose slot is held: it must be run.
	Granted struct{ Task history.Task }
	// Queued is a task that waits for a slot from NotBefore on. Key.Attempt is the coming one.
	Queued struct {
		Namespace domain.Namespace
		Key       domain.AttemptKey
		TaskQueue string
		Name      string
		Version   string
		NotBefore time.Time
	}
	// RunOver says that nothing of a run may go on.
	RunOver struct {
		WorkflowID domain.WorkflowID
		RunID      domain.RunID
	}
	// ActivityOver says that an activity of a run that goes on was cancelled.
	ActivityOver struct {
		WorkflowID domain.WorkflowID
		RunID      domain.RunID
		ActivityID int64
	}
)

func (Granted) offer()      {}
func (Queued) offer()       {}
func (RunOver) offer()      {}
func (ActivityOver) offer() {}

// offeredQueued bounds the queued tasks that are offered from memory. What does not fit is in the store, and Take says so.
const offeredQueued = 4096

// Outbox hands committed events to those who act on them: from memory in the common case. After a crash the rows of the
// store say the same. It is safe for concurrent use, with one reader per kind.
type Outbox struct {
	tasks    chan struct{}
	timers   chan struct{}
	messages chan struct{}

	mu       sync.Mutex
	offers   []Offer
	queued   int
	missed   bool
	earliest time.Time
	noted    noted
}

func newOutbox() *Outbox {
	return &Outbox{tasks: make(chan struct{}, 1), timers: make(chan struct{}, 1), messages: make(chan struct{}, 1)}
}

// Tasks is written when there are offers.
func (o *Outbox) Tasks() <-chan struct{} { return o.tasks }

// Take gives the offers in commit order. missed says that queued tasks were left to the store.
func (o *Outbox) Take() (offers []Offer, missed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	offers, missed = o.offers, o.missed
	o.offers, o.queued, o.missed = nil, 0, false
	return offers, missed
}

// Timers is written when a timer was set.
func (o *Outbox) Timers() <-chan struct{} { return o.timers }

// Earliest gives the earliest due time that was set since the last call; the zero time when there is none.
func (o *Outbox) Earliest() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.earliest
	o.earliest = time.Time{}
	return t
}

// Messages is written when a workflow has posted something for another.
func (o *Outbox) Messages() <-chan struct{} { return o.messages }

// commit offers what the durable commit of a turn asks for.
func (o *Outbox) commit(t *turn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var tasks, timers, messages bool
	stopped := cancelled(t.commit.Events)
	for _, act := range t.commit.Acts {
		switch act := act.(type) {
		case history.TaskAdded:
			tasks = true
			if slices.Contains(t.granted, act.Task.Key) {
				o.offers = append(o.offers, Granted{act.Task})
			} else {
				o.queue(t, act.Task.Key.ActivityID)
			}
		case history.TaskMoved:
			tasks = true
			o.queue(t, act.Key.ActivityID)
		case history.TimerSet:
			timers = true
			if o.earliest.IsZero() || act.Timer.FireAt.Before(o.earliest) {
				o.earliest = act.Timer.FireAt
			}
		case history.RunClosed:
			o.offers, tasks = append(o.offers, RunOver{act.WorkflowID, act.RunID}), true
		case history.Posted:
			messages = true
		case history.TaskEnded:
			if stopped[ActivityOver(act)] {
				o.offers, tasks = append(o.offers, ActivityOver(act)), true
			}
		case history.LeaseTaken, history.LeaseOver:
			// whoever grants and ends leases knows
		case history.TimerCleared:
			// a timer that is due anyway is found stale
		}
	}
	notify(o.tasks, tasks)
	notify(o.timers, timers)
	notify(o.messages, messages)
}

// doubt says that a commit which seemed to fail may have happened: the rows of the store tell.
func (o *Outbox) doubt(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missed, o.earliest = true, now
	notify(o.tasks, true)
	notify(o.timers, true)
	notify(o.messages, true)
}

// queue offers an open activity that waits for its start.
func (o *Outbox) queue(t *turn, activityID int64) {
	r := t.entry.run
	a, open := r.Activity(activityID)
	if !open || a.Started || r.Status() != history.Running {
		return
	}
	if o.queued >= offeredQueued {
		o.missed = true
		return
	}
	o.queued++
	row := r.Row()
	o.offers = append(o.offers, Queued{
		Namespace: row.Namespace, TaskQueue: a.TaskQueue, Name: a.Type, Version: row.PackageVersion,
		Key:       domain.AttemptKey{WorkflowID: row.WorkflowID, RunID: row.RunID, ActivityID: a.ID, Attempt: a.Attempt},
		NotBefore: a.NotBefore,
	})
}

// cancelled finds the activities that ended because they were cancelled, and not by a verdict.
func cancelled(events []history.Recorded) map[ActivityOver]bool {
	var found map[ActivityOver]bool
	for _, r := range events {
		if r.Type != (history.ActivityCancelled{}).Type() {
			continue
		}
		if ev, err := r.Event(); err == nil {
			if found == nil {
				found = map[ActivityOver]bool{}
			}
			found[ActivityOver{r.WorkflowID, r.RunID, ev.(history.ActivityCancelled).ActivityID}] = true
		}
	}
	return found
}

func notify(c chan struct{}, yes bool) {
	if !yes {
		return
	}
	select {
	case c <- struct{}{}:
	default:
	}
}
