package machine

import (
	"fmt"
	"time"

	"aion/domain/history"
)

// reopen goes on with a run that failed, timed out or was cancelled. The statement that failed runs again, and so does every
// statement that was waiting: what it had started was stopped with the run. What is done stays done.
func (t *turn) reopen(e history.WorkflowReopened) error {
	s := t.s
	switch s.status {
	case history.Failed, history.TimedOut, history.Cancelled:
	default:
		return t.illegal(e, fmt.Sprintf("the run is %s", s.status))
	}
	if e.FromSeq != s.end.seq {
		return t.illegal(e, fmt.Sprintf("the run ended at event %d, not %d", s.end.seq, e.FromSeq))
	}
	end := s.end
	s.end, s.status, s.expired = nil, history.Running, false
	t.startDeadline(time.Time{})
	s.walk(t.waitAgain)
	switch {
	case end.strand != nil:
		t.retryStrand(end.strand)
	case end.routed != nil:
		t.restart(end.routed)
	case end.flow != nil && end.flow.kind == flowInstance:
		t.enterInstance(end.flow)
	case end.flow != nil && end.flow.owner != nil:
		t.restart(end.flow.owner.act)
	case end.flow != nil:
		t.settle(end.flow)
	}
	return nil
}

// waitAgain lets a strand that waits for the world run its statement again.
func (t *turn) waitAgain(st *strand) {
	if st.got != nil && st.got.cancel != noTimer { // its timer was stopped with the run
		st.got.cancel = noTimer
		t.s.owed--
	}
	switch st.wait.kind {
	case waitActivity, waitTimer, waitSignal, waitChild:
		t.forget(st)
		t.s.ready = append(t.s.ready, st)
	case waitNothing, waitParts:
	}
}

// forget ends a wait without an event.
func (t *turn) forget(st *strand) {
	recorded := len(t.out)
	t.cancelWait(st, flowEnded)
	t.out = t.out[:recorded]
}

func (t *turn) retryStrand(st *strand) {
	if st.wait.kind == waitParts { // a clause that a substep had chosen
		t.restart(st.act)
		return
	}
	t.s.ready = append(t.s.ready, st)
}

// restart enters a step anew; what is left of its visit is dropped.
func (t *turn) restart(act *activation) {
	recorded := len(t.out)
	t.dropParts(&act.strand, flowEnded)
	t.out = t.out[:recorded]
	act.phase = phaseEnter
	act.strand.env = act.start
	t.s.ready = append(t.s.ready, &act.strand)
}
