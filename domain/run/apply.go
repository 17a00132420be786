package run

import (
	"strings"
	"time"
	"unicode/utf8"
	"unique"

	"aion/domain/action"
	"aion/domain/history"
)

// held is the due time of tasks of a paused run: never, until it is resumed.
var held = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Apply folds one event in and appends the rows that it causes to acts; acts is nil when a stored history is folded
// again. An event that cannot stand there is refused, and the projection must then be thrown away. Markers cause nothing.
func (r *Run) Apply(e history.Recorded, acts *Acts) error {
	if err := e.Refusal(); err != nil {
		return err
	}
	ev, err := e.Event()
	if err != nil {
		return err
	}
	if err := r.order(e, ev); err != nil {
		return err
	}
	if err := r.fold(e, ev, acts); err != nil {
		return err
	}
	r.head = e.Seq
	return nil
}

// order is the part of legality that holds for all kinds: a run opens once, and nothing follows its terminal but a
// reopening.
func (r *Run) order(e history.Recorded, ev history.Event) error {
	if _, opens := ev.(history.WorkflowStarted); opens != (r.row.RunID == "") {
		if opens {
			return illegal(e, "the run is already started")
		}
		return illegal(e, "the run is not started")
	}
	if _, reopens := ev.(history.WorkflowReopened); reopens != r.Ended() {
		if reopens {
			return illegal(e, "the run has not ended")
		}
		return illegal(e, "the run ended with event %d", r.terminal)
	}
	if r.head != 0 && e.Seq != r.head+1 {
		return illegal(e, "it follows event %d", r.head)
	}
	return nil
}

func (r *Run) fold(e history.Recorded, ev history.Event, acts *Acts) error { // one case per event kind
	switch ev := ev.(type) {
	case history.WorkflowStarted:
		r.started(e, ev)
	case history.WorkflowPaused:
		return r.paused(e, ev, acts)
	case history.WorkflowResumed:
		return r.resumed(e, acts)
	case history.WorkflowReopened:
		return r.reopened(e, ev)
	case history.WorkflowCancelled:
		r.failure = cancelled(ev)
		r.ended(e, history.Cancelled, acts)
	case history.WorkflowCompleted:
		r.row.Outcome, r.result = ev.Outcome, ev.Result
		r.ended(e, history.Completed, acts)
	case history.WorkflowFailed:
		r.row.Outcome, r.result, r.failure = ev.Outcome, ev.Result, ev.Failure
		r.ended(e, history.Failed, acts)
	case history.WorkflowTimedOut:
		r.failure = timedOut(ev)
		r.ended(e, history.TimedOut, acts)
	case history.WorkflowContinuedAsNew:
		r.ended(e, history.ContinuedAsNew, acts)
	case history.ActivityScheduled:
		return r.activityScheduled(e, ev, acts)
	case history.ActivityStarted:
		return r.activityStarted(e, ev, acts)
	case history.ActivityCompleted:
		return r.activityEnded(e, ev.ActivityID, ev.Attempt, acts)
	case history.ActivityFailed:
		return r.activityFailed(e, ev, acts)
	case history.ActivityCancelled:
		return r.activityCancelled(e, ev, acts)
	case history.TimerStarted:
		return r.timerStarted(e, ev, acts)
	case history.TimerFired:
		return r.timerEnded(e, ev.TimerID, acts)
	case history.TimerCancelled:
		return r.timerEnded(e, ev.TimerID, acts)
	case history.ChildStarted:
		return r.childStarted(e, ev, acts)
	case history.ChildCompleted:
		return r.childEnded(e, ev.Child)
	case history.ChildFailed:
		return r.childEnded(e, ev.Child)
	case history.ChildCancelled:
		return r.childCancelled(e, ev, acts)
	case history.SignalReceived, history.StepEntered, history.OutcomeTaken, history.StepFailed, history.ForkStarted, history.ForkJoined,
		history.LoopPass, history.LoopEnded, history.RegionOpened, history.RegionSlot, history.RegionClosed, history.SubflowEntered,
		history.SubflowLeft:
		// a signal is the machine's to keep, and markers tell people what the flow did
	}
	return nil
}

