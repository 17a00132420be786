package machine

import (
	"aion/domain/awl/value"
	"aion/domain/history"
)

// failWith fails the step of a strand for a reason of evaluation.
func (t *turn) failWith(st *strand, f *value.Failure) {
	t.fail(st, history.Failure{Code: f.Code, Message: f.Message, Step: st.act.step.Name, Scope: ref(st.scope)})
}

// fail fails the step of a strand. When nothing on the way up handles it the run fails at once, with its tree intact, so
// that a reopening finds what failed.
func (t *turn) fail(st *strand, f history.Failure) {
	if !handled(st.act) {
		t.s.end = &ending{strand: st}
		t.failRun(st.act, f)
		return
	}
	t.unwind(st.act, f)
}

// failFlow fails a flow that has nothing left to do.
func (t *turn) failFlow(fl *flow, f history.Failure) {
	if handledAround(fl) {
		t.unwindFlow(fl, f)
		return
	}
	t.s.end = &ending{flow: fl}
	t.reportFlow(fl, f)
}

// handled reports whether a failure of this activation stops below the run.
func handled(act *activation) bool { return act.handles() || handledAround(act.flow) }

func (act *activation) handles() bool { return act.step.Handler != nil && act.phase != phaseHandler }

func handledAround(fl *flow) bool {
	switch fl.kind {
	case flowSubflow, flowGroup:
		return handled(fl.owner.act)
	case flowInstance:
		c := fl.collect()
		return c.Body[0].Tolerant || c.Handler != nil || handledAround(fl.owner.act.flow)
	case flowWorkflow:
	}
	return false
}

// unwind ends what is in flight in a step that failed and goes on where the failure is handled.
func (t *turn) unwind(act *activation, f history.Failure) {
	t.dropParts(&act.strand, siblingFailed)
	t.emit(stepFailed(act, f, act.handles()))
	if !act.handles() {
		t.unwindFlow(act.flow, f)
		return
	}
	st := &act.strand
	act.phase = phaseHandler
	st.env, st.scope = act.start, act.flow.scope
	st.frames = []frame{&listFrame{stmts: act.step.Handler.Body}}
	t.wake(st)
}

// unwindFlow ends a flow that failed and fails what waits for it.
func (t *turn) unwindFlow(fl *flow, f history.Failure) {
	if fl.kind == flowInstance {
		t.instanceFailed(fl, f)
		return
	}
	t.cancelFlow(fl, siblingFailed)
	if fl.kind == flowSubflow {
		t.leaveSubflow(fl, true)
	}
	t.unwind(fl.owner.act, f)
}

// failRun ends the run by a failure that nothing handles. It records the failure of each step on the way up. act is nil when
// no step is to blame.
func (t *turn) failRun(act *activation, f history.Failure) {
	if act != nil {
		t.emit(stepFailed(act, f, false))
		t.reportFlow(act.flow, f)
		return
	}
	t.emit(history.WorkflowFailed{Failure: &f})
	t.s.end.failure = &f
	t.finishRun(history.Failed)
}

// reportFlow goes on with failRun above a flow.
func (t *turn) reportFlow(fl *flow, f history.Failure) {
	switch fl.kind {
	case flowWorkflow:
		t.failRun(nil, f)
	case flowGroup:
		t.failRun(fl.owner.act, f)
	case flowSubflow:
		t.leaveSubflow(fl, true)
		t.failRun(fl.owner.act, f)
	case flowInstance:
		t.reportInstance(fl, f)
	}
}

func (t *turn) reportInstance(fl *flow, f history.Failure) {
	opener := fl.owner.act
	around := opener.flow
	frame := fl.owner.region()
	collect := frame.collect
	visit := around.count(collect)
	t.emit(history.RegionSlot{Step: opener.step.Name, Scope: around.scope, Index: fl.index})
	t.emit(history.RegionClosed{Step: opener.step.Name, Scope: around.scope, Filled: frame.filled()})
	t.emit(history.StepEntered{Step: collect.Name, Scope: around.scope, Visit: visit})
	t.emit(history.StepFailed{Step: collect.Name, Scope: around.scope, Visit: visit, Failure: f})
	t.reportFlow(around, f)
}

func stepFailed(act *activation, f history.Failure, handled bool) history.StepFailed {
	return history.StepFailed{Step: act.step.Name, Scope: act.flow.scope, Visit: act.visit, Failure: f, Handled: handled}
}

// cancelFlow cancels a part of a run that goes on.
func (t *turn) cancelFlow(fl *flow, reason string) {
	fl.ended = true
	for _, act := range fl.active {
		t.cancelStrand(&act.strand, reason)
	}
	fl.active, fl.pending, fl.tokens, fl.done = nil, nil, nil, nil
}

func (t *turn) cancelStrand(st *strand, reason string) {
	if st.dead {
		return
	}
	st.dead = true
	t.dropParts(st, reason)
}

// dropParts cancels whatever a strand waits for and clears its program.
func (t *turn) dropParts(st *strand, reason string) {
	t.cancelWait(st, reason)
	for _, f := range st.frames {
		switch f := f.(type) {
		case *forkFrame:
			for _, b := range f.branches {
				if b != nil {
					t.cancelStrand(b, reason)
				}
			}
		case *regionFrame:
			for _, fl := range f.instances {
				if fl != nil {
					t.cancelFlow(fl, reason)
				}
			}
		case *flowFrame:
			t.cancelFlow(f.flow, reason)
		case *listFrame, *pipeFrame, *loopFrame:
		}
	}
	st.frames = nil
}
