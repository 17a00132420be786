package language

import (
	"fmt"
	"strings"
)

// place is where statements stand.
type place struct {
	indent string
	depth  int   // blocks that may still be nested
	loops  bool  // a loop may stand here: its step gets clauses
	looped *bool // set when a loop was written
	nested bool  // inside a loop or a fork
	short  bool  // no blocks
}

func (p place) in() place {
	p.indent += "  "
	p.depth--
	p.nested = true
	return p
}

// stmts writes some statements and gives the scope after them.
func (a *author) stmts(p place, s scope, low, high int) (string, scope) {
	var b strings.Builder
	for range a.n("statements", low, high) {
		if a.budget <= 0 {
			break
		}
		var text string
		text, s = a.stmt(p, s)
		b.WriteString(a.remark(p.indent) + text)
		if a.chance(8) {
			b.WriteString("\n")
		}
	}
	return b.String(), s
}

func (a *author) stmt(p place, s scope) (string, scope) {
	a.budget--
	k := a.n("statement", 1, 20)
	if (p.depth <= 0 || p.short || a.size > maxSize/perBlock) && k > 14 {
		k -= 10
	}
	switch {
	case k <= 2 && len(a.children) > 0 && p.nested, k == 6 && len(a.children) > 0:
		return a.child(p, s)
	case k <= 6:
		return a.call(p, s, a.actions)
	case k <= 8 && len(a.signals) > 0:
		return a.wait(p, s)
	case k == 9:
		return fmt.Sprintf("%ssleep %s\n", p.indent, a.durationText()), s
	case k <= 14:
		return a.pipe(p, s)
	case k <= 16:
		return a.collection(p, s)
	case k == 17:
		return a.named(p, s)
	case k == 18 && p.loops:
		return a.loop(p, s)
	case k >= 19:
		return a.group(p, s)
	}
	return a.pipe(p, s)
}

func (a *author) call(p place, s scope, ops []operation) (string, scope) {
	op := pick(a, ops)
	args := a.args(s, op.params, 2)
	if args != "" && a.chance(5) {
		args = "\n" + p.indent + "    // A remark.\n" + p.indent + "    " + args + ",\n" + p.indent + "  "
	}
	text := fmt.Sprintf("%s%s(%s)", p.indent, op.name, args)
	if op.result != nilType && a.chance(75) {
		v := variable{name: a.fresh("v"), t: op.result}
		text += " -> " + v.name
		s = s.bind(v)
	}
	text += a.trailing() + "\n"
	if a.chance(8) && len(ops) > 0 && ops[0].name == a.actions[0].name {
		text += p.indent + "  timeout " + a.durationText() + "\n"
	}
	return text, s
}

func (a *author) child(p place, s scope) (string, scope) {
	if a.chance(30) {
		op := pick(a, a.children)
		return fmt.Sprintf("%sspawn %s(%s)\n", p.indent, op.name, a.args(s, op.params, 2)), s
	}
	return a.call(p, s, a.children)
}

func (a *author) wait(p place, s scope) (string, scope) {
	sig := pick(a, a.signals)
	v := variable{name: a.fresh("v"), t: sig.t}
	if sig.silent || a.chance(30) {
		v.opt = true
		return fmt.Sprintf("%swait %s timeout %s -> %s\n", p.indent, sig.name, a.durationText(), v.name), s.bind(v)
	}
	return fmt.Sprintf("%swait %s -> %s\n", p.indent, sig.name, v.name), s.bind(v)
}

// chain writes a value and the stages that it goes through, and tells the type it has at the end.
func (a *author) chain(s scope) (string, variable) {
	v := variable{t: a.anyType(2)}
	slots := a.pathsOf(s, func(p path) bool { return p.slots })
	maybe := a.pathsOf(s, func(p path) bool { return p.opt })
	switch {
	case len(slots) > 0 && a.chance(25):
		from := pick(a, slots)
		return from.text + "[0]", variable{t: from.t.elem, opt: true}
	case len(maybe) > 0 && a.chance(10):
		from := pick(a, maybe)
		return from.text, variable{t: from.t, opt: true, vague: true}
	}
	text := a.head(s, v.t)
	for range a.n("stages", 0, 2) {
		var stage string
		if stage, v = a.stage(s, v); stage != "" {
			text += " |> " + stage
		}
	}
	return text, v
}

// head writes the value that a statement starts with. There every `|>` outside brackets is a stage of its own.
func (a *author) head(s scope, t *typ) string {
	p := a.expr(s, t, 3, false)
	if p.level < atomLevel && strings.Contains(p.text, "|>") {
		return "(" + p.text + ")"
	}
	return a.at(p, sumLevel)
}

func (a *author) stage(s scope, v variable) (string, variable) {
	if v.opt {
		return "", v
	}
	switch {
	case v.t.kind == kRecord && len(v.t.fields) > 0 && a.chance(60):
		f := pick(a, v.t.fields)
		return "." + f.name, variable{t: f.t, opt: f.opt, vague: f.opt}
	case v.t.kind == kList:
		return a.listStage(s, v)
	}
	for _, op := range append(a.actions, a.children...) {
		if p, ok := op.taker(); ok && same(p.t, v.t) && op.result != nilType && a.chance(60) {
			return op.name, variable{t: op.result}
		}
	}
	return "", v
}

// taker is the parameter of an operation that a stage gives its value to.
func (op operation) taker() (field, bool) {
	if len(op.params) == 1 {
		return op.params[0], true
	}
	var required []field
	for _, p := range op.params {
		if !p.opt {
			required = append(required, p)
		}
	}
	if len(required) == 1 {
		return required[0], true
	}
	return field{}, false
}

func (a *author) listStage(s scope, v variable) (string, variable) {
	inner := s.forItem(v.t.elem, false)
	switch a.n("stage", 1, 5) {
	case 1:
		return "count", variable{t: intType}
	case 2:
		return "filter(" + a.expr(inner, boolType, 2, false).text + ")", v
	case 3:
		return pick(a, []string{"any", "all"}) + "(" + a.expr(inner, boolType, 2, false).text + ")", variable{t: boolType}
	case 4:
		to := a.anyType(0)
		return "map(" + a.expr(inner, to, 2, false).text + ")", variable{t: listOf(to)}
	}
	if v.t.elem.kind == kInt || v.t.elem.kind == kFloat || v.t.elem.kind == kString {
		return "sort", v
	}
	return "sort(" + a.expr(inner, intType, 1, false).text + ")", v
}

func (a *author) pipe(p place, s scope) (string, scope) {
	text, v := a.chain(s)
	v.name = a.fresh("v")
	return fmt.Sprintf("%s%s -> %s%s\n", p.indent, text, v.name, a.trailing()), s.bind(v)
}
