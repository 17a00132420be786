package language

import (
	"fmt"
	"strings"
)

// sized runs a part of the author that writes statements which run several times.
func (a *author) sized(write func()) {
	a.size *= perBlock
	write()
	a.size /= perBlock
}

// items writes a list to go over, and tells the type of its elements.
func (a *author) items(s scope) (string, *typ) {
	lists := a.pathsOf(s, func(p path) bool { return !p.opt && !p.slots && p.t.kind == kList })
	if len(lists) > 0 && a.chance(70) {
		l := pick(a, lists)
		return l.text, l.t.elem
	}
	t := a.anyType(1)
	return a.expr(s, listOf(t), 2, false).text, t
}

// collection is a fork over a list.
func (a *author) collection(p place, s scope) (string, scope) {
	over, elem := a.items(s)
	item := variable{name: a.fresh("i"), t: elem}
	var b strings.Builder
	fmt.Fprintf(&b, "%sfork %s in %s", p.indent, item.name, over)
	if a.chance(35) {
		b.WriteString(" sequential")
	}
	b.WriteString("\n")
	var yield *typ
	a.sized(func() {
		body, inner := a.stmts(p.in(), s.bind(item), 0, 2)
		last, t := a.yielding(p.in(), inner)
		b.WriteString(body + last)
		yield = t
	})
	b.WriteString(p.indent + "join")
	if yield != nil && a.chance(80) {
		v := variable{name: a.fresh("v"), t: listOf(yield)}
		b.WriteString(" -> " + v.name)
		s = s.bind(v)
	}
	return b.String() + "\n", s
}

// yielding writes the last statement of a branch, and tells the type of its value; nil when it has none.
func (a *author) yielding(p place, s scope) (string, *typ) {
	a.budget--
	if a.chance(60) {
		op := pick(a, a.actions)
		text := fmt.Sprintf("%s%s(%s)", p.indent, op.name, a.args(s, op.params, 2))
		if op.result == nilType {
			return text + "\n", nil
		}
		if a.chance(50) {
			text += " -> " + a.fresh("v")
		}
		return text + "\n", op.result
	}
	text, v := a.chain(s)
	if v.opt {
		return fmt.Sprintf("%s%s -> %s\n", p.indent, text, a.fresh("v")), nil
	}
	return fmt.Sprintf("%s%s -> %s\n", p.indent, text, a.fresh("v")), v.t
}

// named is a fork with a branch per statement.
func (a *author) named(p place, s scope) (string, scope) {
	joined := s
	text := p.indent + "fork\n"
	inside := p.in()
	inside.short = a.chance(70)
	inside.loops = p.loops && !inside.short
	for range a.n("branches", 1, 3) {
		branch, after := a.stmt(inside, s)
		text += branch
		for _, v := range after.vars {
			if !s.has(v.name) {
				joined = joined.bind(v)
			}
		}
	}
	return text + p.indent + "join\n", joined
}

func (a *author) loop(p place, s scope) (string, scope) {
	*p.looped = true
	v := variable{name: a.fresh("v"), t: a.anyType(1)}
	var b strings.Builder
	fmt.Fprintf(&b, "%sloop %s = %s", p.indent, v.name, a.expr(s, v.t, 2, false).text)
	inner, after := s.bind(v), s.bind(v)
	if a.chance(60) {
		n := variable{name: a.fresh("n"), t: intType}
		b.WriteString(" counting " + n.name)
		inner, after = inner.bind(n), after.bind(n)
	}
	b.WriteString("\n")
	in := p.in()
	a.sized(func() {
		body, at := a.stmts(in, inner, 0, 2)
		b.WriteString(body)
		b.WriteString(a.rebind(in, at, v))
		at = at.bind(v)
		until := in.indent + "until " + a.expr(at, boolType, 2, false).text + "\n"
		limit := in.indent + "max " + a.bound(s) + "\n"
		if a.chance(20) {
			until, limit = limit, until
		}
		b.WriteString(until + limit)
	})
	return b.String(), after
}

// rebind gives the value of a loop its next value.
func (a *author) rebind(p place, s scope, v variable) string {
	a.budget--
	for _, op := range a.actions {
		if same(op.result, v.t) && a.chance(60) {
			return fmt.Sprintf("%s%s(%s) -> %s\n", p.indent, op.name, a.args(s, op.params, 2), v.name)
		}
	}
	return fmt.Sprintf("%s%s -> %s\n", p.indent, a.head(s, v.t), v.name)
}

// bound is a small number of passes, or rarely one that an input decides.
func (a *author) bound(s scope) string {
	if a.chance(10) {
		return "[" + a.stringLit() + "] |> count"
	}
	return fmt.Sprint(a.n("max", 0, perBlock))
}

// group writes consecutive substeps. A plain statement parts them from the group behind.
func (a *author) group(p place, s scope) (string, scope) {
	in := p
	in.depth--
	f := &flow{a: a, place: in, isGroup: true}
	text, s := f.write(s, a.n("substeps", 1, 3))
	if p.nested && strings.HasSuffix(p.indent, "  ") {
		text += "\n"
	}
	return text + fmt.Sprintf("%ssleep 1s\n", p.indent), s
}
