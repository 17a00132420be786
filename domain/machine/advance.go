package machine

import (
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/history"
)

// Result is what one fact leads to. When Ignored is true the fact had lost a race (its activity, timer or child is over, or
// the run is): it changed nothing and is not to be recorded.
type Result struct {
	Derived []history.Event
	Ignored bool
}

// Advance consumes one fact and derives what follows from it, until nothing more follows without another fact. It changes s
// in place; after an error s must be thrown away. The derived events are recorded directly after the fact, with its time.
// A fact that no order of events allows is refused as *Illegal. p is the plan that the run is pinned to, always the same.
func Advance(p *plan.Plan, s *State, fact history.Recorded) (Result, error) {
	e, err := fact.Event()
	if err != nil {
		return Result{}, err
	}
	t := &turn{p: p, s: s, seq: fact.Seq, at: fact.At.UTC(), fuel: maxSteps}
	ignored, err := t.begin(fact, e)
	if err != nil || ignored {
		return Result{Ignored: ignored}, err
	}
	s.events += 1 + len(t.out)
	return Result{Derived: t.out}, nil
}

// begin takes the fact and runs what it made ready.
func (t *turn) begin(fact history.Recorded, e history.Event) (ignored bool, err error) {
	ignored, err = t.accept(fact, e)
	if err == nil && !ignored && t.s.status == history.Running {
		t.run()
	}
	return ignored, err
}

// accept puts a fact into the state. Waiting strands become ready; none runs yet.
func (t *turn) accept(fact history.Recorded, e history.Event) (ignored bool, err error) {
	if started, ok := e.(history.WorkflowStarted); ok {
		return false, t.start(fact, started)
	}
	if !history.Fact(e) {
		return false, t.illegal(e, "it is derived from facts and never sent")
	}
	switch {
	case t.s.status == "":
		return false, t.illegal(e, "the run has not started")
	case fact.RunID != t.s.runID:
		return false, t.illegal(e, fmt.Sprintf("it belongs to run %s", fact.RunID))
	}
	if t.s.status.Terminal() {
		return t.afterEnd(e)
	}
	switch e := e.(type) {
	case history.ActivityStarted:
		return t.activityStarted(e)
	case history.ActivityCompleted:
		return t.activityCompleted(e)
	case history.ActivityFailed:
		return t.activityFailed(e)
	case history.TimerFired:
		return t.timerFired(e)
	case history.SignalReceived:
		return t.signalReceived(e)
	case history.ChildCompleted:
		return t.childCompleted(e)
	case history.ChildFailed:
		return t.childFailed(e)
	default:
		return false, t.control(e)
	}
}

// afterEnd judges a fact about a run that has ended: reports of what was in flight are late, requests are refused.
func (t *turn) afterEnd(e history.Event) (ignored bool, err error) {
	switch e := e.(type) {
	case history.WorkflowReopened:
		return false, t.reopen(e)
	case history.ActivityStarted, history.ActivityCompleted, history.ActivityFailed, history.TimerFired, history.ChildCompleted,
		history.ChildFailed:
		return true, nil
	default:
		return false, t.illegal(e, fmt.Sprintf("the run is %s", t.s.status))
	}
}

func (t *turn) illegal(e history.Event, reason string) error {
	return &Illegal{Seq: t.seq, Fact: e.Type(), Reason: reason}
}
