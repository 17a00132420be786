package machine

import (
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// route takes a route of a body (clause is nil) or of a clause. item is the value of the pipe that ends in it; nil: none.
func (t *turn) route(st *strand, clause *string, target *plan.Target, item value.Value) {
	act := st.act
	taken := history.OutcomeTaken{Step: act.step.Name, Scope: act.flow.scope, Visit: act.visit, Clause: clause, Target: target.Name}
	switch target.Kind {
	case plan.TargetStep:
		next := act.flow.target(target.Name)
		if next == nil {
			break
		}
		t.emit(taken)
		t.leave(act, st.env, next)
		return
	case plan.TargetClause:
		c := outerClause(act, target.Name)
		if c == nil {
			break
		}
		t.emit(taken)
		outer := act.flow.owner.act
		outer.strand.env = st.env
		t.route(&outer.strand, &c.Name, &c.Target, nil)
		return
	case plan.TargetOutcome:
		payload, ok := t.payload(st, target, item)
		if !ok {
			return
		}
		t.emit(taken)
		t.reach(act, target.Name, payload)
		return
	}
	t.failWith(st, value.Failed(planInvalid, "%s %q is no target of step %s", target.Kind, target.Name, act.step.Name))
}

// outerClause finds a clause of the step around a group of substeps.
func outerClause(act *activation, name string) *plan.Clause {
	if act.flow.kind != flowGroup {
		return nil
	}
	clauses := act.flow.owner.act.step.Clauses
	for i := range clauses {
		if clauses[i].Name == name {
			return &clauses[i]
		}
	}
	return nil
}

// payload computes what a route to an outcome carries; false: the step has failed.
func (t *turn) payload(st *strand, target *plan.Target, item value.Value) (value.Value, bool) {
	v := item
	switch {
	case target.Payload != nil:
		var ok bool
		if v, ok = t.eval(st, target.Payload, item); !ok {
			return nil, false
		}
	case v == nil:
		v = value.Null{}
	}
	return v, t.fits(st, v)
}

// reach ends the workflow or the subflow call around an activation at an outcome.
func (t *turn) reach(act *activation, outcome string, payload value.Value) {
	fl := act.flow
	for fl.kind == flowGroup || fl.kind == flowInstance {
		fl = fl.owner.act.flow
	}
	if fl.kind == flowSubflow {
		t.cancelFlow(fl, flowEnded)
		t.leaveSubflow(fl, false)
		t.succeed(fl.owner, payload)
		return
	}
	result := domain.Payload(value.Encode(payload))
	t.s.end = &ending{outcome: outcome, result: result, routed: act}
	if o := t.p.Outcome(outcome); o != nil && o.Status == plan.Failure {
		t.emit(history.WorkflowFailed{Outcome: outcome, Result: result})
		t.finishRun(history.Failed)
		return
	}
	t.emit(history.WorkflowCompleted{Outcome: outcome, Result: result})
	t.finishRun(history.Completed)
}

// leave ends an activation: its route is taken, or its completion leads on (awl 7.3). An activation that was left through
// its `on failure` block has not completed.
func (t *turn) leave(act *activation, e *env, next *plan.Step) {
	fl := act.flow
	t.dropParts(&act.strand, flowEnded)
	act.strand.dead = true
	fl.remove(act)
	completed := act.phase != phaseHandler
	if next == nil && completed && act.step.FallThrough != "" {
		next = fl.target(act.step.FallThrough)
	}
	switch {
	case next != nil:
		t.arrive(fl, arrival{step: next, env: e, routed: true})
	case fl.kind == flowGroup:
		fl.left = fl.left.union(e)
	}
	if completed && !fl.ended {
		t.completed(fl, act.step, e)
	}
	t.settle(fl)
}

// settle goes on with a flow after one of its activations has ended.
func (t *turn) settle(fl *flow) {
	if fl.ended {
		return
	}
	t.admit(fl)
	if len(fl.active) > 0 || fl.ended {
		return
	}
	if fl.kind == flowGroup {
		fl.ended = true
		fl.owner.env = fl.owner.env.union(fl.left)
		t.succeed(fl.owner, value.Null{})
		return
	}
	t.failFlow(fl, t.nothingLeft(fl))
}

// finishRun ends the run. What is in flight stops without an event of its own.
func (t *turn) finishRun(status history.Status) {
	t.over = true
	t.s.status = status
	t.s.end.seq = t.seq + int64(len(t.out))
	if status == history.Completed || status == history.ContinuedAsNew {
		t.s.release()
	}
}
