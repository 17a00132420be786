package graph

import (
	"aion/domain/awl/compile"
	"aion/domain/awl/syntax"
)

// router draws what leads from the steps of one flow.
type router struct {
	b     *builder
	f     flow
	all   []drawn
	index map[string]int // the first step of each name
}

// edges draws what leads from the steps of a flow to each other and out of it (awl 7.3).
func (b *builder) edges(all []drawn, f flow) {
	r := router{b, f, all, map[string]int{}}
	steps := make([]*syntax.Step, len(all))
	for i, d := range all {
		steps[i] = d.step
		if _, ok := r.index[d.step.Name.Name]; !ok {
			r.index[d.step.Name.Name] = i
		}
	}
	falls := compile.FallThroughs(steps, func(name string) bool { return f.outcomes[name] != "" || f.exits[name] != "" })
	for i, d := range all {
		for _, a := range d.step.After {
			if from, ok := r.index[a.Name]; ok {
				b.edge(Edge{Source: all[from].id, Target: d.id, Kind: After})
			}
		}
		r.lead(i, compile.RouteOf(d.step.Body), Edge{Kind: Route})
		for _, cl := range d.step.Clauses {
			r.lead(i, cl.Target, Edge{Kind: Route, Label: cl.Name.Name})
		}
		if falls[i] {
			b.edge(Edge{Source: d.id, Target: all[i+1].id, Kind: FallThrough})
		}
		if d.step.Handler != nil {
			r.lead(i, compile.RouteOf(d.step.Handler.Body), Edge{Kind: Failure, Label: "on failure"})
		}
	}
}

// lead draws the edge from step i to a target, when there is one that the flow knows.
func (r router) lead(i int, t *syntax.Target, e Edge) {
	if t == nil {
		return
	}
	e.Source = r.all[i].id
	if to, ok := r.index[t.Name.Name]; ok {
		e.Target, e.Back = r.all[to].id, to <= i
	}
	if r.f.out(t.Name.Name, &e) || e.Target != "" {
		r.b.edge(e)
	}
}

// out leads an edge out of the flow: to an outcome, which a step never hides, or to a clause of the step around it, which
// decides where it goes on.
func (f flow) out(name string, e *Edge) bool {
	switch {
	case f.outcomes[name] != "":
		e.Target, e.Back = f.outcomes[name], false
	case e.Target == "" && f.exits[name] != "":
		e.Target = f.exits[name]
		if e.Label == "" {
			e.Label = name
		}
	default:
		return false
	}
	return true
}

func (b *builder) edge(e Edge) {
	e.ID = e.Source + ">" + e.Target + ":" + e.Label
	if b.taken[e.ID] {
		return
	}
	b.taken[e.ID] = true
	b.g.Edges = append(b.g.Edges, e)
}
