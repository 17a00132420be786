package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// checkRegionStep judges the step of an opener or a collect by its form.
func (c *checker) checkRegionStep(n *node) {
	if r := n.opens; r != nil {
		if !openerAlone(n.step) {
			c.found.add("AWL5010", keyword(r.stmt.Span, r.stmt.Verb), "verb", r.stmt.Verb)
		}
		if r.collect == nil {
			c.found.add("AWL5008", keyword(r.stmt.Span, r.stmt.Verb))
		}
	}
}

// inTopStep says whether statements here stand directly in a step of the workflow or of a subflow.
func (p *place) inTopStep() bool { return p.nest == inStep && !p.node.flow.isGroup() }

// region reads `distribute` and `sequence`. The item is bound in the steps of the region.
func (p *place) region(s *syntax.Region) {
	item := p.reader().items(s.Over, s.Verb)
	if !p.inTopStep() {
		p.c.found.add("AWL5012", keyword(s.Span, s.Verb), "verb", s.Verb, "what", p.nest.String())
		p.bind(s.Item, item)
		return
	}
	r := p.node.opens
	if r == nil || r.stmt != s || r.collect == nil || r.broken {
		p.bind(s.Item, item)
		return
	}
	q := p.inside(inStep, false)
	q.bind(s.Item, item)
}

// collect reads `collect`: the list of what the instances of a region bound.
func (p *place) collect(s *syntax.Collect) {
	at := keyword(s.Span, "collect")
	if !p.inTopStep() {
		p.c.found.add("AWL5012", at, "verb", "collect", "what", p.nest.String())
		p.bindIdent(s.Bind, p.c.builtin.unknown)
		return
	}
	r := p.node.closes
	isFirst := p.node.step.Body[0] == syntax.Stmt(s)
	t := p.c.builtin.unknown
	switch {
	case !isFirst:
		p.c.found.add("AWL5011", at)
	case r == nil:
		p.c.found.add("AWL5009", at)
	case r.gather == s && !r.broken:
		t = p.collected(s, r)
	}
	if s.Bind == nil {
		return
	}
	if s.Tolerant {
		t = optionalOf(t)
	}
	p.bind(*s.Bind, listOf(t))
}

// collected is the type of what a region's instances bind under the collected name.
func (p *place) collected(s *syntax.Collect, r *region) *schema.Type {
	f := p.node.flow
	unknown := p.c.builtin.unknown
	i, known := f.uni.names[s.Name.Name]
	switch {
	case f.loose:
		return f.someType(s.Name.Name)
	case r.arrival == nil && r.opener.index+1 < r.collect.index:
		return unknown // no way through the region is known, which has its own findings
	case r.arrival == nil || !known || !f.boundWithin(r, i):
		p.c.found.add("AWL5016", s.Name.Span, "name", s.Name.Name)
		return unknown
	case !r.arrival.sure.has(i):
		p.c.found.add("AWL5017", s.Name.Span, "name", s.Name.Name)
		return unknown
	}
	t := unknown
	for _, e := range r.arrivals {
		here := e.brings(s.Name.Name, i)
		if here == nil || isUnknown(here) {
			continue
		}
		if !isUnknown(t) && !p.c.same.as(t, here) {
			p.c.found.add("AWL3014", p.node.step.Name.Span, "name", s.Name.Name, "first", show(t), "found", show(here))
			return unknown
		}
		t = here
	}
	if isOptional(t) {
		p.reader().absent(s.Name.Name, s.Name.Span)
		return unknown
	}
	return t
}

// boundWithin says whether a step of a region, or its opener, binds a name.
func (f *flow) boundWithin(r *region, name int) bool {
	if i, ok := f.uni.names[r.stmt.Item.Name]; ok && i == name {
		return true
	}
	for _, n := range f.nodes {
		if n.region == r && n.done != nil && n.done.maybe.has(name) {
			return true
		}
	}
	return false
}