func (r *Run) started(e history.Recorded, ev history.WorkflowStarted) {
	r.row.WorkflowID, r.row.RunID = e.WorkflowID, e.RunID
	r.row.WorkflowType, r.row.PackageVersion = intern(ev.WorkflowType), intern(ev.PackageVersion)
	r.row.Status, r.row.StartedAt, r.row.FirstSeq = history.Running, e.At, e.Seq
	r.row.PreviousRunID, r.row.Parent = ev.ParentRunID, ev.Parent
	if id, ok := strings.CutPrefix(ev.StartedBy, "schedule:"); ok {
		r.row.ScheduleID = id
	}
	if len(ev.Labels) > 0 {
		r.row.Labels = ev.Labels
	}
}

func (r *Run) paused(e history.Recorded, ev history.WorkflowPaused, acts *Acts) error {
	if r.row.Status != history.Running {
		return illegal(e, "the run is %s", r.row.Status)
	}
	r.row.Status, r.row.PausedReason = history.Paused, ev.Reason
	r.timers.each(func(t *Timer) bool { acts.timerCleared(r, t.ID); return true })
	r.moveQueued(acts)
	return nil
}

func (r *Run) resumed(e history.Recorded, acts *Acts) error {
	if r.row.Status != history.Paused {
		return illegal(e, "the run is %s", r.row.Status)
	}
	r.row.Status, r.row.PausedReason = history.Running, ""
	r.timers.each(func(t *Timer) bool { acts.timerSet(r, *t); return true })
	r.moveQueued(acts)
	return nil
}

// moveQueued gives the tasks that wait their due time anew: never while the run is paused.
func (r *Run) moveQueued(acts *Acts) {
	r.open.each(func(a *Activity) bool {
		if !a.Started {
			acts.taskMoved(r, a)
		}
		return true
	})
}

func (r *Run) reopened(e history.Recorded, ev history.WorkflowReopened) error {
	if ev.FromSeq != r.terminal || r.row.Status == history.ContinuedAsNew || r.row.Status == history.Completed {
		return illegal(e, "it supersedes event %d, and the run is %s since event %d", ev.FromSeq, r.row.Status, r.terminal)
	}
	r.row.Status, r.row.EndedAt, r.row.Outcome = history.Running, time.Time{}, ""
	r.row.FailureCode, r.row.FailureMessage = "", ""
	r.terminal, r.result, r.failure = 0, nil, nil
	// What was open ended with the run, without events of its own; what is to be done again gets new numbers.
	r.open, r.timers, r.children = ordered[Activity]{}, ordered[Timer]{}, ordered[Child]{}
	return nil
}

func (r *Run) ended(e history.Recorded, status history.Status, acts *Acts) {
	r.row.Status, r.row.EndedAt, r.row.PausedReason = status, e.At, ""
	if r.failure != nil {
		r.row.FailureCode, r.row.FailureMessage = r.failure.Code, shortened(r.failure.Message)
	}
	r.terminal = e.Seq
	acts.runClosed(r)
}

