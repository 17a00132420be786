package machine

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// activate makes an activation of a step ready.
func (t *turn) activate(fl *flow, a arrival) {
	act := &activation{flow: fl, step: a.step, phase: phaseEnter, start: a.env, gathered: a.gathered}
	t.s.nextStrand++
	act.strand = strand{ord: t.s.nextStrand, act: act, env: a.env, scope: fl.scope}
	fl.active = append(fl.active, act)
	t.wake(&act.strand)
}

// enter counts the visit and starts the step's statements.
func (t *turn) enter(act *activation) {
	st := &act.strand
	act.visit = act.flow.count(act.step)
	t.emit(history.StepEntered{Step: act.step.Name, Scope: act.flow.scope, Visit: act.visit})
	if act.visit > maxPasses {
		t.failWith(st, value.Failed(boundOutOfRange, "step %s was entered more than %d times", act.step.Name, maxPasses))
		return
	}
	if act.step.Visits != nil && !t.mayVisit(act) {
		return
	}
	act.phase = phaseBody
	st.env, st.scope = act.start, act.flow.scope
	st.frames = append(st.frames[:0], &listFrame{stmts: act.step.Body})
}

// mayVisit evaluates the bound of `max … visits`; false: the step has failed.
func (t *turn) mayVisit(act *activation) bool {
	st := &act.strand
	limit, ok := t.eval(st, act.step.Visits, nil)
	if !ok {
		return false
	}
	n, ok := limit.(value.Int)
	switch {
	case !ok:
		t.failWith(st, value.Failed(planInvalid, "`max … visits` is %s", value.Kind(limit)))
	case n > maxPasses:
		t.failWith(st, value.Failed(boundOutOfRange, "`max %d visits` is more than the %d visits that a step may have", n, maxPasses))
	case act.visit > int64(n):
		t.failWith(st, value.Failed(visitsExceeded, "step %s may be visited %d times", act.step.Name, n))
	default:
		return true
	}
	return false
}

func (fl *flow) count(s *plan.Step) int64 {
	for i := range fl.visits {
		if fl.visits[i].step == s {
			fl.visits[i].n++
			return fl.visits[i].n
		}
	}
	fl.visits = append(fl.visits, visitCount{step: s, n: 1})
	return 1
}

// strandDone ends a strand that has run all its statements.
func (t *turn) strandDone(st *strand) {
	if st.parent != nil {
		t.branchDone(st)
		return
	}
	act := st.act
	if act.phase == phaseHandler || len(act.step.Clauses) == 0 {
		t.leave(act, st.env, nil)
		return
	}
	t.clauses(act)
}

// clauses fires the first clause whose guard holds.
func (t *turn) clauses(act *activation) {
	st := &act.strand
	for i := range act.step.Clauses {
		c := &act.step.Clauses[i]
		if c.Guard != nil {
			v, ok := t.eval(st, c.Guard, nil)
			if !ok {
				return
			}
			holds, f := truth(v)
			if f != nil {
				t.failWith(st, f)
				return
			}
			if !holds {
				continue
			}
		}
		t.route(st, &c.Name, &c.Target, nil)
		return
	}
	t.failWith(st, value.Failed(noOutcome, "no outcome of step %s holds", act.step.Name))
}
