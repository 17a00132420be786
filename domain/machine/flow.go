package machine

import (
	"strings"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// enterFlow starts a group or a subflow call at its first step; the strand waits for it.
func (t *turn) enterFlow(st *strand, fl *flow, e *env) {
	if fl.def == nil || len(fl.def.Steps) == 0 {
		t.failWith(st, value.Failed(planInvalid, "a flow of step %s has no steps", st.act.step.Name))
		return
	}
	fl.owner = st
	st.push(&flowFrame{flow: fl})
	st.wait = wait{kind: waitParts, since: t.at}
	t.arrive(fl, arrival{step: &fl.def.Steps[0], env: e, routed: true})
}

// enterSubflow starts a subflow call. It sees its parameters and nothing else.
func (t *turn) enterSubflow(st *strand, stmt *plan.Stmt) {
	called := subflow(t.p, stmt.Name)
	if called == nil {
		t.failWith(st, value.Failed(planInvalid, "no subflow is called %q", stmt.Name))
		return
	}
	args, ok := t.arguments(st, stmt.Args)
	if !ok {
		return
	}
	record, _ := args.(value.Object)
	var e *env
	for _, name := range called.Params {
		e = t.extend(e, name, record.Get(name))
	}
	t.emit(history.SubflowEntered{Step: st.act.step.Name, Scope: st.act.flow.scope, Subflow: called.Name})
	t.enterFlow(st, &flow{
		kind: flowSubflow, def: &called.Flow, subflow: called.Name,
		scope: within(st.scope, st.act.step.Name+"."+called.Name),
	}, e)
}

// subflow finds a declared subflow; nil when there is none.
func subflow(p *plan.Plan, name string) *plan.Subflow {
	for i := range p.Subflows {
		if p.Subflows[i].Name == name {
			return &p.Subflows[i]
		}
	}
	return nil
}

func (t *turn) leaveSubflow(fl *flow, failed bool) {
	act := fl.owner.act
	t.emit(history.SubflowLeft{Step: act.step.Name, Scope: act.flow.scope, Subflow: fl.subflow, Failed: failed})
}

// arrive activates a step, or keeps the arrival until the step may start: an activation by route needs every step that this
// one waits for to have completed, and a step has one activation at a time.
func (t *turn) arrive(fl *flow, a arrival) {
	if fl.ended {
		return
	}
	if fl.kind == flowInstance && a.step.Region != fl.region {
		t.reachCollect(fl, a.env)
		return
	}
	if len(fl.pending) > 0 || !fl.ready(a) {
		fl.pending = append(fl.pending, a)
		t.admit(fl)
		return
	}
	t.admitOne(fl, a)
}

// admit starts the pending arrivals that no longer have to wait, in order.
func (t *turn) admit(fl *flow) {
	for i := 0; i < len(fl.pending); {
		a := fl.pending[i]
		if !fl.ready(a) {
			i++
			continue
		}
		fl.pending = append(fl.pending[:i], fl.pending[i+1:]...)
		t.admitOne(fl, a)
	}
}

func (fl *flow) ready(a arrival) bool {
	if fl.visiting(a.step) {
		return false
	}
	if !a.routed {
		return true
	}
	for _, name := range a.step.After {
		if fl.lastOf(name) == nil {
			return false
		}
	}
	return true
}

func (t *turn) admitOne(fl *flow, a arrival) {
	if a.routed && len(a.step.After) > 0 {
		var below *env
		for _, name := range a.step.After {
			below = below.union(fl.lastOf(name).env)
		}
		a.env = a.env.over(below)
	}
	t.activate(fl, a)
}

func (fl *flow) lastOf(step string) *completion {
	for i := range fl.done {
		if fl.done[i].step == step {
			return &fl.done[i]
		}
	}
	return nil
}

// completed hands out tokens: one to each step that waits for the completed one, in written order.
func (t *turn) completed(fl *flow, s *plan.Step, e *env) {
	recorded := false
	for i := range fl.def.Steps {
		waiting := &fl.def.Steps[i]
		if waiting.Region != fl.region {
			continue
		}
		for n, name := range waiting.After {
			if name != s.Name {
				continue
			}
			if !recorded {
				fl.record(s.Name, e)
				recorded = true
			}
			t.token(fl, waiting, n, e)
		}
	}
}

func (fl *flow) record(step string, e *env) {
	if last := fl.lastOf(step); last != nil {
		last.env = e
		return
	}
	fl.done = append(fl.done, completion{step: step, env: e})
}

// token gives a step one token of the n-th step that it names, and activates it when it holds one of each.
func (t *turn) token(fl *flow, s *plan.Step, n int, e *env) {
	held := fl.held(s)
	held.queues[n] = append(held.queues[n], e)
	var joined *env
	for _, q := range held.queues {
		if len(q) == 0 {
			return
		}
	}
	for i, q := range held.queues {
		joined = joined.union(q[0])
		q[0] = nil
		held.queues[i] = q[1:]
	}
	t.arrive(fl, arrival{step: s, env: joined})
}

func (fl *flow) held(s *plan.Step) *tokens {
	for _, held := range fl.tokens {
		if held.step == s {
			return held
		}
	}
	held := &tokens{step: s, queues: make([][]*env, len(s.After))}
	fl.tokens = append(fl.tokens, held)
	return held
}

// nothingLeft is the failure of a flow that has no activation left and has reached no outcome.
func (t *turn) nothingLeft(fl *flow) history.Failure {
	f := history.Failure{Code: noOutcome, Message: "nothing is left to do and no outcome was reached"}
	if names := fl.waitingSteps(); len(names) > 0 {
		f.Message += "; still waiting: " + strings.Join(names, ", ")
	}
	if fl.owner != nil {
		f.Step, f.Scope = fl.owner.act.step.Name, ref(fl.scope)
	}
	return f
}

// waitingSteps names the steps that still wait for others, in written order.
func (fl *flow) waitingSteps() []string {
	var names []string
	for i := range fl.def.Steps {
		if s := &fl.def.Steps[i]; s.Region == fl.region && fl.waits(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

func (fl *flow) waits(s *plan.Step) bool {
	for _, a := range fl.pending {
		if a.step == s {
			return true
		}
	}
	for _, held := range fl.tokens {
		if held.step != s {
			continue
		}
		for _, q := range held.queues {
			if len(q) > 0 {
				return true
			}
		}
	}
	return false
}
