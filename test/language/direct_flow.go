package language

import (
	"slices"

	"aion/domain/awl/syntax"
)

// flowRun is one run through a flow: the workflow, a subflow call, a region instance or a group of substeps.
type flowRun struct {
	d       *Direct
	steps   []*syntax.Step
	isGroup bool
	clauses []*syntax.Clause // of the step around a group
	opener  *syntax.Step     // of a region instance
	shape   *shape

	visits  map[*syntax.Step]int
	pending []arrival
	tokens  map[*syntax.Step][][]names
	done    map[string]names
	exits   []exit
	left    names // of a group: what the ways out of it bound
}

// shape is what follows from the text of a flow alone.
type shape struct {
	region  map[*syntax.Step]*syntax.Step // the opener of the innermost region
	collect map[*syntax.Step]*syntax.Step // by opener
	routed  map[string]bool
	waited  map[string]bool
}

// arrival is an activation that is due.
type arrival struct {
	step   *syntax.Step
	names  names
	routed bool
	slots  *collected
}

// collected is what a region hands to its collect.
type collected struct {
	list    []any
	failure *failure
}

// exit is a way in which a flow ends.
type exit struct {
	outcome string
	payload any
	clause  *syntax.Clause // of the step around a group
	names   names
	failure *failure
	collect bool
	left    bool
}

func (d *Direct) newFlow(f flowRun) *flowRun {
	f.d = d
	f.visits, f.tokens, f.done = map[*syntax.Step]int{}, map[*syntax.Step][][]names{}, map[string]names{}
	if f.shape == nil {
		f.shape = shapeOf(f.steps)
	}
	return &f
}

