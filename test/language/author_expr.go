package language

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// variable is a name that can be read. A list of slots holds elements that may be absent. One that is vague may be absent,
// or not: its value was proved present on a way that the author does not follow, and nothing may depend on that.
type variable struct {
	name  string
	t     *typ
	opt   bool
	slots bool
	vague bool
}

// scope is what can be read at one place. It is never changed.
type scope struct {
	vars    []variable
	present map[string]bool // paths that were proved present
	visits  bool
	item    *typ // of the combinator around; nil outside
	itemOpt bool
}

func (s scope) bind(v variable) scope {
	vars := slices.DeleteFunc(slices.Clone(s.vars), func(o variable) bool { return o.name == v.name })
	s.vars = append(vars, v)
	known := map[string]bool{}
	for p := range s.present {
		if root, _, _ := strings.Cut(p, "."); root != v.name {
			known[p] = true
		}
	}
	s.present = known
	return s
}

func (s scope) prove(path string) scope {
	s.present = maps.Clone(s.present)
	if s.present == nil {
		s.present = map[string]bool{}
	}
	s.present[path] = true
	return s
}

func (s scope) has(name string) bool {
	return slices.ContainsFunc(s.vars, func(v variable) bool { return v.name == name })
}

// meet is what is certain when one of two ways was gone.
func (s scope) meet(o scope) scope {
	s.vars = slices.DeleteFunc(slices.Clone(s.vars), func(v variable) bool {
		return !slices.ContainsFunc(o.vars, func(w variable) bool {
			return v.name == w.name && v.opt == w.opt && v.slots == w.slots && v.vague == w.vague && same(v.t, w.t)
		})
	})
	known := map[string]bool{}
	for p := range s.present {
		if o.present[p] {
			known[p] = true
		}
	}
	s.present = known
	return s
}

// forItem is the scope of a combinator's argument.
func (s scope) forItem(t *typ, opt bool) scope {
	s.item, s.itemOpt = t, opt
	known := map[string]bool{}
	for p := range s.present {
		if !strings.HasPrefix(p, ".") {
			known[p] = true
		}
	}
	s.present = known
	return s
}

// path is something readable.
type path struct {
	text  string
	t     *typ
	opt   bool // may be absent here
	slots bool
	vague bool
}

// paths lists what can be read, fields included.
func (a *author) paths(s scope) []path {
	var list []path
	var walk func(text string, t *typ, opt bool, depth int)
	walk = func(text string, t *typ, opt bool, depth int) {
		opt = opt && !s.present[text]
		list = append(list, path{text: text, t: t, opt: opt})
		if opt || depth == 0 || len(list) > 60 {
			return
		}
		for _, f := range t.fields {
			walk(text+"."+f.name, f.t, f.opt, depth-1)
		}
	}
	for _, v := range s.vars {
		if v.slots {
			list = append(list, path{text: v.name, t: v.t, slots: true})
			continue
		}
		if v.vague {
			list = append(list, path{text: v.name, t: v.t, opt: true, vague: true})
			continue
		}
		walk(v.name, v.t, v.opt, 2)
	}
	if s.item != nil && (!s.itemOpt || s.present["."]) {
		for _, f := range s.item.fields {
			walk("."+f.name, f.t, f.opt, 2)
		}
	}
	return list
}

// pathsOf are those of a type that are certainly there, or with opt those that may be absent.
func (a *author) pathsOf(s scope, want func(path) bool) []path {
	return slices.DeleteFunc(a.paths(s), func(p path) bool { return !want(p) })
}

// unsure are the paths that may be absent, and may be asked about it.
func unsure(p path) bool { return p.opt && !p.vague }

func isA(t *typ) func(path) bool {
	return func(p path) bool { return !p.opt && !p.slots && same(p.t, t) }
}

// The levels of precedence: an operand of a level is wrapped when it binds weaker.
const (
	orLevel = iota
	andLevel
	notLevel
	compareLevel
	sumLevel
	atomLevel
)

// piece is a written expression.
type piece struct {
	text  string
	level int
}

func atom(format string, args ...any) piece { return piece{fmt.Sprintf(format, args...), atomLevel} }

// at spells an expression as an operand.
func (a *author) at(p piece, level int) string {
	if p.level < level || p.level < atomLevel && a.chance(5) {
		return "(" + p.text + ")"
	}
	return p.text
}

// expr writes an expression of a type. known says that the place tells the type, so that a literal may rely on it.
func (a *author) expr(s scope, t *typ, depth int, known bool) piece {
	if like := a.pathsOf(s, isA(t)); len(like) > 0 && (t.kind == kDir || a.chance(45)) {
		return atom("%s", pick(a, like).text)
	}
	for _, c := range a.consts {
		if same(c.t, t) && a.chance(15) {
			return atom("%s", c.name)
		}
	}
	if depth > 0 {
		if lists := a.pathsOf(s, isA(listOf(t))); len(lists) > 0 && a.chance(8) {
			return atom("%s[0]", pick(a, lists).text)
		}
	}
	switch t.kind {
	case kBool:
		return a.boolExpr(s, depth)
	case kInt:
		return a.intExpr(s, depth)
	case kString:
		return a.stringExpr(s, depth)
	case kFloat:
		if known && a.chance(20) { // a whole literal is a Float where one is wanted
			return atom("%d", a.n("whole", -1, 3))
		}
	case kEnum:
		return a.enumExpr(s, t, known)
	case kRecord:
		return atom("%s(%s)", t.name, a.args(s, t.fields, depth))
	case kList:
		return a.listExpr(s, t, depth, known)
	case kDir, kNil: // never asked for: a Dir comes from a path, and nothing is of type Nil
	}
	return atom("%s", a.literal(t))
}

