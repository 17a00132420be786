package language

import (
	"fmt"
	"strings"
)

// flow writes the steps of one flow, segment after segment. A segment is entered at its first step, whose name is known
// beforehand, and leads to the first step of the next one.
type flow struct {
	a       *author
	place   place // of the steps
	isGroup bool
	region  *region
	exit    func(s scope) string // a route that leaves the flow; nil when there is none
	b       strings.Builder
	meet    string // the step that waited for the last parallel ones
}

// region is the region that the steps of a flow stand in. A route to its collect needs the collected name.
type region struct {
	collect string
	name    string
	t       *typ
}

// ways collects the scopes of all ways that lead to a step.
type ways struct {
	first bool
	s     scope
}

func (w *ways) add(s scope) {
	if !w.first {
		w.first, w.s = true, s
		return
	}
	w.s = w.s.meet(s)
}

// write writes a number of segments and a last step, which leaves the flow.
func (f *flow) write(s scope, segments int) (string, scope) {
	at := f.a.fresh("s")
	for range segments {
		next := f.a.fresh("s")
		s = f.segment(at, next, s)
		at = next
	}
	if f.isGroup {
		return f.b.String() + f.restStep(at, &s), s
	}
	f.last(at, s)
	return f.b.String(), s
}

// restStep ends a group: falling off its end leaves it.
func (f *flow) restStep(at string, s *scope) string {
	text := f.place.indent + "step " + at + "\n"
	in := f.inside()
	body, after := f.a.stmts(in, *s, 0, 1)
	*s = after
	return text + body
}

// inside is the place of the statements of a step.
func (f *flow) inside() place {
	p := f.place
	p.indent += "  "
	p.loops, p.looped = false, new(bool)
	p.nested = false
	return p
}

func (f *flow) segment(at, next string, s scope) scope {
	a := f.a
	k := a.n("segment", 1, 20)
	big := a.budget > 4 && f.place.depth > 0 && a.size <= maxSize/perBlock
	switch {
	case k <= 2 && a.budget > 3:
		return f.diamond(at, next, s)
	case k <= 4 && big:
		return f.cycle(at, next, s)
	case k <= 7 && big && !f.isGroup:
		return f.regionSteps(at, next, s)
	case k <= 9 && len(a.subflows) > 0:
		return f.subflowStep(at, next, s)
	case k <= 13:
		return f.decision(at, next, s)
	case k == 14 && big && f.exit != nil:
		return f.escaping(at, next, s)
	}
	return f.plain(at, next, s)
}

func (f *flow) open(name string, after ...string) {
	f.b.WriteString("\n" + f.a.doc(f.place.indent) + f.place.indent + "step " + name)
	if len(after) > 0 {
		f.b.WriteString(" after " + strings.Join(after, ", "))
	}
	f.b.WriteString("\n")
}

func (f *flow) line(format string, args ...any) {
	fmt.Fprintf(&f.b, f.place.indent+"  "+format+"\n", args...)
}

// plain is a step that goes on.
func (f *flow) plain(at, next string, s scope) scope {
	a := f.a
	var to ways
	f.open(at)
	in := f.inside()
	in.loops = true
	body, after := a.stmts(in, s, 0, 3)
	f.b.WriteString(body)
	f.handler(s, next, &to)
	switch {
	case *in.looped:
		f.split(after, next, &to)
	case a.chance(30):
		f.line("outcome %s: %s, route %s", a.fresh("o"), a.otherwise(), next)
		to.add(after)
	default: // falls through to the step below
		to.add(after)
	}
	return to.s
}

// split is two clauses, both of which go on.
func (f *flow) split(s scope, next string, to *ways) {
	f.line("outcome %s: %s %s, route %s", f.a.fresh("o"), f.a.when(), f.a.expr(s, boolType, 2, false).text, next)
	f.line("outcome %s: %s, route %s", f.a.fresh("o"), f.a.otherwise(), next)
	to.add(s)
}

