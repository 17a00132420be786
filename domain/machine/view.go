package machine

import (
	"time"

	"aion/domain"
	"aion/domain/history"
)

// OpenActivity is an activity that is scheduled and not ended. Attempt is the running or the coming one.
type OpenActivity struct {
	ID      int64
	Type    string
	Queue   string
	Attempt int
	Started bool // the attempt runs
}

// Kinds of waits.
const (
	WaitSignal = "signal"
	WaitTimer  = "timer" // a sleep
	WaitChild  = "child"
)

// Wait is something other than an activity that the run waits for.
type Wait struct {
	Kind    string
	Name    string // the signal, or the workflow type of the child
	Step    string
	Scope   string
	Since   time.Time
	DueAt   time.Time // zero: it waits without a bound
	TimerID int64     // of a sleep or a timeout; -1: none
	Child   int64     // of a child; -1: none
}

// Status is the status of the run; empty before its start.
func (s *State) Status() history.Status { return s.status }

// WorkflowID names the workflow; empty before the start.
func (s *State) WorkflowID() domain.WorkflowID { return s.workflowID }

// RunID names the run; empty before the start.
func (s *State) RunID() domain.RunID { return s.runID }

// Deadline is when the workflow timer is due; zero: there is none.
func (s *State) Deadline() time.Time { return s.deadline }

// Outcome is the outcome that the run ended with; empty: none.
func (s *State) Outcome() string {
	if s.end == nil {
		return ""
	}
	return s.end.outcome
}

// Result is the payload of that outcome; nil: none.
func (s *State) Result() domain.Payload {
	if s.end == nil {
		return nil
	}
	return s.end.result
}

// Failure is what the run failed of; nil: nothing, or a failure outcome.
func (s *State) Failure() *history.Failure {
	if s.end == nil {
		return nil
	}
	return s.end.failure
}

// OpenActivities gives the open activities in order of their ids. A run that has ended has none.
func (s *State) OpenActivities() []OpenActivity {
	if s.status.Terminal() {
		return nil
	}
	open := make([]OpenActivity, 0, s.activities.live)
	s.activities.each(func(id int64, a *activity) {
		open = append(open, OpenActivity{ID: id, Type: a.typ, Queue: a.queue, Attempt: a.attempt, Started: a.started})
	})
	return open
}

// Waits gives what else the run waits for, in activation order. A run that has ended waits for nothing.
func (s *State) Waits() []Wait {
	if s.status.Terminal() {
		return nil
	}
	var waits []Wait
	s.walk(func(st *strand) {
		w := Wait{
			Step: st.act.step.Name, Scope: st.scope, Name: st.wait.name, Since: st.wait.since, DueAt: st.wait.due,
			TimerID: noTimer, Child: noTimer,
		}
		switch st.wait.kind {
		case waitSignal:
			w.Kind, w.TimerID = WaitSignal, st.wait.timer
		case waitTimer:
			w.Kind, w.TimerID = WaitTimer, st.wait.id
		case waitChild:
			w.Kind, w.Child = WaitChild, st.wait.id
		case waitNothing, waitActivity, waitParts:
			return
		}
		waits = append(waits, w)
	})
	return waits
}

// PendingSignals counts the payloads that no wait has taken.
func (s *State) PendingSignals() int { return s.unread }

// SignalSeen reports whether a signal with this id was received.
func (s *State) SignalSeen(id string) bool {
	_, seen := s.seen[id]
	return seen
}
