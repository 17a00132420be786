package machine

import (
	"fmt"

	"aion/domain"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// activity finds an open activity. An ended one gives nil without an error: the fact about it is late.
func (t *turn) activity(e history.Event, id int64, attempt int) (*activity, error) {
	if id < 0 || id >= t.s.nextActivity {
		return nil, t.illegal(e, fmt.Sprintf("activity %d was never scheduled", id))
	}
	a := t.s.activities.get(id)
	if a == nil || attempt < a.attempt {
		return nil, nil //nolint:nilnil // nothing open: the caller drops the fact
	}
	if attempt > a.attempt {
		return nil, t.illegal(e, fmt.Sprintf("attempt %d of activity %d comes before attempt %d", attempt, id, a.attempt))
	}
	return a, nil
}

// activityStarted begins an attempt; a parked one begins again under its own number.
func (t *turn) activityStarted(e history.ActivityStarted) (ignored bool, err error) {
	a, err := t.activity(e, e.ActivityID, e.Attempt)
	if a == nil {
		return err == nil, err
	}
	a.started = true
	return false, nil
}

// running finds the activity whose open attempt a verdict is about.
func (t *turn) running(e history.Event, id int64, attempt int) (*activity, error) {
	a, err := t.activity(e, id, attempt)
	if a != nil && !a.started {
		return nil, t.illegal(e, fmt.Sprintf("attempt %d of activity %d has not started", attempt, id))
	}
	return a, err
}

func (t *turn) activityCompleted(e history.ActivityCompleted) (ignored bool, err error) {
	a, err := t.running(e, e.ActivityID, e.Attempt)
	if a == nil {
		return err == nil, err
	}
	t.s.activities.delete(e.ActivityID)
	t.result(a.strand, e.Result, &e.ActivityID)
	return false, nil
}

// result hands a strand what it called for. It was checked before it was recorded, so text that is no JSON is beyond repair.
func (t *turn) result(st *strand, text domain.Payload, activityID *int64) {
	v, err := value.Decode(text)
	if err != nil {
		t.failLater(st, history.Failure{Code: resultInvalid, Message: "the result is no JSON value: " + err.Error(), ActivityID: activityID})
		return
	}
	t.succeed(st, v)
}

// activityFailed ends an attempt. With a time for the next one the activity stays open.
func (t *turn) activityFailed(e history.ActivityFailed) (ignored bool, err error) {
	a, err := t.running(e, e.ActivityID, e.Attempt)
	if a == nil {
		return err == nil, err
	}
	if !e.RetryAt.IsZero() {
		a.attempt, a.started = a.attempt+1, false
		return false, nil
	}
	t.s.activities.delete(e.ActivityID)
	f := history.Failure{Code: activityFailed, Message: string(e.Class) + ":" + e.Message, ActivityID: &e.ActivityID}
	if e.Code == resultInvalid {
		f.Code = resultInvalid
	}
	t.failLater(a.strand, f)
	return false, nil
}

func (t *turn) timerFired(e history.TimerFired) (ignored bool, err error) {
	s := t.s
	switch {
	case e.TimerID < 0 || e.TimerID >= s.nextTimer:
		return false, t.illegal(e, fmt.Sprintf("timer %d was never started", e.TimerID))
	case !s.deadline.IsZero() && e.TimerID == s.deadlineTimer:
		if s.status == history.Paused {
			ignored, s.expired = s.expired, true
			return ignored, nil
		}
		t.expire()
		return false, nil
	}
	st := s.timers.get(e.TimerID)
	if st == nil {
		return true, nil
	}
	s.timers.delete(e.TimerID)
	var v value.Value = value.Null{}
	if st.wait.kind == waitSignal {
		v = value.Absent{} // the payload did not come in time
	}
	t.succeed(st, v)
	return false, nil
}

// signalReceived hands a payload to the first strand that waits for it, or keeps it. An id that was seen is dropped.
func (t *turn) signalReceived(e history.SignalReceived) (ignored bool, err error) {
	s := t.s
	if t.p.Signal(e.SignalName) == nil {
		return false, t.illegal(e, fmt.Sprintf("no signal is called %q", e.SignalName))
	}
	if s.SignalSeen(e.SignalID) {
		return true, nil
	}
	v, err := value.Decode(e.Payload)
	if err != nil {
		return false, t.illegal(e, "its payload is no JSON value: "+err.Error())
	}
	if e.SignalID != "" {
		if s.seen == nil {
			s.seen = map[string]struct{}{}
		}
		s.seen[e.SignalID] = struct{}{}
	}
	box := s.box(e.SignalName)
	st := box.first()
	if st == nil {
		box.payloads = append(box.payloads, e.Payload)
		s.unread++
		return false, nil
	}
	lost := st.wait.timer
	if lost != noTimer {
		s.timers.delete(lost)
		s.owed++
	}
	t.deliver(st, delivery{val: v, cancel: lost})
	return false, nil
}

// child finds the strand that waits for a child. One that nobody waits for gives nil without an error.
func (t *turn) child(e history.Event, id int64) (*strand, error) {
	if id < 0 || id >= t.s.nextChild {
		return nil, t.illegal(e, fmt.Sprintf("child %d was never started", id))
	}
	st := t.s.children.get(id)
	t.s.children.delete(id)
	return st, nil
}

func (t *turn) childCompleted(e history.ChildCompleted) (ignored bool, err error) {
	st, err := t.child(e, e.Child)
	if st == nil {
		return err == nil, err
	}
	result := e.Result
	if result == nil {
		result = domain.Payload("null")
	}
	t.result(st, result, nil)
	return false, nil
}

func (t *turn) childFailed(e history.ChildFailed) (ignored bool, err error) {
	st, err := t.child(e, e.Child)
	if st == nil {
		return err == nil, err
	}
	child := fmt.Sprintf("%s (workflow %s)", st.wait.name, t.s.childWorkflowID(e.Child))
	f := history.Failure{Code: childFailed, Message: child + " failed"}
	switch {
	case e.Failure != nil && e.Failure.Code == resultInvalid:
		f.Code, f.Message = resultInvalid, e.Failure.Message
	case e.Failure != nil:
		// A child's failure may hold that of its own child, and so on.
		f.Message = fmt.Sprintf("%s failed: %s: %s", child, e.Failure.Code, domain.Quote(e.Failure.Message, 2000))
	case e.Outcome != "":
		f.Message = fmt.Sprintf("%s ended in outcome %s", child, e.Outcome)
		if e.Result != nil {
			f.Message += " with " + domain.Quote(string(e.Result), 300)
		}
	}
	t.failLater(st, f)
	return false, nil
}
