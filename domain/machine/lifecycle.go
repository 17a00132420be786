package machine

import (
	"fmt"
	"time"

	"aion/domain"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// start begins the run: the first written step is activated with the inputs, or a later generation goes on where the one
// before it ended.
func (t *turn) start(fact history.Recorded, e history.WorkflowStarted) error {
	s := t.s
	if s.status != "" {
		return t.illegal(e, "the run has started already")
	}
	if _, err := domain.ParseRunID(string(fact.RunID)); err != nil {
		return t.illegal(e, fmt.Sprintf("run id %q is not a UUID", domain.Quote(string(fact.RunID), 64)))
	}
	if len(t.p.Flow.Steps) == 0 {
		return t.illegal(e, "the plan has no steps")
	}
	input, err := value.Decode(e.Input)
	record, ok := input.(value.Object)
	if err != nil || !ok {
		return t.illegal(e, "its input is no JSON object")
	}
	s.workflowID, s.runID, s.status = fact.WorkflowID, fact.RunID, history.Running
	s.origin = origin{version: e.PackageVersion, startedBy: e.StartedBy, parent: e.Parent}
	if len(e.Labels) > 0 {
		s.origin.labels = e.Labels
	}
	if e.PackageVersion == t.p.ContentHash {
		s.origin.version = t.p.ContentHash // one text for all runs of the plan
	}
	if e.Carried != nil {
		if t.spent, err = s.restore(t.p, e.Carried); err != nil {
			return t.illegal(e, err.Error())
		}
		if len(s.ready) > 0 {
			t.passed = s.ready[0] // every generation does something
		}
		t.startDeadline(e.Deadline)
		return nil
	}
	for i := range t.p.Inputs {
		name := t.p.Inputs[i].Name
		s.input = t.extend(s.input, name, record.Get(name))
	}
	t.startDeadline(e.Deadline)
	s.root = &flow{kind: flowWorkflow, def: &t.p.Flow}
	t.arrive(s.root, arrival{step: &t.p.Flow.Steps[0], env: s.input, routed: true})
	return nil
}

// startDeadline starts the workflow timer; without a due time of its own it is due a timeout from now.
func (t *turn) startDeadline(due time.Time) {
	if due.IsZero() {
		if t.p.TimeoutMS <= 0 {
			return
		}
		due = t.at.Add(time.Duration(t.p.TimeoutMS) * time.Millisecond)
	}
	s := t.s
	s.deadline, s.deadlineTimer = due.UTC(), s.nextTimer
	s.nextTimer++
	t.emit(history.TimerStarted{TimerID: s.deadlineTimer, Purpose: "workflow", FireAt: s.deadline})
}

// control handles the requests about a whole run that has not ended.
func (t *turn) control(e history.Event) error {
	s := t.s
	switch e.(type) {
	case history.WorkflowPaused:
		if s.status != history.Running {
			return t.illegal(e, "the run is paused already")
		}
		s.status = history.Paused
	case history.WorkflowResumed:
		if s.status != history.Paused {
			return t.illegal(e, "the run is not paused")
		}
		s.status = history.Running
		if s.expired {
			t.expire()
		}
	case history.WorkflowCancelled:
		s.end = &ending{seq: t.seq}
		s.status = history.Cancelled
	case history.WorkflowReopened:
		return t.illegal(e, fmt.Sprintf("the run is %s", s.status))
	default:
		return t.illegal(e, "it is no fact about a run")
	}
	return nil
}

// expire ends the run at its timeout. No `on failure` block runs.
func (t *turn) expire() {
	t.s.end = &ending{}
	t.emit(history.WorkflowTimedOut{TimeoutMS: t.p.TimeoutMS})
	t.finishRun(history.TimedOut)
}

// release lets go of everything that a completed run no longer needs.
func (s *State) release() {
	s.root, s.input, s.ready, s.mail = nil, nil, nil, nil
	s.activities, s.timers, s.children = table[activity]{}, table[strand]{}, table[strand]{}
	s.end.routed = nil
}
