package check

import "aion/domain/awl/syntax"

// walker follows the statements of a step without looking at types. It learns where they lead and what is bound on the way.
type walker struct {
	c  *checker
	n  *node
	at *state // from the step's start; the walker's own
}

// analyseStep learns the ways out of a step.
func (c *checker) analyseStep(n *node) {
	w := &walker{c: c, n: n, at: &state{}}
	n.ends = w.list(n.step.Body, inStep)
	if n.ends {
		n.end = w.at
		n.done = n.done.or(n.end)
	}
	if h := n.step.Handler; h != nil {
		failed := &walker{c: c, n: n, at: &state{}}
		failed.list(h.Body, inHandler)
	}
	w.clauses()
}

// list follows a statement list and says whether its end can be reached.
func (w *walker) list(list []syntax.Stmt, nest nesting) bool {
	for i := 0; i < len(list); i++ {
		switch s := list[i].(type) {
		case *syntax.Route:
			if w.route(s.Target, nest) {
				return false
			}
		case *syntax.Pipe:
			if s.Route != nil && w.route(s.Route, nest) {
				return false
			}
			w.bind(s.Bind)
		case *syntax.Fork:
			w.fork(s)
		case *syntax.Loop:
			w.loop(s)
		case *syntax.Region:
			if nest == inStep && w.n.opens != nil && (w.n.opens.collect == nil || w.n.opens.broken) {
				w.bind(&s.Item)
			}
		case *syntax.Substep:
			run, next := substeps(list, i)
			if !w.group(run, nest) {
				return false
			}
			i = next - 1
		default:
			w.bind(binding(s))
		}
	}
	return true
}

func (w *walker) bind(id *syntax.Ident) {
	if id != nil {
		w.n.flow.uni.bind(w.at, id.Name)
	}
}

// apart follows a block whose bindings end with it.
func (w *walker) apart(list []syntax.Stmt, nest nesting, names ...*syntax.Ident) {
	inner := &walker{c: w.c, n: w.n, at: w.at.clone()}
	for _, id := range names {
		inner.bind(id)
	}
	inner.list(list, nest)
}

func (w *walker) fork(s *syntax.Fork) {
	if s.Item != nil {
		w.apart(s.Body, inFork, s.Item)
		w.bind(s.Bind)
		return
	}
	w.list(s.Body, inFork)
}

func (w *walker) loop(s *syntax.Loop) {
	w.apart(s.Body, inLoop, &s.Name, s.Counter)
	w.bind(&s.Name)
	w.bind(s.Counter)
}

// route notes a way out. A route that cannot leave its block ends nothing.
func (w *walker) route(t *syntax.Target, nest nesting) bool {
	if nest == inLoop || nest == inFork {
		return false
	}
	if t != nil {
		w.leave(t, nest, w.at)
	}
	return true
}

// leave notes the way out through a target.
func (w *walker) leave(t *syntax.Target, nest nesting, at *state) {
	n := w.n
	if nest != inHandler {
		n.done = n.done.or(at)
	}
	l := n.land(t.Name.Name, nest)
	leaves := l.kind != toStep || l.node.closes != nil && l.node.closes == n.region
	n.escapes = n.escapes || nest != inHandler && leaves
	if l.code != "" && nest != inHandler {
		n.stray = n.stray.or(at)
	}
	switch {
	case l.code != "":
		w.mistaken(t, l)
	case l.kind == toClause:
		n.clauseOut = append(n.clauseOut, jump{t.Name.Name, at})
	case l.kind == toStep:
		kind := byRoute
		if nest == inHandler {
			kind = byFailure
		}
		e := &edge{from: n, to: l.node, kind: kind, out: at, at: t.Name.Span}
		l.node.routed = true
		if r := l.node.closes; r != nil && r == n.region {
			r.arrivals = append(r.arrivals, e)
			return
		}
		n.flow.connect(e)
	}
}

// mistaken keeps reachable what a mistaken route may have meant: the step it names, one of nearly that name, or the next.
func (w *walker) mistaken(t *syntax.Target, l landing) {
	f, meant := w.n.flow, l.node
	if meant == nil {
		meant = f.byName[w.c.nearTarget(f, t.Name.Name)]
	}
	if meant == nil && w.n.index+1 < len(f.nodes) {
		meant = f.nodes[w.n.index+1]
	}
	if meant != nil {
		f.soft = append(f.soft, [2]*node{w.n, meant})
	}
}

// group follows a group of substeps.
func (w *walker) group(run []*syntax.Step, nest nesting) bool {
	f := w.c.group(run, w.n, nest)
	w.c.analyse(f)
	if f.loose {
		return true
	}
	for clause, at := range f.jumps {
		w.n.jumps[clause] = w.n.jumps[clause].or(w.at.then(at))
		w.n.done = w.n.done.or(w.n.jumps[clause])
	}
	if f.leave == nil {
		return false
	}
	w.at = w.at.then(f.leave)
	return true
}

// clauses notes the ways out through the clauses: after the statements, and for substeps that route to them.
func (w *walker) clauses() {
	n := w.n
	n.clauseAt = make([]*state, len(n.step.Clauses))
	var passed state // facts that the guards so far proved by being false
	if n.ends {
		passed = *n.end
		passed.proved = passed.proved.clone()
	}
	for i, cl := range n.step.Clauses {
		var at *state
		if n.ends {
			taken := passed
			taken.proved = taken.proved.clone()
			if cl.Guard != nil {
				n.flow.uni.prove(&taken, proves(cl.Guard).ifTrue)
				n.flow.uni.prove(&passed, proves(cl.Guard).ifFalse)
			}
			at = &taken
		}
		if j := n.jumps[cl.Name.Name]; j != nil {
			at = at.or(j)
			n.clauseAt[i] = at
		}
		if cl.Target != nil {
			w.clauseTarget(cl.Target, at)
		}
	}
}

// clauseTarget notes the way through a clause; one that never fires still shows what its author meant.
func (w *walker) clauseTarget(t *syntax.Target, at *state) {
	if at != nil {
		w.leave(t, inStep, at)
		return
	}
	if l := w.n.land(t.Name.Name, inStep); l.node != nil {
		w.n.flow.soft = append(w.n.flow.soft, [2]*node{w.n, l.node})
	}
}