func shapeOf(steps []*syntax.Step) *shape {
	s := &shape{region: map[*syntax.Step]*syntax.Step{}, collect: map[*syntax.Step]*syntax.Step{}, routed: map[string]bool{}, waited: map[string]bool{}}
	var open []*syntax.Step
	for _, st := range steps {
		if len(st.Body) > 0 {
			if _, ok := st.Body[0].(*syntax.Collect); ok {
				s.collect[open[len(open)-1]] = st
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			s.region[st] = open[len(open)-1]
		}
		if opens(st) != nil {
			open = append(open, st)
		}
		for _, after := range st.After {
			s.waited[after.Name] = true
		}
		routes(st, s.routed)
	}
	return s
}

func opens(st *syntax.Step) *syntax.Region {
	if len(st.Body) == 0 {
		return nil
	}
	r, _ := st.Body[0].(*syntax.Region)
	return r
}

// routes finds the targets of a step's routes.
func routes(st *syntax.Step, into map[string]bool) {
	lists := [][]syntax.Stmt{st.Body}
	if st.Handler != nil {
		lists = append(lists, st.Handler.Body)
	}
	for _, list := range lists {
		for _, s := range list {
			switch s := s.(type) {
			case *syntax.Route:
				into[s.Target.Name.Name] = true
			case *syntax.Pipe:
				if s.Route != nil {
					into[s.Route.Name.Name] = true
				}
			}
		}
	}
	for _, c := range st.Clauses {
		into[c.Target.Name.Name] = true
	}
}

// below is the step that a completed one falls through to; nil when there is none.
func (f *flowRun) below(st *syntax.Step) *syntax.Step {
	i := slices.Index(f.steps, st)
	if i+1 == len(f.steps) {
		return nil
	}
	next := f.steps[i+1]
	if len(next.After) > 0 || f.shape.routed[next.Name.Name] && f.shape.waited[st.Name.Name] {
		return nil
	}
	return next
}

func (f *flowRun) step(name string) *syntax.Step {
	for _, st := range f.steps {
		if st.Name.Name == name {
			return st
		}
	}
	return nil
}

// run runs the flow from a step to its end.
func (f *flowRun) run(first *syntax.Step, e names) exit {
	f.arrive(arrival{step: first, names: e, routed: true})
	return f.drain()
}

// instance runs a region instance: it is entered below the opener, and where steps wait for it.
func (f *flowRun) instance(e names) exit {
	if below := f.below(f.opener); below != nil {
		f.arrive(arrival{step: below, names: e, routed: true})
	}
	f.completed(f.opener, e)
	return f.drain()
}

func (f *flowRun) arrive(a arrival) {
	if f.opener != nil && a.step == f.shape.collect[f.opener] {
		f.leave(exit{collect: true, names: a.names})
		return
	}
	f.pending = append(f.pending, a)
}

// drain runs what is due until nothing is. After an exit the rest still runs, to see whether it would end otherwise.
func (f *flowRun) drain() exit {
	for {
		i := slices.IndexFunc(f.pending, f.ready)
		if i < 0 {
			break
		}
		if len(f.exits) > 0 {
			f.d.Cut = true
		}
		a := f.pending[i]
		f.pending = slices.Delete(f.pending, i, i+1)
		f.activate(a)
	}
	if len(f.exits) == 0 {
		if f.isGroup {
			return exit{left: true, names: f.left}
		}
		return exit{failure: &failure{[]string{"no_outcome"}}}
	}
	if f.isGroup && len(f.left) > 0 {
		f.d.Cut = true
	}
	return f.first()
}

// first is the exit of the flow. Several of them must be alike, or the order decides.
func (f *flowRun) first() exit {
	x := f.exits[0]
	for _, y := range f.exits[1:] {
		f.d.Cut = true
		switch {
		case x.failure != nil && y.failure != nil:
			x.failure = x.failure.also(y.failure)
		case x.failure != nil || y.failure != nil || x.clause != y.clause || x.outcome != y.outcome || x.clause != nil || x.collect:
			f.d.Racy = true
		case Canonical(x.payload) != Canonical(y.payload):
			f.d.Racy = true
		}
	}
	return x
}

// ready reports whether an arrival may start: one by route waits until every step that its step waits for has completed.
func (f *flowRun) ready(a arrival) bool {
	for _, after := range a.step.After {
		if _, ok := f.done[after.Name]; a.routed && !ok {
			return false
		}
	}
	return true
}

func (f *flowRun) activate(a arrival) {
	if a.routed && len(a.step.After) > 0 {
		var below names
		for _, after := range a.step.After {
			below = union(below, f.done[after.Name])
		}
		over := below
		for name, v := range a.names {
			over = union(over, nil)
			over[name] = v
		}
		a.names = over
	}
	f.visits[a.step]++
	act := &activation{f: f, step: a.step, start: a.names, visit: f.visits[a.step], slots: a.slots}
	f.finish(act, act.run())
}

// finish goes on after an activation.
func (f *flowRun) finish(act *activation, x stepEnd) {
	switch {
	case x.opened:
		return
	case x.failure != nil:
		f.leave(exit{failure: x.failure})
		return
	case x.exit != nil:
		f.leave(*x.exit)
		return
	}
	next := x.next
	if next == nil && !x.handled {
		next = f.below(act.step)
	}
	if next != nil {
		f.arrive(arrival{step: next, names: x.names, routed: true})
	} else if f.isGroup {
		f.left = union(f.left, x.names)
	}
	if !x.handled {
		f.completed(act.step, x.names)
	}
}

// leave ends the flow. Whatever runs beside it is cut off.
func (f *flowRun) leave(x exit) {
	f.exits = append(f.exits, x)
	if len(f.pending) > 0 {
		f.d.Cut = true
	}
	for _, queues := range f.tokens {
		for _, q := range queues {
			if len(q) > 0 {
				f.d.Cut = true
			}
		}
	}
}

// completed gives a token to each step that waits.
func (f *flowRun) completed(st *syntax.Step, e names) {
	if f.shape.waited[st.Name.Name] {
		f.done[st.Name.Name] = e
	}
	for _, w := range f.steps {
		if f.shape.region[w] != f.opener {
			continue
		}
		for n, after := range w.After {
			if after.Name != st.Name.Name {
				continue
			}
			if f.tokens[w] == nil {
				f.tokens[w] = make([][]names, len(w.After))
			}
			f.tokens[w][n] = append(f.tokens[w][n], e)
			f.join(w)
		}
	}
}

func (f *flowRun) join(w *syntax.Step) {
	var joined names
	for _, q := range f.tokens[w] {
		if len(q) == 0 {
			return
		}
		joined = union(joined, q[0])
	}
	for n := range f.tokens[w] {
		f.tokens[w][n] = f.tokens[w][n][1:]
	}
	f.arrive(arrival{step: w, names: joined})
}