func (a *author) when() string { return pick(a, []string{"when", "when", "when", "if"}) }
func (a *author) otherwise() string {
	return pick(a, []string{"otherwise", "otherwise", "otherwise", "else"})
}

// handler is an `on failure` block now and then. It starts with what was known at the step's start.
func (f *flow) handler(s scope, next string, to *ways) {
	a := f.a
	if !a.chance(20) || a.budget <= 0 {
		return
	}
	leave := f.exit != nil && a.chance(50)
	if !leave && !f.mayGo(next, s) {
		return
	}
	f.line("on failure")
	in := f.inside()
	in.indent += "  "
	in.loops, in.depth = true, in.depth-1
	body, after := a.stmts(in, s, 0, 2)
	f.b.WriteString(body)
	if leave {
		f.line("  %s", f.exit(after))
		return
	}
	f.line("  route %s", next)
	to.add(after)
}

// mayGo reports whether a way may lead to a step: a collect needs the collected name on all of them.
func (f *flow) mayGo(next string, s scope) bool {
	return f.region == nil || next != f.region.collect || s.has(f.region.name)
}

// decision chooses by clauses: some leave the flow, some take a detour, the rest goes on with what is known then.
func (f *flow) decision(at, next string, s scope) scope {
	a := f.a
	var to ways
	f.open(at)
	in := f.inside()
	body, after := a.stmts(in, s, 0, 2)
	f.b.WriteString(body)
	f.handler(s, next, &to)
	if a.chance(30) && f.exhaustive(after, next, &to) {
		return to.s
	}
	var detours []string
	var scopes []scope
	for range a.n("clauses", 1, 2) {
		guard, yes, no := f.guard(after)
		switch {
		case f.exit != nil && a.chance(50):
			f.line("outcome %s: %s %s, %s", a.fresh("o"), a.when(), guard, f.exit(yes))
		case f.region != nil && yes.has(f.region.name) && a.chance(40):
			f.line("outcome %s: %s %s, route %s", a.fresh("o"), a.when(), guard, f.region.collect)
		case a.chance(60) && a.budget > 0:
			detour := a.fresh("s")
			detours, scopes = append(detours, detour), append(scopes, yes)
			f.line("outcome %s: %s %s, route %s", a.fresh("o"), a.when(), guard, detour)
		default:
			f.line("outcome %s: %s %s, route %s", a.fresh("o"), a.when(), guard, next)
			to.add(yes)
		}
		after = no
	}
	f.line("outcome %s: %s, route %s", a.fresh("o"), a.otherwise(), next)
	to.add(after)
	for i, detour := range detours {
		f.open(detour)
		body, end := a.stmts(in, scopes[i], 0, 2)
		f.b.WriteString(body)
		f.line("route %s", next)
		to.add(end)
	}
	return to.s
}

// guard writes a condition, and tells what is known when it holds and when it does not.
func (f *flow) guard(s scope) (text string, yes, no scope) {
	a := f.a
	maybe := a.pathsOf(s, func(p path) bool { return unsure(p) && !strings.HasPrefix(p.text, ".") })
	if len(maybe) > 0 && a.chance(60) {
		p := pick(a, maybe)
		if a.chance(50) {
			return p.text + " is absent", s, s.prove(p.text)
		}
		if a.chance(50) {
			return p.text + " is present", s.prove(p.text), s
		}
		more := a.expr(s.prove(p.text), boolType, 1, false)
		return p.text + " is present and " + a.at(more, notLevel), s.prove(p.text), s
	}
	return a.expr(s, boolType, 2, false).text, s, s
}

