package check

import "aion/domain/awl/syntax"

// analyse builds the graph of a flow and learns what is bound and proved at the start of each step. It reports nothing:
// what it leaves out of the graph as mistaken is reported when the step is read.
func (c *checker) analyse(f *flow) {
	if !f.isGroup() {
		f.findRegions()
	}
	if f.loose {
		return
	}
	if f.waiting = f.waitCycles(); len(f.waiting) > 0 {
		f.loose = true
		return
	}
	for _, n := range f.nodes {
		c.analyseStep(n)
	}
	c.connectAfter(f)
	c.connectFalls(f)
	f.reach()
	f.solve()
	f.findCycles()
	f.finish()
	f.strayOut()
}

// connectAfter adds the edges of `after`, without those that are mistaken.
func (c *checker) connectAfter(f *flow) {
	for _, n := range f.nodes {
		for _, id := range n.step.After {
			dep, code, _ := n.dependency(id)
			if code == "" {
				n.after = append(n.after, dep)
			}
		}
	}
	for _, n := range f.nodes {
		for _, dep := range n.after {
			dep.waited = true
			out := dep.done
			if out == nil {
				out = &state{}
			}
			if dep.opens != nil && dep.opens == n.region {
				out = dep.withItem(out)
			}
			f.connect(&edge{from: dep, to: n, kind: byAfter, out: out})
		}
	}
}

// dependency finds the step that one name of `after` means, or the finding about the name.
func (n *node) dependency(id syntax.Ident) (dep *node, code string, pairs []string) {
	dep = n.flow.byName[id.Name]
	switch {
	case dep == nil:
		return nil, "AWL2013", []string{"name", id.Name}
	case n.index == 0:
		return dep, "AWL4015", nil
	case n.routesFrom(dep):
		return dep, "AWL4016", []string{"name", id.Name}
	}
	if r := n.crossed(dep); r != nil {
		return dep, "AWL5015", []string{"name", id.Name, "opener", r.opener.step.Name.Name, "collect", r.collect.step.Name.Name}
	}
	return dep, "", nil
}

// crossed is the region whose border lies between a step and one it waits for; nil when there is none. An opener is waited
// for by the steps of its region only.
func (n *node) crossed(dep *node) *region {
	opens := dep.opens
	if opens != nil && opens.collect == nil {
		opens = nil
	}
	switch {
	case opens != nil && n.region == opens:
		return nil
	case opens != nil && n != opens.collect && opens.holds(n):
		return n.region
	case dep.region != nil && !dep.region.holds(n):
		return dep.region
	case dep.region != n.region:
		return n.region
	case opens != nil:
		return opens
	}
	return nil
}

// routesFrom says whether a route of dep, other than on failure, leads to n.
func (n *node) routesFrom(dep *node) bool {
	for _, e := range n.in {
		if e.from == dep && e.kind == byRoute {
			return true
		}
	}
	return false
}

// withItem adds the binding of an opener's item.
func (n *node) withItem(out *state) *state {
	s := out.clone()
	n.flow.uni.bind(s, n.opens.stmt.Item.Name)
	return s
}

// connectFalls adds the edges of fall-through (awl 7.3), and those from openers to their collects.
func (c *checker) connectFalls(f *flow) {
	for i, n := range f.nodes {
		var next *node
		if i+1 < len(f.nodes) {
			next = f.nodes[i+1]
		}
		if r := n.opens; r != nil && r.collect != nil {
			f.connect(&edge{from: n, to: r.collect, kind: byBypass, out: n.doneOr()})
			if next != r.collect && next.takesFall(n) {
				f.connect(&edge{from: n, to: next, kind: byFall, out: n.withItem(n.doneOr())})
			}
			continue
		}
		if next == nil || !next.takesFall(n) {
			continue
		}
		switch {
		case n.fallsOut():
			f.fall(n, next)
		case n.ends && !c.looksExhaustive(n.step):
			f.soft = append(f.soft, [2]*node{n, next})
		}
	}
}

func (f *flow) fall(n, next *node) {
	n.falls = true
	e := &edge{from: n, to: next, kind: byFall, out: n.end}
	if r := next.closes; r != nil && r == n.region {
		r.arrivals = append(r.arrivals, e)
		return
	}
	f.connect(e)
}

func (n *node) doneOr() *state {
	if n.done == nil {
		return &state{}
	}
	return n.done
}

// fallsOut says whether the step can complete without a route.
func (n *node) fallsOut() bool { return n.ends && len(n.step.Clauses) == 0 }

// takesFall says whether a step is entered by falling out of the one above it.
func (n *node) takesFall(above *node) bool {
	return len(n.after) == 0 && (!n.routed || !above.waited)
}

// nearTarget is the step that a misspelt target probably means.
func (c *checker) nearTarget(f *flow, name string) string {
	if !c.found.guessing() {
		return ""
	}
	return c.found.closest(name, f.stepNames())
}

func (f *flow) stepNames() []string {
	names := make([]string, 0, len(f.nodes))
	for _, n := range f.nodes {
		names = append(names, n.step.Name.Name)
	}
	return names
}
