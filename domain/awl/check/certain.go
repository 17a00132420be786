package check

// inevitable says whether every way from where a step's flow, or its region's instance, starts passes the step: whether
// waiting for it is sure to end. A way out through an outcome, or back where it came from, does not pass it.
func (n *node) inevitable(known map[*node]bool) bool {
	if sure, ok := known[n]; ok {
		return sure
	}
	starts := []*node{n.flow.nodes[0]}
	if n.region != nil {
		starts = starts[:0]
		for _, e := range n.region.opener.out {
			if e.kind != byBypass {
				starts = append(starts, e.to)
			}
		}
	}
	known[n] = true // until it is known: a step that depends on itself here is not in doubt for that
	passes := n.passedFrom(known)
	sure := false
	for _, s := range starts {
		sure = sure || passes[s]
	}
	known[n] = sure
	return sure
}

// passedFrom gives the steps from which n is certain to be reached, growing backwards from n.
func (n *node) passedFrom(known map[*node]bool) map[*node]bool {
	sure := map[*node]bool{n: true}
	todo := []*node{n}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range m.in {
			if p := e.from; !sure[p] && p.mustPass(sure, known) {
				sure[p] = true
				todo = append(todo, p)
			}
		}
	}
	return sure
}

// mustPass says whether leaving the step leads to one of a set for sure: by `after`, which every completion serves, or
// because each of its other ways leads there.
func (n *node) mustPass(sure, known map[*node]bool) bool {
	others, all := 0, true
	for _, e := range n.out {
		switch e.kind {
		case byAfter:
			if sure[e.to] && e.to.othersCertain(n, known) {
				return true
			}
		case byFall, byBypass:
			if sure[e.to] {
				return true
			}
			others, all = others+1, false
		case byRoute:
			others++
			all = all && sure[e.to]
		case byFailure:
		}
	}
	return others > 0 && all && !n.escapes
}

// othersCertain says whether the steps that n waits for besides one are certain to run.
func (n *node) othersCertain(one *node, known map[*node]bool) bool {
	for _, dep := range n.after {
		if dep != one && !dep.inevitable(known) {
			return false
		}
	}
	return true
}
