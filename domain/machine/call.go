package machine

import (
	"fmt"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// callee is what a call statement or a stage calls.
type callee struct {
	op        string
	name      string
	queue     string
	node      string
	timeoutMS int64
}

func calleeOf(stmt *plan.Stmt) callee {
	return callee{op: stmt.Op, name: stmt.Name, queue: stmt.Queue, node: stmt.Node, timeoutMS: stmt.TimeoutMS}
}

// call starts an activity or a child with an input that fits.
func (t *turn) call(st *strand, c callee, input value.Value) {
	if c.op == plan.OpCall {
		t.schedule(st, c, input)
		return
	}
	t.startChild(st, c, input)
}

func (t *turn) schedule(st *strand, c callee, input value.Value) {
	s := t.s
	id := s.nextActivity
	s.nextActivity++
	s.activities.add(id, &activity{strand: st, typ: c.name, queue: c.queue, attempt: 1})
	st.wait = wait{kind: waitActivity, id: id, timer: noTimer, since: t.at}
	t.emit(history.ActivityScheduled{
		ActivityID: id, ActivityType: c.name, TaskQueue: c.queue, Node: c.node,
		Input: value.Encode(input), Step: st.act.step.Name, Scope: st.scope, TimeoutMS: c.timeoutMS, Retry: t.policy(c),
	})
}

// policy is the declared retry of an action as a dispatch carries it (actions 1.1).
func (t *turn) policy(c callee) *action.Retry {
	declared := t.p.Action(c.queue, c.name)
	if declared == nil || declared.Retry == nil {
		return nil
	}
	r := declared.Retry
	backoff := action.Backoff{Kind: "fixed", DelayMS: r.EveryMS}
	if len(r.BackoffMS) == 2 {
		backoff = action.Backoff{Kind: "exponential", InitialMS: r.BackoffMS[0], Multiplier: 2, MaxMS: r.BackoffMS[1]}
	}
	return &action.Retry{MaxAttempts: r.Count + 1, Backoff: backoff}
}

func (t *turn) startChild(st *strand, c callee, input value.Value) {
	s := t.s
	id := s.nextChild
	s.nextChild++
	detached := c.op == plan.OpSpawn
	t.emit(history.ChildStarted{
		Child: id, ChildWorkflowID: s.childWorkflowID(id), WorkflowType: c.name,
		Input: value.Encode(input), Detached: detached, Step: st.act.step.Name, Scope: st.scope,
	})
	if detached {
		t.finish(st, value.Null{})
		return
	}
	s.children.add(id, st)
	st.wait = wait{kind: waitChild, id: id, timer: noTimer, name: c.name, since: t.at}
}

// childWorkflowID names a child so that a repeated start finds the same one (engine 4).
func (s *State) childWorkflowID(ordinal int64) domain.WorkflowID {
	return domain.WorkflowID(domain.DeriveUUID(string(s.runID), fmt.Sprintf("child:%d", ordinal)))
}

// deliver ends the wait of a strand. While the run is paused the strand stays ready.
func (t *turn) deliver(st *strand, d delivery) {
	st.wait = wait{}
	st.got = &d
	t.wake(st)
}

func (t *turn) succeed(st *strand, v value.Value) {
	t.deliver(st, delivery{val: v, cancel: noTimer})
}

// failLater ends the wait of a strand with a failure of its step.
func (t *turn) failLater(st *strand, f history.Failure) {
	f.Step, f.Scope = st.act.step.Name, ref(st.scope)
	t.deliver(st, delivery{failure: &f, cancel: noTimer})
}