// can reports whether an expression of the type can be written at all.
func (a *author) can(s scope, t *typ) bool {
	return t.kind != kDir || len(a.pathsOf(s, isA(t))) > 0
}

// args writes named arguments; optional ones may be left out, or given a value that may be absent.
func (a *author) args(s scope, params []field, depth int) string {
	var parts []string
	for _, f := range params {
		if f.opt && (a.chance(40) || !a.can(s, f.t)) {
			continue
		}
		if f.opt {
			maybe := a.pathsOf(s, func(p path) bool { return p.opt && same(p.t, f.t) })
			if len(maybe) > 0 && a.chance(60) {
				parts = append(parts, f.name+": "+pick(a, maybe).text)
				continue
			}
		}
		parts = append(parts, f.name+": "+a.expr(s, f.t, depth-1, true).text)
	}
	if len(parts) > 1 && a.chance(20) {
		slices.Reverse(parts)
	}
	return strings.Join(parts, ", ")
}

func (a *author) literal(t *typ) string {
	switch t.kind {
	case kBool:
		return pick(a, []string{"true", "false"})
	case kInt:
		if a.chance(6) {
			return pick(a, []string{"9007199254740993", "-9223372036854775808", "9223372036854775807"})
		}
		return fmt.Sprint(a.n("int", -2, 4))
	case kFloat:
		return pick(a, []string{"0.5", "-1.25e-3", "2.0", "1.5e10"})
	case kString, kDir, kEnum, kRecord, kList, kNil:
	}
	return a.stringLit()
}

func (a *author) stringLit() string {
	return pick(a, []string{`""`, `"x"`, `"good"`, `"a \"quoted\" \\ text\n"`, `"é → 日本"`, `"\u00e9\ud83d\ude00"`, `"""raw {text} "and" more"""`})
}

func (a *author) intExpr(s scope, depth int) piece {
	if s.visits && a.chance(40) {
		return atom("visits")
	}
	lists := a.pathsOf(s, func(p path) bool { return !p.opt && (p.slots || p.t.kind == kList) })
	if depth > 0 && len(lists) > 0 && a.chance(35) {
		return atom("%s |> count", pick(a, lists).text)
	}
	if depth > 0 && a.chance(10) {
		return atom("%s |> count", a.at(a.expr(s, listOf(stringType), depth-1, false), atomLevel))
	}
	return atom("%s", a.literal(intType))
}

func (a *author) stringExpr(s scope, depth int) piece {
	switch k := a.n("string", 1, 10); {
	case k <= 2 && depth > 0:
		l, r := a.expr(s, stringType, depth-1, false), a.expr(s, stringType, depth-1, false)
		return piece{a.at(l, sumLevel) + " + " + a.at(r, atomLevel), sumLevel}
	case k == 3:
		return atom("workflow.id")
	case k == 4:
		return atom("%s", a.longText())
	}
	return atom("%s", a.stringLit())
}

// enumExpr names a variant, where that is enough to know the enum.
func (a *author) enumExpr(s scope, t *typ, known bool) piece {
	v := pick(a, t.variants)
	if known {
		if a.chance(15) {
			return atom("%q", v)
		}
		return atom("%s", v)
	}
	for _, v := range t.variants {
		if slices.ContainsFunc(a.enums, func(e *typ) bool { return e != t && slices.Contains(e.variants, v) }) {
			continue
		}
		return atom("%s", v)
	}
	return atom("%s", t.variants[1])
}

func (a *author) listExpr(s scope, t *typ, depth int, known bool) piece {
	like := a.pathsOf(s, isA(t))
	k := a.n("list", 1, 10)
	if depth <= 0 {
		k = 10
	}
	switch {
	case k <= 2 && len(like) > 0:
		return atom("%s |> filter(%s)", pick(a, like).text, a.expr(s.forItem(t.elem, false), boolType, depth-1, false).text)
	case k == 3 && len(like) > 0 && t.elem.kind <= kString && t.elem.kind != kBool:
		return atom("%s |> sort", pick(a, like).text)
	case k == 4 && len(like) > 0 && t.elem.kind == kRecord:
		key := pick(a, []*typ{intType, floatType, stringType})
		return atom("%s |> sort(%s)", pick(a, like).text, a.expr(s.forItem(t.elem, false), key, depth-1, false).text)
	case k <= 6 && t.elem.kind != kList:
		from := a.pathsOf(s, func(p path) bool { return !p.opt && !p.slots && p.t.kind == kList })
		if len(from) > 0 {
			src := pick(a, from)
			return atom("%s |> map(%s)", src.text, a.expr(s.forItem(src.t.elem, false), t.elem, depth-1, false).text)
		}
	case k == 7:
		l, r := a.expr(s, t, depth-1, known), a.expr(s, t, depth-1, known)
		return piece{a.at(l, sumLevel) + " + " + a.at(r, atomLevel), sumLevel}
	}
	slots := a.pathsOf(s, func(p path) bool { return p.slots && same(p.t.elem, t.elem) })
	if len(slots) > 0 && a.chance(60) {
		return atom("%s |> filter(is present)", pick(a, slots).text)
	}
	low, high := 1, perBlock
	if known {
		low = 0
	}
	if depth < 0 {
		high = low
	}
	var parts []string
	for range a.n("elements", low, high) {
		parts = append(parts, a.expr(s, t.elem, depth-1, known).text)
	}
	return atom("[%s]", strings.Join(parts, ", "))
}
