package check

import (
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// readStep reads what stands in a step.
func (c *checker) readStep(n *node) {
	s := n.step
	if s.Broken {
		return
	}
	if !n.flow.isGroup() {
		c.checkRegionStep(n)
	}
	p := c.at(n, inStep)
	ends := p.list(s.Body)
	c.checkLoopsNamed(s)
	c.readHandler(n)
	c.readVisits(n)
	c.readClauses(n, p, ends)
}

// readHandler reads `on failure`, which starts with what was known at the step's start.
func (c *checker) readHandler(n *node) {
	h := n.step.Handler
	if h == nil {
		return
	}
	if c.at(n, inHandler).list(h.Body) {
		c.found.add("AWL5018", h.Keyword)
	}
}

// readVisits reads the bound of `max … visits`, which is fixed before the flow: it reads inputs, parameters and consts.
func (c *checker) readVisits(n *node) {
	v := n.step.Visits
	if v == nil {
		return
	}
	f := n.flow
	for f.isGroup() {
		f = f.around.flow
	}
	r := &reader{c: c, s: f.base}
	r.limit = func(name *syntax.Name) bool {
		_, isInput := f.base.vars[name.Name]
		_, isConst := c.consts.get(name.Name)
		if _, isBound := f.uni.names[name.Name]; isBound && !isInput && !isConst {
			c.found.add("AWL5025", name.Span, "name", name.Name)
			return false
		}
		return true
	}
	r.bound(v.Max)
}

// checkLoopsNamed reports loops of a step without clauses: how they ended would be lost (AWL5004).
func (c *checker) checkLoopsNamed(s *syntax.Step) {
	if len(s.Clauses) > 0 {
		return
	}
	var walk func(list []syntax.Stmt)
	walk = func(list []syntax.Stmt) {
		for _, st := range list {
			switch v := st.(type) {
			case *syntax.Loop:
				c.found.add("AWL5004", keyword(v.Span, "loop"), "step", s.Name.Name)
				walk(v.Body)
			case *syntax.Fork:
				walk(v.Body)
			}
		}
	}
	walk(s.Body)
}

// keyword is the span of the word that a statement starts with.
func keyword(s diag.Span, word string) diag.Span {
	end := s.Start
	end.Offset += len(word)
	end.Column += len(word)
	return diag.Span{Start: s.Start, End: end}
}
