package check

import (
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// readClauses reads the outcomes of a step. p stands after its statements; ends says whether their end can be reached.
func (c *checker) readClauses(n *node, p *place, ends bool) {
	s := n.step
	if len(s.Clauses) == 0 {
		return
	}
	var ids []syntax.Ident
	for _, cl := range s.Clauses {
		c.snake(cl.Name)
		ids = append(ids, cl.Name)
	}
	c.unique("outcome", ids)
	if !ends && len(n.jumps) == 0 {
		c.found.add("AWL4007", s.Clauses[0].Name.Span, "step", s.Name.Name)
	}
	at := p.inside(inStep, false)
	for i, cl := range s.Clauses {
		c.readClause(n, at, i, cl)
		if cl.Guard != nil {
			at.scope.prove(proves(cl.Guard).ifFalse) // for the clauses below
		}
	}
	if ends {
		c.checkCovered(n, at.reader())
	}
}

// readClause reads one guard, knowing that those above it were false, and the route it leads to.
func (c *checker) readClause(n *node, at *place, i int, cl *syntax.Clause) {
	visits := n.step.Visits != nil
	route := at.inside(inStep, false)
	if cl.Guard != nil {
		r := at.reader()
		r.visits = visits
		r.condition(cl.Guard, "the guard")
		route.scope.prove(proves(cl.Guard).ifTrue)
	} else if i < len(n.step.Clauses)-1 && isOtherwise(cl) {
		c.found.add("AWL4010", cl.GuardSpan)
	}
	if cl.Target == nil {
		return
	}
	if !n.flow.loose && n.clauseAt[i] != nil && n.entry != nil {
		// Substeps route here as well: only what is certain on those ways, too, can be read.
		route.scope = &scope{up: n.flow.base, point: &point{f: n.flow, node: n, at: n.entry.then(n.clauseAt[i]), own: true}}
	}
	r := route.reader()
	r.visits = visits
	route.target(cl.Target, r, nil)
}

// isOtherwise says whether a clause has no guard by intention; one whose guard was not understood has neither.
func isOtherwise(cl *syntax.Clause) bool { return cl.Guard == nil && cl.GuardSpan != (diag.Span{}) }
