package run

import (
	"fmt"
	"time"
	"unique"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
)

// Run is the fold of one run's events. It is owned by its caller and not safe for concurrent use.
type Run struct {
	row      history.RunRow
	head     history.Seq
	terminal history.Seq // of the terminal event; 0: none
	result   domain.Payload
	failure  *history.Failure
	open     ordered[Activity]
	past     []dispatched // by activity id
	timers   ordered[Timer]
	nextTmr  int64
	children ordered[Child] // awaited ones
	nextKid  int64
}

// Activity is an open activity. Attempt is the running or the coming one, Since the time of its start, else the time at
// which it was asked for.
type Activity struct {
	ID           int64
	Type         string
	TaskQueue    string
	Node         string
	Step         string
	Scope        string
	Attempt      int
	Started      bool
	Since        time.Time
	NotBefore    time.Time
	ScheduledSeq history.Seq
	Config       action.Config
	// PolicyFailures counts ended attempts of class retryable and timeout; LostInRow the lost ones since the last other end.
	PolicyFailures int
	LostInRow      int
	movedSeq       history.Seq // of its newest start, else of its scheduling
}

// Timer is an open timer; Step is empty for the workflow's own.
type Timer struct {
	ID      int64
	Purpose string
	FireAt  time.Time
	Since   time.Time
	Step    string
}

// Child is an awaited child that has not ended.
type Child struct {
	ID           int64
	WorkflowID   domain.WorkflowID
	WorkflowType string
	Since        time.Time
}

// dispatched is what stays known of an activity after its end; names are interned because a run repeats few of them.
type dispatched struct {
	name     unique.Handle[string]
	attempts int32
}

// New gives the projection of a run that has no event yet; generation counts from 1.
func New(ns domain.Namespace, generation int) *Run {
	return &Run{row: history.RunRow{Namespace: ns, Generation: generation}}
}

// Row is the visibility projection.
func (r *Run) Row() history.RunRow { return r.row }

// Head is the seq of the newest applied event.
func (r *Run) Head() history.Seq { return r.head }

// ID is the run's id.
func (r *Run) ID() domain.RunID { return r.row.RunID }

// WorkflowID is the workflow that the run is a generation of.
func (r *Run) WorkflowID() domain.WorkflowID { return r.row.WorkflowID }

// Status is the present one.
func (r *Run) Status() history.Status { return r.row.Status }

// Ended reports whether a terminal stands that is not superseded.
func (r *Run) Ended() bool { return r.terminal != 0 }

// Result is the payload of the outcome; nil when there is none.
func (r *Run) Result() domain.Payload { return r.result }

// Failure is the failure that ended the run, also of one that was cancelled (code cancelled, the message is the reason) or
// reached its timeout (timed_out); nil when there is none.
func (r *Run) Failure() *history.Failure { return r.failure }

// Open gives the open activities by id. An ended run has none.
func (r *Run) Open() []Activity {
	if r.Ended() {
		return nil
	}
	return r.open.list()
}

// Activity finds an open activity.
func (r *Run) Activity(id int64) (Activity, bool) {
	if a := r.open.find(id); a != nil && !r.Ended() {
		return *a, true
	}
	return Activity{}, false
}

// Current is the open activity started last, else the one scheduled last; false when none is open.
func (r *Run) Current() (Activity, bool) {
	var best Activity
	if r.Ended() {
		return best, false
	}
	r.open.each(func(a *Activity) bool {
		if best.Type == "" || a.Started && !best.Started || a.Started == best.Started && a.movedSeq > best.movedSeq {
			best = *a
		}
		return true
	})
	return best, best.Type != ""
}

// CurrentStep is Current as lists show it; nil when none is open.
func (r *Run) CurrentStep() *history.CurrentStep {
	a, open := r.Current()
	if !open {
		return nil
	}
	return &history.CurrentStep{ActivityID: a.ID, ActivityType: a.Type, Attempt: a.Attempt, Step: a.Step}
}

// Timers gives the open timers by id. An ended run has none.
func (r *Run) Timers() []Timer {
	if r.Ended() {
		return nil
	}
	return r.timers.list()
}

// Timer finds an open timer.
func (r *Run) Timer(id int64) (Timer, bool) {
	if t := r.timers.find(id); t != nil && !r.Ended() {
		return *t, true
	}
	return Timer{}, false
}

// Children gives the awaited children that have not ended, by id. An ended run has none.
func (r *Run) Children() []Child {
	if r.Ended() {
		return nil
	}
	return r.children.list()
}

// ChildType is the workflow type of an awaited child; empty when it is not awaited.
func (r *Run) ChildType(child int64) string {
	if c := r.children.find(child); c != nil && !r.Ended() {
		return c.WorkflowType
	}
	return ""
}

// Awaits reports whether a child with this ordinal and id is awaited and has not ended.
func (r *Run) Awaits(child int64, id domain.WorkflowID) bool {
	c := r.children.find(child)
	return c != nil && !r.Ended() && c.WorkflowID == id
}

// Dispatched gives the type of an activity and the highest attempt that was started; false for one never scheduled.
func (r *Run) Dispatched(activityID int64) (name string, attempts int, ok bool) {
	if activityID < 0 || activityID >= int64(len(r.past)) {
		return "", 0, false
	}
	d := r.past[activityID]
	return d.name.Value(), int(d.attempts), true
}

// AttemptOpen reports whether an attempt runs now.
func (r *Run) AttemptOpen(activityID int64, attempt int) bool {
	a, ok := r.Activity(activityID)
	return ok && a.Started && a.Attempt == attempt
}

func intern(s string) string { return unique.Make(s).Value() }

// illegal refuses an event that cannot stand where it stands: the history is damaged, or was written by another program.
func illegal(e history.Recorded, format string, args ...any) error {
	return &domain.Error{
		Code: domain.CodeBackend, Type: "StoreFault",
		Message: fmt.Sprintf("event %d (%s) of workflow %s cannot stand there: %s", e.Seq, e.Type, e.WorkflowID, fmt.Sprintf(format, args...)),
	}
}

// Next gives the projection of the generation after this one, before its first event.
func Next(before *Run) *Run {
	next := New(before.row.Namespace, before.row.Generation+1)
	next.head = before.head
	return next
}
