package check

import (
	"maps"
	"slices"
)

// bindings follows the places where names are bound, for names with more than one place. A name that reaches a join from
// different places on two sides was bound twice in parallel (AWL2027).
type bindings struct {
	f      *flow
	names  []string         // in byte order
	places map[string][]int // by name
	at     map[*node]bits   // the places whose bindings may be in force at the start of a step
	own    map[*node]map[string]int
	count  int
}

// checkParallel reports names that two sides of an `after` join bind.
func (c *checker) checkParallel(f *flow) {
	var joins []*node
	for _, n := range f.nodes {
		if n.reached && len(n.after) > 1 {
			joins = append(joins, n)
		}
	}
	if len(joins) == 0 {
		return
	}
	b := newBindings(f)
	b.solve()
	for _, n := range joins {
		if name := b.conflict(n); name != "" {
			c.found.add("AWL2027", n.step.Name.Span, "name", name)
		}
	}
}

// newBindings numbers the places: one for each step that binds a name, and one for the name's binding before the flow.
func newBindings(f *flow) *bindings {
	b := &bindings{f: f, places: map[string][]int{}, at: map[*node]bits{}, own: map[*node]map[string]int{}}
	var start bits
	for _, name := range slices.Sorted(maps.Keys(f.uni.names)) {
		var binders []*node
		for _, n := range f.nodes {
			if n.done != nil && n.done.maybe.has(f.uni.names[name]) {
				binders = append(binders, n)
			}
		}
		_, how := f.base.find(name)
		if len(binders) == 0 || len(binders) == 1 && how != bound {
			continue
		}
		b.names = append(b.names, name)
		if how == bound {
			start.set(b.place(name))
		}
		for _, n := range binders {
			if b.own[n] == nil {
				b.own[n] = map[string]int{}
			}
			b.own[n][name] = b.place(name)
		}
	}
	b.at[f.nodes[0]] = start
	return b
}

func (b *bindings) place(name string) int {
	b.count++
	b.places[name] = append(b.places[name], b.count-1)
	return b.count - 1
}

// leaving gives the places in force when a step is left by an edge.
func (b *bindings) leaving(e *edge) bits {
	s := b.at[e.from].clone()
	for name, place := range b.own[e.from] {
		i := b.f.uni.names[name]
		if e.out.sure.has(i) {
			for _, p := range b.places[name] {
				s.unset(p)
			}
		}
		if e.out.maybe.has(i) {
			s.set(place)
		}
	}
	return s
}

func (b *bindings) solve() {
	for changed := true; changed; {
		changed = false
		for _, n := range b.f.order() {
			s := b.at[n]
			for _, e := range n.in {
				s = s.union(b.leaving(e))
			}
			if !s.equal(b.at[n]) {
				b.at[n], changed = s, true
			}
		}
	}
}

// conflict is the first name that the sides of a join bind at different places.
func (b *bindings) conflict(n *node) string {
	var sides []bits
	for _, e := range n.in {
		if e.kind == byAfter {
			sides = append(sides, b.leaving(e))
		}
	}
	for _, name := range b.names {
		var mask bits
		for _, p := range b.places[name] {
			mask.set(p)
		}
		var first bits
		for _, s := range sides {
			here := s.intersect(mask)
			switch {
			case here.equal(nil):
			case first == nil:
				first = here
			case !first.equal(here):
				return name
			}
		}
	}
	return ""
}
