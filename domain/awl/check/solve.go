package check

// reach marks the steps that control can get to. A route that is mistaken still leads where it probably means to.
func (f *flow) reach() {
	soft := map[*node][]*node{}
	for _, s := range f.soft {
		soft[s[0]] = append(soft[s[0]], s[1])
	}
	if len(f.nodes) == 0 {
		return
	}
	todo := []*node{f.nodes[0]}
	visit := func(n *node) {
		if !n.reached {
			n.reached = true
			todo = append(todo, n)
		}
	}
	f.nodes[0].reached = true
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range n.out {
			visit(e.to)
		}
		for _, to := range soft[n] {
			visit(to)
		}
		if r := n.region; r != nil && len(r.arrivals) > 0 {
			visit(r.collect)
		}
	}
}

// order gives the steps that can be entered so that each stands after one that leads to it, and after all that do unless a
// way leads back. The ways out of a region are no edges; what follows its collect is visited before what it holds, so that
// it stands behind.
func (f *flow) order() []*node {
	seen := make([]bool, len(f.nodes))
	var post []*node
	var visit func(n *node)
	visit = func(n *node) {
		seen[n.index] = true
		if n.opens != nil && n.opens.collect != nil && !seen[n.opens.collect.index] {
			visit(n.opens.collect)
		}
		for _, e := range n.out {
			if !seen[e.to.index] {
				visit(e.to)
			}
		}
		post = append(post, n)
	}
	if len(f.nodes) > 0 {
		visit(f.nodes[0])
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// solve finds what holds at the start of each step on every way into it: the greatest solution, from above.
func (f *flow) solve() {
	order := f.order()
	// Each round carries what is certain over one more way back, so there are fewer rounds than steps; the bound is a guard.
	for range len(order) + 2 {
		changed := false
		for _, n := range order {
			if s := n.arrive(); !s.equal(n.entry) {
				n.entry, changed = s, true
			}
		}
		if !changed {
			return
		}
	}
}

// arrive joins the ways into a step, as far as they are known.
func (n *node) arrive() *state {
	var waited, entry *state
	for _, e := range n.in {
		if e.kind == byAfter && e.from.entry != nil {
			waited = waited.and(e.from.entry.then(e.out))
		}
	}
	entry = waited
	if n.index == 0 {
		entry = entry.or(&state{})
	}
	for _, e := range n.in {
		if e.kind == byAfter || e.from.entry == nil {
			continue
		}
		at := e.from.entry.then(e.out)
		if waited != nil {
			at = waited.then(at)
		}
		entry = entry.or(at)
	}
	return entry
}

// finish gathers what a solved flow means for its surroundings: its regions, and the step around a group.
func (f *flow) finish() {
	for _, n := range f.nodes {
		if n.entry == nil {
			continue
		}
		for _, j := range n.clauseOut {
			f.jumps[j.clause] = f.jumps[j.clause].or(n.entry.then(j.at))
		}
		if f.isGroup() && n.fallsOut() && !n.falls && !n.waited {
			f.leave = f.leave.or(n.entry.then(n.end))
			f.exits = append(f.exits, n)
		}
		if r := n.closes; r != nil {
			for _, e := range r.arrivals {
				if e.from.entry != nil {
					r.arrival = r.arrival.or(e.from.entry.then(e.out))
				}
			}
		}
	}
}

// strayOut lets a group that has no way out leave where its mistaken routes stand: they may have been meant to.
func (f *flow) strayOut() {
	if !f.isGroup() || f.leave != nil {
		return
	}
	for _, n := range f.nodes {
		if n.entry != nil && n.stray != nil {
			f.leave = f.leave.or(n.entry.then(n.stray))
			f.exits = append(f.exits, n)
		}
	}
}
