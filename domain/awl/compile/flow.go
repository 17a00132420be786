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
	next := successors(steps, sc)
	for i, s := range steps {
		ps := c.step(s, sc)
		ps.FallThrough = next[i]
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
	p := plan.Step{Name: s.Name.Name, Kind: c.kind(s), Doc: text(s.Doc), Line: line(s)}
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

// kind is what a step is to a reader (awl 8).
func (c *compiler) kind(s *syntax.Step) string {
	if len(s.Body) == 0 {
		if len(s.Clauses) > 0 {
			return plan.KindDecision
		}
		return plan.KindPlain
	}
	switch first := s.Body[0].(type) {
	case *syntax.Region:
		return first.Verb // the kinds of openers are named like their verbs
	case *syntax.Collect:
		return plan.KindCollect
	case *syntax.Call:
		if c.ops[first.Name.Name].subflow != nil {
			return plan.KindSubflow
		}
	}
	if hasSubsteps(s.Body) {
		return plan.KindGroup
	}
	return plan.KindPlain
}

func hasSubsteps(list []syntax.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.Substep:
			return true
		case *syntax.Fork:
			if hasSubsteps(s.Body) {
				return true
			}
		case *syntax.Loop:
			if hasSubsteps(s.Body) {
				return true
			}
		}
	}
	return false
}

// successors gives, for each step, the one that follows a completion without a route (awl 7.3); empty when there is none.
func successors(steps []*syntax.Step, sc scope) []string {
	routed, awaited := map[string]bool{}, map[string]bool{}
	for _, s := range steps {
		for _, t := range targets(s) {
			routed[t.Name.Name] = !sc.clauses[t.Name.Name]
		}
		for _, a := range s.After {
			awaited[a.Name] = true
		}
	}
	next := make([]string, len(steps))
	for i, s := range steps {
		if i+1 == len(steps) || len(s.Clauses) > 0 || routeOf(s.Body) != nil {
			continue
		}
		below := steps[i+1]
		if len(below.After) == 0 && (!routed[below.Name.Name] || !awaited[s.Name.Name]) {
			next[i] = below.Name.Name
		}
	}
	return next
}

// targets lists what the routes of a step lead to.
func targets(s *syntax.Step) []*syntax.Target {
	var all []*syntax.Target
	lists := [][]syntax.Stmt{s.Body}
	if s.Handler != nil {
		lists = append(lists, s.Handler.Body)
	}
	for _, list := range lists {
		if t := routeOf(list); t != nil {
			all = append(all, t)
		}
	}
	for _, cl := range s.Clauses {
		if cl.Target != nil {
			all = append(all, cl.Target)
		}
	}
	return all
}

// routeOf is the target of the route that ends a list of statements; nil when it does not end in one.
func routeOf(list []syntax.Stmt) *syntax.Target {
	if len(list) == 0 {
		return nil
	}
	switch s := list[len(list)-1].(type) {
	case *syntax.Route:
		return s.Target
	case *syntax.Pipe:
		return s.Route
	}
	return nil
}

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
