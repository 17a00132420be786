package language

import (
	"slices"

	"aion/domain/awl/syntax"
)

// activation is one visit of a step.
type activation struct {
	f     *flowRun
	step  *syntax.Step
	start names
	visit int
	slots *collected
}

// stepEnd is how an activation ended: with a route to a step, with an exit of its flow, with a failure, or by completing.
type stepEnd struct {
	names   names
	next    *syntax.Step
	exit    *exit
	failure *failure
	handled bool // it was left through `on failure`
	opened  bool // its region has run and its collect is due
}

// routed is thrown by a route, through the statement lists around it.
type routed struct{ end stepEnd }

// run runs the statements and clauses; a failure goes to `on failure`.
func (a *activation) run() stepEnd {
	end := a.attempt(func() stepEnd { return a.body() })
	if end.failure == nil || a.step.Handler == nil {
		return end
	}
	end = a.attempt(func() stepEnd {
		e := a.stmts(a.step.Handler.Body, a.start)
		return stepEnd{names: e}
	})
	end.handled = true
	return end
}

// attempt catches what a part throws.
func (a *activation) attempt(part func() stepEnd) (end stepEnd) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			end = stepEnd{failure: &p}
		case routed:
			end = p.end
		default:
			panic(p)
		}
	}()
	return part()
}

func (a *activation) body() stepEnd {
	if a.step.Visits != nil {
		if limit := a.eval(a.step.Visits.Max, a.start, nil).(int64); int64(a.visit) > limit {
			fail("visits_exceeded")
		}
	}
	if r := opens(a.step); r != nil {
		return a.region(r)
	}
	e := a.stmts(a.step.Body, a.start)
	for _, c := range a.step.Clauses {
		if c.Guard == nil || a.eval(c.Guard, e, nil).(bool) {
			a.route(c.Target, e, nil)
		}
	}
	if len(a.step.Clauses) > 0 {
		fail("no_outcome")
	}
	return stepEnd{names: e}
}

// route leaves the step by a target.
func (a *activation) route(t *syntax.Target, e names, chained *any) {
	name := t.Name.Name
	if a.f.isGroup {
		if i := slices.IndexFunc(a.f.clauses, func(c *syntax.Clause) bool { return c.Name.Name == name }); i >= 0 {
			panic(routed{stepEnd{exit: &exit{clause: a.f.clauses[i], names: e}}})
		}
	}
	if next := a.f.step(name); next != nil {
		panic(routed{stepEnd{names: e, next: next}})
	}
	panic(routed{stepEnd{exit: &exit{outcome: name, payload: a.payload(t, e, chained)}}})
}

// payload is what a route gives to an outcome.
func (a *activation) payload(t *syntax.Target, e names, chained *any) any {
	switch {
	case chained != nil:
		return *chained
	case t.Value != nil:
		return a.eval(t.Value, e, nil)
	case t.HasArgs:
		return a.record(t.Args, e, nil)
	}
	if b, ok := e[t.Name.Name]; ok {
		return b.value
	}
	return nil
}

// region runs the instances of a region and goes on at its collect.
func (a *activation) region(r *syntax.Region) stepEnd {
	f := a.f
	collect := f.shape.collect[a.step]
	c := collect.Body[0].(*syntax.Collect)
	list := a.list(r.Over, a.start)
	got := &collected{list: make([]any, len(list))}
	for i, item := range list {
		in := f.d.newFlow(flowRun{steps: f.steps, shape: f.shape, opener: a.step})
		x := in.instance(f.d.bind(a.start, r.Item.Name, item))
		got.list[i] = absent{}
		if x.failure == nil {
			got.list[i] = x.names[c.Name.Name].value
			continue
		}
		if c.Tolerant {
			continue
		}
		got.failure = got.failure.also(x.failure)
		if r.Verb == "sequence" {
			break
		}
		f.d.Cut = true
	}
	f.pending = append(f.pending, arrival{step: collect, names: a.start, routed: true, slots: got})
	return stepEnd{opened: true}
}
