package check

import (
	"slices"

	"aion/domain/awl/diag"
)

// components gives the strongly connected parts of a flow with more than one step, or with a step that leads to itself,
// over the edges that keep says belong to the graph (Tarjan). Each is in written order.
func (f *flow) components(keep func(*edge) bool) [][]*node {
	t := tarjan{keep: keep, number: make([]int, len(f.nodes)), low: make([]int, len(f.nodes)), on: make([]bool, len(f.nodes))}
	for _, n := range f.nodes {
		if t.number[n.index] == 0 {
			t.visit(n)
		}
	}
	return t.found
}

type tarjan struct {
	keep        func(*edge) bool
	count       int
	number, low []int
	on          []bool
	stack       []*node
	found       [][]*node
}

func (t *tarjan) visit(n *node) {
	t.count++
	t.number[n.index], t.low[n.index] = t.count, t.count
	t.stack = append(t.stack, n)
	t.on[n.index] = true
	loops := false
	for _, e := range n.out {
		if !t.keep(e) {
			continue
		}
		loops = loops || e.to == n
		if t.number[e.to.index] == 0 {
			t.visit(e.to)
			t.low[n.index] = min(t.low[n.index], t.low[e.to.index])
		} else if t.on[e.to.index] {
			t.low[n.index] = min(t.low[n.index], t.number[e.to.index])
		}
	}
	if t.low[n.index] == t.number[n.index] {
		t.pop(n, loops)
	}
}

// pop takes the part that n is the first visited step of.
func (t *tarjan) pop(n *node, loops bool) {
	i := len(t.stack) - 1
	for t.stack[i] != n {
		i--
	}
	part := append([]*node{}, t.stack[i:]...)
	t.stack = t.stack[:i]
	for _, m := range part {
		t.on[m.index] = false
	}
	if len(part) > 1 || loops {
		sortWritten(part)
		t.found = append(t.found, part)
	}
}

func sortWritten(part []*node) {
	slices.SortFunc(part, func(a, b *node) int { return a.index - b.index })
}

// findCycles marks the steps that control can come back to.
func (f *flow) findCycles() {
	for _, part := range f.components(func(*edge) bool { return true }) {
		for _, n := range part {
			n.cyclic = true
		}
	}
}

// waitCycles gives the steps that wait for each other by what is written, a cycle each. It leaves no edges.
func (f *flow) waitCycles() [][]*node {
	for _, n := range f.nodes {
		for _, id := range n.step.After {
			if dep := f.byName[id.Name]; dep != nil {
				f.connect(&edge{from: dep, to: n, kind: byAfter})
			}
		}
	}
	found := f.components(func(*edge) bool { return true })
	for _, n := range f.nodes {
		n.in, n.out = nil, nil
	}
	return found
}

// checkBounds reports cycles without a step that counts its visits (AWL4005).
func (c *checker) checkBounds(f *flow) {
	for _, part := range f.components(func(e *edge) bool { return e.from.step.Visits == nil && e.to.step.Visits == nil }) {
		if part[0].reached {
			c.found.add("AWL4005", closing(part))
		}
	}
}

// closing is where a cycle is anchored: at the target of its first backward route, else at its first step.
func closing(part []*node) diag.Span {
	within := map[*node]bool{}
	for _, n := range part {
		within[n] = true
	}
	for _, n := range part {
		for _, e := range n.out {
			isRoute := e.kind == byRoute || e.kind == byFailure
			if isRoute && within[e.to] && e.to.index <= n.index {
				return e.at
			}
		}
	}
	return part[0].step.Name.Span
}
