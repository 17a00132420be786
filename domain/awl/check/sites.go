package check

import "aion/domain/schema"

// siteKey is where a name is bound: in the statements of a step, or in its `on failure`.
type siteKey struct {
	node *node
	fail bool
}

// nameSites are the places that bind one name in a flow, with the types they give it.
type nameSites struct {
	types map[siteKey]*schema.Type
	first *schema.Type
	mixed bool // the places give it different types
}

// note records that a name is bound at a place. It gives the type that the place gave the name before, if that differs.
func (c *checker) note(at siteKey, name string, t *schema.Type) (other *schema.Type) {
	f := at.node.flow
	s := f.sites[name]
	if s == nil {
		s = &nameSites{types: map[siteKey]*schema.Type{}, first: t}
		f.sites[name] = s
	}
	if !s.mixed && !c.same.as(s.first, t) {
		s.mixed = true
		clear(f.types)
	}
	if old, ok := s.types[at]; ok && !c.same.as(old, t) {
		s.types[at] = c.builtin.unknown
		return old
	}
	if isUnknown(s.first) {
		s.first = t
	}
	s.types[at] = t
	return nil
}

// someType is the type of a name whose ways are not known.
func (f *flow) someType(name string) *schema.Type {
	if s := f.sites[name]; s != nil && !s.mixed {
		return s.first
	}
	return &schema.Type{Kind: schema.Unknown}
}

// siteType is the type that a place gives a name; nil when it has not been read.
func (f *flow) siteType(at siteKey, name string) *schema.Type {
	if s := f.sites[name]; s != nil {
		return s.types[at]
	}
	return nil
}

type typeKey struct {
	node *node
	name int
}

// typeOf is the type of a name that is certain to be bound at a point.
func (p *point) typeOf(name string, i int) *schema.Type {
	s := p.f.sites[name]
	if s == nil {
		return &schema.Type{Kind: schema.Unknown}
	}
	if !s.mixed {
		return s.first
	}
	switch {
	case p.isEnd:
		for _, n := range p.f.exits {
			if t := n.typeAfter(name, i, siteKey{node: n}); t != nil {
				return t
			}
		}
	case p.own:
		if t := p.node.typeAfter(name, i, siteKey{node: p.node}); t != nil {
			return t
		}
	default:
		if t := p.node.typeInto(name, i); t != nil {
			return t
		}
	}
	return &schema.Type{Kind: schema.Unknown}
}

// typeAfter is the type of a name after a step; nil when it does not come from there.
func (n *node) typeAfter(name string, i int, at siteKey) *schema.Type {
	if t := n.flow.siteType(at, name); t != nil {
		return t
	}
	return n.typeInto(name, i)
}

// typeInto is the type that a name has at the start of a step, on the first way that is known to bring it.
func (n *node) typeInto(name string, i int) *schema.Type {
	f := n.flow
	key := typeKey{n, i}
	if t, ok := f.types[key]; ok {
		return t
	}
	f.types[key] = nil // a way that leads back here brings nothing new
	for _, e := range n.in {
		if t := e.brings(name, i); t != nil {
			f.types[key] = t
			return t
		}
	}
	delete(f.types, key)
	return nil
}

// brings is the type of a name when the edge is taken; nil when that is not known.
func (e *edge) brings(name string, i int) *schema.Type {
	if e.from.entry == nil {
		return nil
	}
	if e.out.maybe.has(i) {
		return e.from.flow.siteType(siteKey{e.from, e.kind == byFailure}, name)
	}
	return e.from.typeInto(name, i)
}
