package machine

import (
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// openRegion starts one instance per item; the opener's strand waits for them.
func (t *turn) openRegion(st *strand, stmt *plan.Stmt) {
	items, ok := t.items(st, stmt)
	if !ok {
		return
	}
	opener := st.act.step
	collect := st.act.flow.target(opener.Collect)
	if collect == nil || len(collect.Body) == 0 || collect.Body[0].Op != plan.OpCollect {
		t.failWith(st, value.Failed(planInvalid, "nothing collects the region of step %s", opener.Name))
		return
	}
	f := &regionFrame{stmt: stmt, collect: collect, items: items, instances: make([]*flow, len(items)), slots: make(value.List, len(items))}
	for i := range f.slots {
		f.slots[i] = value.Absent{}
	}
	st.push(f)
	st.wait = wait{kind: waitParts, since: t.at}
	t.emit(history.RegionOpened{Step: opener.Name, Scope: st.act.flow.scope, Verb: stmt.Op, Items: len(items)})
	t.pumpRegion(st, f)
}

// pumpRegion starts the instances whose turn it is, and closes the region when none is left. An instance may end while it
// starts, so this is a loop and not entered twice.
func (t *turn) pumpRegion(st *strand, f *regionFrame) {
	if f.pumping {
		return
	}
	f.pumping = true
	for !t.over && !st.dead && f.next < len(f.items) && (f.open == 0 || f.stmt.Op == plan.OpDistribute) {
		i := f.next
		f.next++
		f.open++
		t.startInstance(st, f, i)
	}
	f.pumping = false
	if !t.over && !st.dead && f.open == 0 {
		t.closeRegion(st, f, nil)
	}
}

func (t *turn) startInstance(st *strand, f *regionFrame, i int) {
	opener, around := st.act.step, st.act.flow
	f.instances[i] = &flow{
		kind: flowInstance, def: around.def, region: opener.Name,
		scope: within(around.scope, fmt.Sprintf("%s[%d]", opener.Name, i)), owner: st, index: i,
	}
	t.enterInstance(f.instances[i])
}

// enterInstance starts an instance at the step below the opener and at the steps that wait for it.
func (t *turn) enterInstance(fl *flow) {
	st := fl.owner
	f := st.region()
	e := t.extend(st.env, f.stmt.Item, f.items[fl.index])
	opener := st.act.step
	if below := fl.target(opener.FallThrough); below != nil {
		t.arrive(fl, arrival{step: below, env: e, routed: true})
	}
	if !fl.ended {
		t.completed(fl, opener, e)
	}
	t.settle(fl)
}

// reachCollect ends an instance with the value that is collected; what is left of it is cancelled.
func (t *turn) reachCollect(fl *flow, e *env) {
	st := fl.owner
	f := st.region()
	v := value.Value(value.Absent{})
	if link := e.find(f.collect.Body[0].Name); link != nil {
		v = link.val
	}
	t.cancelFlow(fl, flowEnded)
	f.slots[fl.index] = v
	t.instanceDone(st, f, fl, true)
	t.pumpRegion(st, f)
}

func (t *turn) instanceDone(st *strand, f *regionFrame, fl *flow, ok bool) {
	f.instances[fl.index] = nil
	f.open--
	t.emit(history.RegionSlot{Step: st.act.step.Name, Scope: st.act.flow.scope, Index: fl.index, OK: ok})
}

// instanceFailed ends an instance that failed. A tolerant region goes on with an absent slot, a strict one is over.
func (t *turn) instanceFailed(fl *flow, failure history.Failure) {
	st := fl.owner
	f := st.region()
	t.cancelFlow(fl, siblingFailed)
	t.instanceDone(st, f, fl, false)
	if f.collect.Body[0].Tolerant {
		t.pumpRegion(st, f)
		return
	}
	for _, other := range f.instances {
		if other != nil {
			t.cancelFlow(other, siblingFailed)
		}
	}
	t.closeRegion(st, f, &failure)
}

// closeRegion ends the opener and leads on to the collect, in the environment around the region.
func (t *turn) closeRegion(st *strand, f *regionFrame, failure *history.Failure) {
	act := st.act
	fl := act.flow
	t.emit(history.RegionClosed{Step: act.step.Name, Scope: fl.scope, Filled: f.filled()})
	st.dead = true
	fl.remove(act)
	t.arrive(fl, arrival{step: f.collect, env: act.start, routed: true, gathered: &gathered{slots: f.slots, failure: failure}})
	t.settle(fl)
}

func (f *regionFrame) filled() int {
	n := 0
	for _, v := range f.slots {
		if value.Present(v) {
			n++
		}
	}
	return n
}

// collect binds the slots of the region that led here.
func (t *turn) collect(st *strand) {
	switch g := st.act.gathered; {
	case g == nil:
		t.failWith(st, value.Failed(planInvalid, "step %s was entered without its region", st.act.step.Name))
	case g.failure != nil:
		t.fail(st, *g.failure)
	default:
		t.finish(st, g.slots)
	}
}
