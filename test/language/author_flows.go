package language

import "fmt"

func (a *author) mainFlow() string {
	s := scope{}
	for _, in := range a.inputs {
		s = s.bind(in)
	}
	f := &flow{a: a, place: place{depth: 3}, exit: a.route}
	text, _ := f.write(s, a.n("segments", 1, 5))
	return text
}

// route leaves the workflow by an outcome.
func (a *author) route(s scope) string {
	o := pick(a, a.outcomes)
	return "route " + a.target(s, o)
}

func (a *author) target(s scope, o outcome) string {
	switch {
	case o.t == nilType:
		return o.name
	case o.t.kind == kRecord && a.chance(60):
		return fmt.Sprintf("%s(%s)", o.name, a.args(s, o.t.fields, 2))
	}
	return fmt.Sprintf("%s(%s)", o.name, a.expr(s, o.t, 2, true).text)
}

// last is the step that ends a flow.
func (f *flow) last(at string, s scope) {
	a := f.a
	f.open(at)
	in := f.inside()
	if f.region != nil {
		f.yield(at, s)
		return
	}
	body, after := a.stmts(in, s, 0, 1)
	f.b.WriteString(body)
	if a.chance(50) {
		guard, yes, no := f.guard(after)
		f.line("outcome %s: %s %s, %s", a.fresh("o"), a.when(), guard, f.exit(yes))
		f.line("outcome %s: %s, %s", a.fresh("o"), a.otherwise(), f.exit(no))
		return
	}
	if o := pick(a, a.outcomes); f.place.indent == "" && o.t != nilType && !s.has(o.name) && a.chance(15) {
		f.line("%s -> %s", a.head(after, o.t), o.name) // a bare route carries the binding of its name
		f.line("route %s", o.name)
		return
	}
	if text, v := a.chain(after); !v.opt && a.chance(25) {
		for _, o := range a.outcomes {
			if same(o.t, v.t) && f.place.indent == "" {
				f.line("%s |> route %s", text, o.name)
				return
			}
		}
	}
	f.line("%s", f.exit(after))
}

// yield is the last step of a region: it binds what is collected, when that is not bound already.
func (f *flow) yield(_ string, s scope) {
	a := f.a
	body, after := a.stmts(f.inside(), s, 0, 1)
	f.b.WriteString(body)
	if !s.has(f.region.name) {
		f.line("%s -> %s", a.head(after, f.region.t), f.region.name)
	}
	if a.chance(30) {
		f.line("route %s", f.region.collect)
	}
}

// subflow declares a subflow. It sees its parameters and may call those above it.
func (a *author) subflow() string {
	op := operation{name: a.fresh("sub"), result: a.anyType(1), params: a.parameters()}
	s := scope{}
	var params []field
	for _, p := range op.params {
		if p.t != dirType {
			params = append(params, p)
			s = s.bind(variable{name: p.name, t: p.t, opt: p.opt})
		}
	}
	op.params = params
	out := a.fresh("out")
	f := &flow{a: a, place: place{indent: "  ", depth: 2}}
	f.exit = func(s scope) string { return "route " + a.target(s, outcome{name: out, t: op.result}) }
	a.size = perBlock // it may be called more than once
	steps, _ := f.write(s, a.n("segments", 0, 2))
	a.size = 1
	a.subflows = append(a.subflows, op)
	return fmt.Sprintf("%ssubflow %s(%s)\n  outcome %s: type %s\n%s\n", a.doc(""), op.name, a.params(op.params), out, a.ref(op.result, false), steps)
}

// subflowStep calls a subflow.
func (f *flow) subflowStep(at, next string, s scope) scope {
	a := f.a
	var to ways
	op := pick(a, a.subflows)
	f.open(at)
	v := variable{name: a.fresh("v"), t: op.result}
	f.line("%s(%s) -> %s", op.name, a.args(s, op.params, 2), v.name)
	f.handler(s, next, &to)
	after := s.bind(v)
	if a.chance(30) {
		f.split(after, next, &to)
	}
	to.add(after)
	return to.s
}

// regionSteps is a region with its collect.
func (f *flow) regionSteps(at, next string, s scope) scope {
	a := f.a
	r := &region{collect: a.fresh("s"), name: a.fresh("v"), t: a.anyType(1)}
	over, elem := a.items(s)
	item := variable{name: a.fresh("i"), t: elem}
	f.open(at)
	f.line("%s %s in %s", pick(a, []string{"distribute", "sequence"}), item.name, over)
	a.sized(func() {
		p := f.place
		p.depth--
		inner := &flow{a: a, place: p, region: r}
		inside := s.bind(item)
		first := a.fresh("s")
		if a.chance(15) { // entered at the steps that wait for the opener
			inside = inner.arms(at, inside)
		}
		if a.chance(50) { // bound first, so that clauses may lead to the collect early
			inner.open(first)
			inner.line("%s -> %s", a.head(inside, r.t), r.name)
			inside = inside.bind(variable{name: r.name, t: r.t})
		}
		text, _ := inner.write(inside, a.n("segments", 0, 2))
		f.b.WriteString(text)
	})
	var to ways
	f.open(r.collect)
	all := variable{name: a.fresh("v"), t: listOf(r.t), slots: a.chance(40)}
	mark := ""
	if all.slots {
		mark = "?"
	}
	f.line("collect %s%s -> %s", r.name, mark, all.name)
	body, after := a.stmts(f.inside(), s.bind(all), 0, 2)
	f.b.WriteString(body)
	f.handler(s, next, &to)
	to.add(after)
	return to.s
}

// escaping is a step with substeps that may leave it through a clause of its own.
func (f *flow) escaping(at, next string, s scope) scope {
	a := f.a
	var to ways
	f.open(at)
	out := a.fresh("o")
	inner, leave := a.fresh("s"), a.fresh("s")
	in := f.inside()
	fmt.Fprintf(&f.b, "%sstep %s\n", in.indent, inner)
	deeper := in
	deeper.indent += "  "
	deeper.depth--
	body, after := a.stmts(deeper, s, 0, 2)
	f.b.WriteString(body)
	guard, _, no := f.guard(after)
	fmt.Fprintf(&f.b, "%s  outcome %s: when %s, route %s\n", in.indent, a.fresh("o"), guard, out)
	fmt.Fprintf(&f.b, "%s  outcome %s: otherwise, route %s\n\n%sstep %s\n", in.indent, a.fresh("o"), leave, in.indent, leave)
	body, after = a.stmts(deeper, no, 0, 1)
	f.b.WriteString(body)
	f.handler(s, next, &to)
	f.line("outcome %s: %s %s, route %s", a.fresh("o"), a.when(), a.expr(after, boolType, 2, false).text, next)
	f.line("outcome %s: otherwise, %s", out, f.exit(s))
	to.add(after)
	return to.s
}
