package check

import "aion/domain/schema"

// binding strength of a name at a point.
type strength int

const (
	unbound strength = iota
	perhaps          // bound on some ways to this point
	assumed          // nothing is known, and nothing is said about it
	bound            // certain
)

// scope is a stretch of statements, or the start of a step, and what is known there. Scopes chain outwards.
type scope struct {
	up       *scope
	vars     map[string]*schema.Type
	facts    map[string]bool // paths that are proved present here
	point    *point          // the start of a step, or another place that the flow's analysis knows
	threaded string          // the scope is a loop's body and carries this name
	rebound  bool            // the carried name was bound in the body
	barrier  bool            // bindings inside end with it
	isItem   bool            // the argument of a combinator: paths of the item do not reach further
}

// point is a place of a flow. at says what is bound and proved there, from the start of the flow; nil when nothing is
// known and every name that the flow binds counts as bound.
type point struct {
	f     *flow
	node  *node
	at    *state
	own   bool // the node's own bindings are made
	isEnd bool // the end of a group: the bindings of any step that ends it
}

func (s *scope) child() *scope { return &scope{up: s} }

// find looks a name up.
func (s *scope) find(name string) (*schema.Type, strength) {
	best := unbound
	for ; s != nil; s = s.up {
		if t, ok := s.vars[name]; ok {
			return t, bound
		}
		if s.point == nil {
			continue
		}
		switch t, how := s.point.find(name); how {
		case bound:
			return t, bound
		case assumed:
			if t, how := s.up.find(name); how == bound || how == assumed && !isUnknown(t) {
				return t, how
			}
			return t, assumed
		case perhaps, unbound:
			best = max(best, how)
		}
	}
	return nil, best
}

// knows says whether a name may be bound here.
func (s *scope) knows(name string) bool {
	_, how := s.find(name)
	return how != unbound
}

func (p *point) find(name string) (*schema.Type, strength) {
	i, known := p.f.uni.names[name]
	switch {
	case p.at == nil && known:
		return p.f.someType(name), assumed
	case !known || p.at == nil:
		return nil, unbound
	case p.at.sure.has(i):
		return p.typeOf(name, i), bound
	case p.at.maybe.has(i):
		return nil, perhaps
	}
	return nil, unbound
}

// proved says whether a path is known to be present.
func (s *scope) proved(path string) bool {
	root := rootOf(path)
	for ; s != nil; s = s.up {
		if holds, known := s.here(path, root); known {
			return holds
		}
	}
	return false
}

// here says whether a path is known to be present by this scope alone. It is known not to be where its name is bound, and
// where the item that it belongs to begins.
func (s *scope) here(path, root string) (holds, known bool) {
	switch {
	case s.facts[path]:
		return true, true
	case root == "":
		return false, s.isItem
	case s.point != nil:
		return s.point.proves(path)
	}
	_, binds := s.vars[root]
	return false, binds
}

// proves is the same of a point.
func (p *point) proves(path string) (holds, known bool) {
	if p.at == nil {
		return false, true
	}
	f, ok := p.f.uni.facts[path]
	if !ok {
		return false, false
	}
	holds = p.at.proved.has(f)
	return holds, holds || p.at.lost.has(f)
}

// prove adds facts.
func (s *scope) prove(paths []string) {
	for _, p := range paths {
		if s.facts == nil {
			s.facts = map[string]bool{}
		}
		s.facts[p] = true
	}
}
