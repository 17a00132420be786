package compile

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// scope is what the routes of one flow can lead to besides its steps.
type scope struct {
	outcomes map[string]*schema.Type // of the workflow or the subflow
	clauses  map[string]bool         // of the step around a group
}

func (c *compiler) workflowScope() scope {
	s := scope{outcomes: map[string]*schema.Type{}}
	for _, o := range c.doc.Header.Outcomes {
		s.outcomes[o.Name.Name] = c.typeOf(o.Type)
	}
	return s
}

func (c *compiler) subflow(s *syntax.Subflow) plan.Subflow {
	p := plan.Subflow{Name: s.Name.Name, Params: []string{}}
	for _, param := range s.Params {
		c.typeOf(param.Type)
		p.Params = append(p.Params, param.Name.Name)
	}
	sc := scope{outcomes: map[string]*schema.Type{}}
	if s.Outcome != nil {
		p.Outcome = s.Outcome.Name.Name
		sc.outcomes[p.Outcome] = c.typeOf(s.Outcome.Type)
	}
	p.Flow = c.flow(s.Steps, sc)
	return p
}

// group compiles consecutive substeps of a step.
func (c *compiler) group(steps []*syntax.Step, clauses map[string]bool) plan.Stmt {
	f := c.flow(steps, scope{clauses: clauses})
	return plan.Stmt{Op: plan.OpGroup, Line: line(steps[0]), Flow: &f}
}

func (c *compiler) flow(steps []*syntax.Step, sc scope) plan.Flow {
	f := plan.Flow{Steps: []plan.Step{}, Edges: []plan.Edge{}}
	falls := FallThroughs(steps, func(name string) bool { return sc.clauses[name] })
	for i, s := range steps {
		ps := c.step(s, sc)
		if falls[i] {
			ps.FallThrough = steps[i+1].Name.Name
		}
		f.Steps = append(f.Steps, ps)
	}
	regions(f.Steps)
	for i := range f.Steps {
		f.Edges = append(f.Edges, edges(&f.Steps[i])...)
	}
	return f
}

func (c *compiler) step(s *syntax.Step, sc scope) plan.Step {
	ctx := &stepContext{compiler: c, step: s, scope: sc}
	p := plan.Step{Name: s.Name.Name, Kind: Kind(s, func(name string) bool { return c.ops[name].subflow != nil }), Doc: text(s.Doc), Line: line(s)}
	for _, a := range s.After {
		p.After = append(p.After, a.Name)
	}
	p.Body = ctx.stmts(s.Body)
	if s.Handler != nil {
		p.Handler = &plan.Handler{Body: ctx.stmts(s.Handler.Body)}
	}
	for _, cl := range s.Clauses {
		p.Clauses = append(p.Clauses, plan.Clause{Name: cl.Name.Name, Guard: c.root(cl.Guard), Target: ctx.target(cl.Target, nil)})
	}
	if s.Visits != nil {
		p.Visits = c.root(s.Visits.Max)
	}
	return p
}

func line(s *syntax.Step) int { return s.Name.Span.Start.Line }

// regions marks the steps between each opener and its collect. Regions nest like brackets, in written order.
func regions(steps []plan.Step) {
	var open []int
	for i := range steps {
		s := &steps[i]
		if s.Kind == plan.KindCollect && len(open) > 0 {
			steps[open[len(open)-1]].Collect = s.Name
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			s.Region = steps[open[len(open)-1]].Name
		}
		if s.Kind == plan.KindDistribute || s.Kind == plan.KindSequence {
			open = append(open, i)
		}
	}
}

// edges are the arrows that end or begin at a step: those of `after` lead to it, the others from it.
func edges(s *plan.Step) []plan.Edge {
	var all []plan.Edge
	for _, a := range s.After {
		all = append(all, plan.Edge{From: a, To: s.Name, Kind: plan.EdgeAfter})
	}
	if t := endOf(s.Body); t != nil {
		all = append(all, plan.Edge{From: s.Name, To: t.Name, Kind: plan.EdgeRoute})
	}
	for _, cl := range s.Clauses {
		all = append(all, plan.Edge{From: s.Name, To: cl.Target.Name, Kind: plan.EdgeRoute, Clause: cl.Name})
	}
	if s.FallThrough != "" {
		all = append(all, plan.Edge{From: s.Name, To: s.FallThrough, Kind: plan.EdgeFallThrough})
	}
	if s.Handler != nil {
		if t := endOf(s.Handler.Body); t != nil {
			all = append(all, plan.Edge{From: s.Name, To: t.Name, Kind: plan.EdgeFailure})
		}
	}
	return all
}

func endOf(list []plan.Stmt) *plan.Target {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1].Target
}
