package language

import "strings"

// boolExpr writes a condition.
func (a *author) boolExpr(s scope, depth int) piece {
	if depth <= 0 {
		return a.comparison(s, 0)
	}
	switch k := a.n("bool", 1, 12); {
	case k == 1:
		return piece{"not " + a.at(a.expr(s, boolType, depth-1, false), notLevel), notLevel}
	case k == 2:
		return a.both(s, depth)
	case k == 3:
		l, r := a.expr(s, boolType, depth-1, false), a.expr(s, boolType, depth-1, false)
		return piece{a.at(l, orLevel) + " or " + a.at(r, andLevel), orLevel}
	case k <= 5:
		if p, ok := a.test(s, depth); ok {
			return p
		}
	case k == 6:
		if p, ok := a.quantified(s, depth); ok {
			return p
		}
	case k == 7:
		return atom("%s", a.literal(boolType))
	}
	return a.comparison(s, depth)
}

// both is `and`; its right side may rely on what the left one proves.
func (a *author) both(s scope, depth int) piece {
	if maybe := a.pathsOf(s, unsure); len(maybe) > 0 && a.chance(60) {
		p := pick(a, maybe)
		right := a.expr(s.prove(p.text), boolType, depth-1, false)
		if a.chance(30) { // the same by or: absent, or a test that may rely on its presence
			return piece{p.text + " is absent or " + a.at(right, andLevel), orLevel}
		}
		return piece{p.text + " is present and " + a.at(right, notLevel), andLevel}
	}
	l, r := a.expr(s, boolType, depth-1, false), a.expr(s, boolType, depth-1, false)
	return piece{a.at(l, andLevel) + " and " + a.at(r, notLevel), andLevel}
}

// test asks for emptiness or presence.
func (a *author) test(s scope, depth int) (piece, bool) {
	if s.item != nil && s.item.kind == kList && !s.itemOpt && a.chance(50) {
		return piece{"is empty", compareLevel}, true
	}
	asked := a.pathsOf(s, func(p path) bool { return unsure(p) || !p.opt && p.t.kind == kList && !p.slots })
	if len(asked) == 0 {
		return piece{}, false
	}
	p := pick(a, asked)
	if p.opt {
		return piece{p.text + " is " + pick(a, []string{"present", "absent"}), compareLevel}, true
	}
	return piece{p.text + " is empty", compareLevel}, true
}

// quantified is `any` or `all` over a list, or over slots.
func (a *author) quantified(s scope, depth int) (piece, bool) {
	lists := a.pathsOf(s, func(p path) bool { return !p.opt && (p.slots || p.t.kind == kList) })
	if len(lists) == 0 {
		return piece{}, false
	}
	l := pick(a, lists)
	word := pick(a, []string{"any", "all"})
	inner := s.forItem(l.t.elem, l.slots)
	if !l.slots {
		return atom("%s |> %s(%s)", l.text, word, a.expr(inner, boolType, depth-1, false).text), true
	}
	if a.chance(50) {
		return atom("%s |> %s(is %s)", l.text, word, pick(a, []string{"present", "absent"})), true
	}
	right := a.expr(inner.prove("."), boolType, depth-1, false)
	return atom("%s |> %s(is present and %s)", l.text, word, a.at(right, notLevel)), true
}

// comparison compares two values of a type.
func (a *author) comparison(s scope, depth int) piece {
	op := pick(a, []string{"==", "!="})
	if a.chance(40) {
		op = pick(a, []string{"<", "<=", ">", ">="})
		t := pick(a, []*typ{intType, intType, floatType})
		l, r := a.expr(s, t, depth-1, false), a.expr(s, t, depth-1, false)
		return a.compare(l, op, r)
	}
	scalars := a.pathsOf(s, func(p path) bool { return !p.opt && !p.slots && p.t.kind <= kEnum })
	if len(scalars) == 0 {
		return a.compare(atom("%s", a.literal(stringType)), op, atom("%s", a.literal(stringType)))
	}
	p := pick(a, scalars)
	var r piece
	switch {
	case p.t.kind == kEnum && a.chance(30): // an enum compares with any String
		r = a.expr(s, p.t, depth-1, true)
	case p.t.kind == kDir:
		r = atom("%s", pick(a, a.pathsOf(s, isA(dirType))).text)
	default:
		r = a.expr(s, p.t, depth-1, p.t.kind == kEnum)
	}
	l := atom("%s", p.text)
	if !strings.HasPrefix(r.text, "\"") && a.chance(10) {
		l, r = r, l
	}
	return a.compare(l, op, r)
}

func (a *author) compare(l piece, op string, r piece) piece {
	return piece{a.at(l, sumLevel) + " " + op + " " + a.at(r, sumLevel), compareLevel}
}