// shortened cuts a text to what a row of a list holds.
func shortened(text string) string {
	const most = 1000
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func (r *Run) activityScheduled(e history.Recorded, ev history.ActivityScheduled, acts *Acts) error {
	if ev.ActivityID != int64(len(r.past)) {
		return illegal(e, "activity %d where %d comes next", ev.ActivityID, len(r.past))
	}
	a := Activity{
		ID: ev.ActivityID, Type: intern(ev.ActivityType), TaskQueue: intern(ev.TaskQueue), Node: intern(ev.Node),
		Step: intern(ev.Step), Scope: ev.Scope, Config: action.Config{TimeoutMS: ev.TimeoutMS, Retry: ev.Retry}, Attempt: 1,
		Since: e.At, NotBefore: e.At, ScheduledSeq: e.Seq, movedSeq: e.Seq,
	}
	if a.Step == "" {
		a.Step = a.Type // a history of an earlier writer names no step
	}
	r.past = append(r.past, dispatched{name: unique.Make(ev.ActivityType)})
	acts.taskAdded(r, r.open.add(a.ID, a), ev)
	return nil
}

func (r *Run) activityStarted(e history.Recorded, ev history.ActivityStarted, acts *Acts) error {
	a := r.open.find(ev.ActivityID)
	if a == nil || ev.Attempt != a.Attempt {
		return illegal(e, "activity %d does not wait for attempt %d", ev.ActivityID, ev.Attempt)
	}
	// An attempt that a drain parked starts a second time under its own number.
	a.Started, a.Since, a.movedSeq = true, e.At, e.Seq
	r.past[a.ID].attempts = int32(ev.Attempt)
	acts.taskMoved(r, a)
	return nil
}

func (r *Run) activityEnded(e history.Recorded, id int64, attempt int, acts *Acts) error {
	if a := r.open.find(id); a == nil || !a.Started || a.Attempt != attempt {
		return illegal(e, "attempt %d of activity %d is not running", attempt, id)
	}
	r.open.remove(id)
	acts.taskEnded(r, id)
	return nil
}

func (r *Run) activityFailed(e history.Recorded, ev history.ActivityFailed, acts *Acts) error {
	if ev.RetryAt.IsZero() {
		return r.activityEnded(e, ev.ActivityID, ev.Attempt, acts)
	}
	a := r.open.find(ev.ActivityID)
	if a == nil || !a.Started || a.Attempt != ev.Attempt {
		return illegal(e, "attempt %d of activity %d is not running", ev.Attempt, ev.ActivityID)
	}
	a.Attempt, a.Started, a.Since, a.NotBefore = a.Attempt+1, false, e.At, ev.RetryAt
	if ev.Class == action.Lost {
		a.LostInRow++
	} else {
		a.LostInRow = 0
	}
	if ev.Class.Budgeted() {
		a.PolicyFailures++
	}
	acts.taskMoved(r, a)
	return nil
}

func (r *Run) activityCancelled(e history.Recorded, ev history.ActivityCancelled, acts *Acts) error {
	if _, ok := r.open.remove(ev.ActivityID); !ok {
		return illegal(e, "activity %d is not open", ev.ActivityID)
	}
	acts.taskEnded(r, ev.ActivityID)
	return nil
}

func (r *Run) timerStarted(e history.Recorded, ev history.TimerStarted, acts *Acts) error {
	if ev.TimerID != r.nextTmr {
		return illegal(e, "timer %d where %d comes next", ev.TimerID, r.nextTmr)
	}
	r.nextTmr++
	t := Timer{ID: ev.TimerID, Purpose: intern(ev.Purpose), FireAt: ev.FireAt, Since: e.At, Step: intern(ev.Step)}
	r.timers.add(t.ID, t)
	acts.timerSet(r, t)
	return nil
}

func (r *Run) timerEnded(e history.Recorded, id int64, acts *Acts) error {
	if _, ok := r.timers.remove(id); !ok {
		return illegal(e, "timer %d is not open", id)
	}
	acts.timerCleared(r, id)
	return nil
}

func (r *Run) childStarted(e history.Recorded, ev history.ChildStarted, acts *Acts) error {
	if ev.Child != r.nextKid {
		return illegal(e, "child %d where %d comes next", ev.Child, r.nextKid)
	}
	r.nextKid++
	if !ev.Detached {
		r.children.add(ev.Child, Child{ID: ev.Child, WorkflowID: ev.ChildWorkflowID, WorkflowType: intern(ev.WorkflowType), Since: e.At})
	}
	acts.childStarted(r, ev)
	return nil
}

func (r *Run) childEnded(e history.Recorded, id int64) error {
	if _, ok := r.children.remove(id); !ok {
		return illegal(e, "child %d is not awaited", id)
	}
	return nil
}

func (r *Run) childCancelled(e history.Recorded, ev history.ChildCancelled, acts *Acts) error {
	c, ok := r.children.remove(ev.Child)
	if !ok {
		return illegal(e, "child %d is not awaited", ev.Child)
	}
	acts.childClosed(r, c, ev.Reason)
	return nil
}
