package run

import (
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
)

// Account is what the history of one run tells besides where the run stands: how it began and ended, who holds it, and
// every activity and child that it had. Of the values of an activity it keeps the places only, so that it stays small. It is owned by
// its caller and not safe for concurrent use.
type Account struct {
	Started    history.WorkflowStarted
	Pause      *Pause    // nil while nobody holds the run
	EndedBy    string    // who cancelled it; else empty
	Deadline   time.Time // when the timeout of the workflow fires; zero: never
	Activities []ActivityAccount
	Children   []ChildAccount
}

// Pause says who holds a run, why and since when.
type Pause struct {
	By     string
	Reason string
	Since  time.Time
}

// ActivityState is how an activity or an attempt stands.
type ActivityState string

// The states. An attempt is parked when a drain stopped it: it begins again under its own number.
const (
	ActivityScheduled ActivityState = "scheduled"
	ActivityStarted   ActivityState = "started"
	ActivityParked    ActivityState = "parked"
	ActivityCompleted ActivityState = "completed"
	ActivityFailed    ActivityState = "failed"
	ActivityCancelled ActivityState = "cancelled" // also one that was open when its run closed
)

// Open reports whether an activity has not ended.
func (s ActivityState) Open() bool { return s == ActivityScheduled || s == ActivityStarted }

// ActivityAccount is one activity with its attempts.
type ActivityAccount struct {
	ID            int64
	Type          string
	TaskQueue     string
	Node          string
	Step          string
	Scope         string
	State         ActivityState
	InputSeq      history.Seq // the event that holds its input
	ResultSeq     history.Seq // the event that holds its result; 0: none
	ScheduledAt   time.Time
	EndedAt       time.Time // zero while open
	NextAttemptAt time.Time // zero: none waits
	Attempts      []AttemptAccount
}

// AttemptAccount is one try. Class, code and message are those of its failure.
type AttemptAccount struct {
	Attempt   int
	State     ActivityState
	Executor  string
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	Class     action.Class
	Code      string
	Message   string
	EndSeq    history.Seq // the event that ended it, which holds the details of its failure; 0: it runs, or the run ended it
}

// ChildAccount is one child that the run started. Open says that the run awaits its end.
type ChildAccount struct {
	WorkflowID   domain.WorkflowID
	WorkflowType string
	Step         string
	Detached     bool
	Open         bool
	ordinal      int64
}

// Apply folds the next event of the run in. The history was judged when it was written, so that what does not fit is
// passed over.
func (a *Account) Apply(e history.Recorded) error {
	ev, err := e.Event()
	if err != nil {
		return err
	}
	switch ev := ev.(type) {
	case history.WorkflowStarted:
		a.Started = ev
	case history.WorkflowPaused:
		a.Pause = &Pause{By: ev.By, Reason: ev.Reason, Since: e.At}
	case history.WorkflowResumed:
		a.Pause = nil
	case history.WorkflowReopened:
		a.EndedBy = "" // what ended with the run stays ended; what is done again has a number of its own
	case history.WorkflowCancelled:
		a.EndedBy = ev.By
		a.close(e.At)
	case history.WorkflowCompleted, history.WorkflowFailed, history.WorkflowTimedOut, history.WorkflowContinuedAsNew:
		a.close(e.At)
	case history.ActivityScheduled:
		a.Activities = append(a.Activities, ActivityAccount{
			ID: ev.ActivityID, Type: ev.ActivityType, TaskQueue: ev.TaskQueue, Node: ev.Node, Step: ev.Step, Scope: ev.Scope,
			State: ActivityScheduled, InputSeq: e.Seq, ScheduledAt: e.At,
		})
	case history.ActivityStarted, history.ActivityCompleted, history.ActivityFailed, history.ActivityCancelled:
		a.activity(e, ev)
	case history.ChildStarted:
		a.Children = append(a.Children, ChildAccount{
			WorkflowID: ev.ChildWorkflowID, WorkflowType: ev.WorkflowType, Step: ev.Step, Detached: ev.Detached, Open: !ev.Detached, ordinal: ev.Child,
		})
	case history.ChildCompleted:
		a.childEnded(ev.Child)
	case history.ChildFailed:
		a.childEnded(ev.Child)
	case history.ChildCancelled:
		a.childEnded(ev.Child)
	case history.TimerStarted:
		if ev.Purpose == "workflow" {
			a.Deadline = ev.FireAt
		}
	case history.TimerFired, history.TimerCancelled, history.SignalReceived, history.StepEntered,
		history.OutcomeTaken, history.StepFailed, history.ForkStarted, history.ForkJoined, history.LoopPass, history.LoopEnded,
		history.RegionOpened, history.RegionSlot, history.RegionClosed, history.SubflowEntered, history.SubflowLeft:
	}
	return nil
}

