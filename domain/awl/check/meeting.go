package check

import (
	"maps"
	"slices"

	"aion/domain/schema"
)

// checkMeeting reports names that reach a step with one type on one way and another on another (AWL3014).
func (c *checker) checkMeeting(f *flow) {
	m := meeting{c: c, order: f.order(), at: make([]*schema.Type, len(f.nodes))}
	for _, name := range slices.Sorted(maps.Keys(f.sites)) {
		if i, known := f.uni.names[name]; known && f.sites[name].mixed {
			m.follow(name, i)
		}
	}
}

// meeting follows one name at a time through a flow.
type meeting struct {
	c     *checker
	order []*node
	at    []*schema.Type // its type at the start of each step; nil where it is not known to be bound
}

// follow goes over the flow twice: the second time, the ways that lead back are known as well.
func (m *meeting) follow(name string, i int) {
	clear(m.at)
	for _, n := range m.order {
		m.at[n.index], _ = m.arrives(n, name, i)
	}
	for _, n := range m.order {
		first, other := m.arrives(n, name, i)
		if other != nil && n.reached && n.entry != nil && n.entry.sure.has(i) {
			m.c.found.add("AWL3014", n.step.Name.Span, "name", name, "first", show(first), "found", show(other))
		}
	}
}

// arrives gives the type that the first way into a step brings, and one that differs from it, if any.
func (m *meeting) arrives(n *node, name string, i int) (first, other *schema.Type) {
	waited := false
	for _, e := range n.in {
		if e.kind == byAfter && waited {
			continue // the sides of a join are not alternatives
		}
		t := m.at[e.from.index]
		if e.out.maybe.has(i) {
			t = n.flow.siteType(siteKey{e.from, e.kind == byFailure}, name)
		}
		switch {
		case t == nil:
		case first == nil:
			first, waited = t, waited || e.kind == byAfter
		case !m.c.same.as(first, t):
			return first, t
		}
	}
	return first, nil
}
