package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// place is where reading stands in the statements of a step.
type place struct {
	c      *checker
	node   *node
	scope  *scope
	nest   nesting
	record []siteKey // what bindings made here are bindings of, when they survive the step's statements
}

// inside gives the place in a block. What is bound there ends with it when the block is kept apart.
func (p *place) inside(nest nesting, apart bool) *place {
	q := *p
	q.scope = p.scope.child()
	q.nest = nest
	if apart {
		q.scope.barrier = true
		q.record = nil
	}
	return &q
}

// reader gives a reader of expressions at the place.
func (p *place) reader() *reader { return &reader{c: p.c, s: p.scope} }

// bindIdent binds the name of a result. A result that is nothing is not worth a name.
func (p *place) bindIdent(id *syntax.Ident, t *schema.Type) {
	if id == nil || id.Name == "" {
		return
	}
	if t.Kind == schema.Nil {
		p.c.found.add("AWL3020", id.Span, "name", id.Name)
	}
	p.bind(*id, t)
}

// bind binds a name, which must be free: but for the value that a loop carries, and on a route cycle for a name that the
// step was entered with. Both keep their type.
func (p *place) bind(id syntax.Ident, t *schema.Type) {
	if t, ok := p.claim(id, t); ok {
		p.set(id, t)
	}
}

// claim says whether a name can be bound here, and to which type.
func (p *place) claim(id syntax.Ident, t *schema.Type) (*schema.Type, bool) {
	if id.Name == "" {
		return t, false
	}
	p.c.freeOfConsts(id)
	old, how := p.scope.find(id.Name)
	switch {
	case how != bound:
		return t, true
	case !p.mayRebind(id.Name):
		p.c.found.add("AWL2008", id.Span, "name", id.Name)
		return t, false
	case !p.c.same.as(old, t):
		p.c.found.add("AWL3015", id.Span, "name", id.Name, "first", show(old), "found", show(t))
		return old, false
	case isUnknown(t):
		return old, true
	}
	return t, true
}

// set makes the binding.
func (p *place) set(id syntax.Ident, t *schema.Type) {
	if p.scope.vars == nil {
		p.scope.vars = map[string]*schema.Type{}
	}
	p.scope.vars[id.Name] = t
	for _, at := range p.record {
		if other := p.c.note(at, id.Name, t); other != nil {
			p.c.found.add("AWL3014", at.node.step.Name.Span, "name", id.Name, "first", show(other), "found", show(t))
		}
	}
}

// freeOfConsts judges the shape of a bound name and that it hides no const.
func (c *checker) freeOfConsts(id syntax.Ident) {
	c.snake(id)
	if _, ok := c.consts.get(id.Name); ok {
		c.found.add("AWL2009", id.Span, "name", id.Name, "kind", "const")
	}
}

// mayRebind says whether a name that is bound may be bound again here.
func (p *place) mayRebind(name string) bool {
	if carrier := p.scope.carrier(name); carrier != nil {
		carrier.rebound = true
		return true
	}
	onCycle := false
	for s := p.scope; s != nil && !s.barrier; s = s.up {
		if _, here := s.vars[name]; here {
			return onCycle
		}
		if s.point == nil {
			continue
		}
		isStart := !s.point.own && !s.point.isEnd
		onCycle = onCycle || isStart && s.point.node.cyclic
		if _, how := s.point.find(name); how == bound {
			return onCycle && isStart
		}
	}
	return false
}

// carrier is the body of the loop that carries a name, when bindings made here reach its end; nil when there is none.
func (s *scope) carrier(name string) *scope {
	for ; s != nil; s = s.up {
		if s.threaded == name {
			return s
		}
		if s.barrier {
			return nil
		}
	}
	return nil
}

// startOf is the scope at the start of a step.
func (c *checker) startOf(n *node) *scope {
	return &scope{up: n.flow.base, point: &point{f: n.flow, node: n, at: n.entry}}
}

// at gives the place at the start of a step, for its statements or for its `on failure`.
func (c *checker) at(n *node, nest nesting) *place {
	record := append([]siteKey{{node: n, fail: nest == inHandler}}, n.flow.record...)
	return &place{c: c, node: n, scope: c.startOf(n).child(), nest: nest, record: record}
}