// exhaustive is clauses that need no `otherwise`.
func (f *flow) exhaustive(s scope, next string, to *ways) bool {
	a := f.a
	few := a.pathsOf(s, func(p path) bool { return unsure(p) || !p.opt && !p.slots && (p.t.kind == kEnum || p.t.kind == kBool) })
	if len(few) == 0 {
		return false
	}
	p := pick(a, few)
	switch {
	case p.opt:
		f.line("outcome %s: when %s is absent, route %s", a.fresh("o"), p.text, next)
		f.line("outcome %s: when %s is present, route %s", a.fresh("o"), p.text, next)
	case p.t.kind == kBool:
		f.line("outcome %s: when %s, route %s", a.fresh("o"), p.text, next)
		f.line("outcome %s: when not %s, route %s", a.fresh("o"), p.text, next)
	default:
		for _, v := range p.t.variants {
			f.line("outcome %s: when %s == %s, route %s", a.fresh("o"), p.text, v, next)
		}
	}
	to.add(s)
	return true
}

// diamond is parallel steps and one that waits for them.
func (f *flow) diamond(at, next string, s scope) scope {
	a := f.a
	f.open(at)
	body, s := a.stmts(f.inside(), s, 0, 1)
	f.b.WriteString(body)
	joined := f.arms(at, s)
	if a.size <= maxSize/perBlock && a.chance(20) {
		return f.again(next, joined)
	}
	if a.chance(50) {
		f.line("route %s", next)
	}
	return joined
}

// arms is steps that wait for one, and one that waits for all of them.
func (f *flow) arms(root string, s scope) scope {
	a := f.a
	joined := s
	var arms []string
	for range a.n("arms", 2, 3) {
		arm := a.fresh("s")
		f.open(arm, root)
		body, after := a.stmts(f.inside(), s, 0, 2)
		f.b.WriteString(body)
		if f.exit != nil && a.chance(10) { // it may end the flow while the others run
			f.line("on failure")
			f.line("  %s", f.exit(s))
		}
		if a.chance(20) { // a second step on the same side
			arm = a.fresh("s")
			f.open(arm)
			body, after = a.stmts(f.inside(), after, 0, 1)
			f.b.WriteString(body)
		}
		arms = append(arms, arm)
		for _, v := range after.vars {
			if !s.has(v.name) {
				joined = joined.bind(v)
			}
		}
	}
	f.meet = a.fresh("s")
	f.open(f.meet, arms...)
	body, joined := a.stmts(f.inside(), joined, 0, 2)
	f.b.WriteString(body)
	return joined
}

// again goes back to the step that waited for others, which then starts by the route alone.
func (f *flow) again(next string, s scope) scope {
	a := f.a
	a.sized(func() {
		f.open(a.fresh("s"))
		body, after := a.stmts(f.inside(), s, 0, 1)
		f.b.WriteString(body)
		s = after
		f.line("outcome %s: when visits < 2, route %s", a.fresh("o"), f.meet)
		f.line("outcome %s: otherwise, route %s", a.fresh("o"), next)
		f.line("max 2 visits")
	})
	return s
}

// cycle goes back to its first step under a bound.
func (f *flow) cycle(at, next string, s scope) scope {
	a := f.a
	var to ways
	a.sized(func() {
		f.open(at)
		body, after := a.stmts(f.inside(), s, 0, 2)
		f.b.WriteString(body)
		judge := a.fresh("s")
		f.open(judge)
		body, after = a.stmts(f.inside(), after, 0, 2)
		f.b.WriteString(body)
		f.handler(s, next, &to)
		after.visits = true
		again := a.expr(after, boolType, 2, false)
		limit := a.n("visits", 1, perBlock)
		if a.chance(70) {
			f.line("outcome %s: when visits < %d and %s, route %s", a.fresh("o"), limit, a.at(again, notLevel), at)
		} else { // the bound itself may end it
			f.line("outcome %s: when %s, route %s", a.fresh("o"), again.text, at)
		}
		if f.exit != nil && a.chance(25) {
			f.line("outcome %s: %s visits == %d, %s", a.fresh("o"), a.when(), limit, f.exit(after))
		}
		f.line("outcome %s: %s, route %s", a.fresh("o"), a.otherwise(), next)
		f.line("max %d visits", limit)
		after.visits = false
		to.add(after)
	})
	return to.s
}