// close ends what was open when the run ended.
func (a *Account) close(at time.Time) {
	a.Pause = nil
	for i := range a.Activities {
		if t := &a.Activities[i]; t.State.Open() {
			t.cancel(at)
		}
	}
	for i := range a.Children {
		a.Children[i].Open = false
	}
}

func (a *Account) childEnded(ordinal int64) {
	for i := range a.Children {
		if a.Children[i].ordinal == ordinal {
			a.Children[i].Open = false
		}
	}
}

// activity folds what happened to one activity in; ids count from 0.
func (a *Account) activity(e history.Recorded, ev history.Event) {
	at := e.At
	find := func(id int64) *ActivityAccount {
		if id < 0 || id >= int64(len(a.Activities)) {
			return &ActivityAccount{}
		}
		return &a.Activities[id]
	}
	switch ev := ev.(type) {
	case history.ActivityStarted:
		find(ev.ActivityID).start(at, ev)
	case history.ActivityCompleted:
		t := find(ev.ActivityID)
		t.State, t.ResultSeq, t.EndedAt = ActivityCompleted, e.Seq, at
		t.endAttempt(at, AttemptAccount{State: ActivityCompleted, EndSeq: e.Seq})
	case history.ActivityFailed:
		t := find(ev.ActivityID)
		t.State, t.NextAttemptAt = ActivityScheduled, ev.RetryAt
		if ev.RetryAt.IsZero() {
			t.State, t.EndedAt = ActivityFailed, at
		}
		t.endAttempt(at, AttemptAccount{State: ActivityFailed, Class: ev.Class, Code: ev.Code, Message: ev.Message, EndSeq: e.Seq})
	case history.ActivityCancelled:
		find(ev.ActivityID).cancel(at)
	default: // no other kind is handed over
	}
}

func (t *ActivityAccount) start(at time.Time, ev history.ActivityStarted) {
	t.State, t.NextAttemptAt = ActivityStarted, time.Time{}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Attempt == ev.Attempt {
		t.Attempts[n-1].State, t.Attempts[n-1].Executor, t.Attempts[n-1].EndedAt = ActivityStarted, ev.Executor, time.Time{}
		return
	}
	t.Attempts = append(t.Attempts, AttemptAccount{Attempt: ev.Attempt, State: ActivityStarted, Executor: ev.Executor, StartedAt: at})
}

// endAttempt ends the newest attempt.
func (t *ActivityAccount) endAttempt(at time.Time, end AttemptAccount) {
	if len(t.Attempts) == 0 {
		return
	}
	last := &t.Attempts[len(t.Attempts)-1]
	if last.State != ActivityStarted {
		return
	}
	end.Attempt, end.Executor, end.StartedAt, end.EndedAt = last.Attempt, last.Executor, last.StartedAt, at
	*last = end
}

func (t *ActivityAccount) cancel(at time.Time) {
	t.State, t.EndedAt, t.NextAttemptAt = ActivityCancelled, at, time.Time{}
	t.endAttempt(at, AttemptAccount{State: ActivityCancelled})
}
