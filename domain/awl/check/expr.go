package check

import (
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// reader finds the types of expressions at one point of a document.
type reader struct {
	c      *checker
	s      *scope
	item   *schema.Type // of the enclosing combinator; nil outside
	visits bool         // `visits` can be read
	// limit refuses names that the expression cannot read although they may be bound; nil allows all.
	limit   func(n *syntax.Name) bool
	isBound bool // what is read is behind `max`
}

// under gives a reader that knows more facts.
func (r *reader) under(paths []string) *reader {
	q := *r
	q.s = r.s.child()
	q.s.prove(paths)
	return &q
}

// forItem gives a reader for the argument of a combinator over items of a type.
func (r *reader) forItem(item *schema.Type) *reader {
	q := *r
	q.s = &scope{up: r.s, isItem: true}
	q.item = item
	return &q
}

// value reads an expression. A literal takes the wanted type when it can; nil wants nothing.
func (r *reader) value(e syntax.Expr, want *schema.Type) *schema.Type {
	b := r.c.builtin
	switch v := e.(type) {
	case *syntax.StringLit:
		return r.text(v, want)
	case *syntax.IntLit:
		if want != nil && present(want).Kind == schema.Float {
			return b.float
		}
		return b.integer
	case *syntax.FloatLit:
		return b.float
	case *syntax.BoolLit:
		return b.boolean
	case *syntax.DurationLit:
		r.c.found.add("AWL3018", v.Span)
		return b.unknown
	case *syntax.ListLit:
		return r.list(v, want)
	case *syntax.JSONLit:
		r.c.checkJSON(v)
		return b.text
	case *syntax.SchemaOf:
		r.c.schemaSubject(v)
		return b.text
	case *syntax.Paren:
		return r.value(v.Of, want)
	case *syntax.Construct:
		return r.construct(v, want)
	case *syntax.Not:
		r.condition(v.Of, "`not`")
		return b.boolean
	case *syntax.Binary:
		return r.binary(v, want)
	case *syntax.Is:
		return r.is(v)
	default:
		t, _ := r.postfix(e)
		return t
	}
}

// text reads a string, which spells a variant where an enum is wanted.
func (r *reader) text(v *syntax.StringLit, want *schema.Type) *schema.Type {
	if want == nil || present(want).Kind != schema.Enum {
		return r.c.builtin.text
	}
	return r.variantOf(present(want), syntax.Ident{Name: v.Value, Span: v.Span}, true)
}

// variantOf checks that an enum has a variant (AWL2015).
func (r *reader) variantOf(enum *schema.Type, id syntax.Ident, quoted bool) *schema.Type {
	if _, ok := r.c.shapes.numbers(enum.Variants)[id.Name]; ok {
		return enum
	}
	name := enum.Name
	if name == "" {
		name = "the enum"
	}
	near := r.c.found.closest(id.Name, enum.Variants)
	if quoted && near != "" {
		near = string(encodeText(near))
	}
	r.c.found.misspelt("AWL2015", id.Span, "", near, "enum", name, "name", id.Name, "variants", listed(enum.Variants))
	return r.c.builtin.unknown
}

// list reads a list literal. Its elements take the wanted type, else that of the first.
func (r *reader) list(v *syntax.ListLit, want *schema.Type) *schema.Type {
	var elem *schema.Type
	if want != nil && present(want).Kind == schema.List {
		elem = present(want).Elem
	}
	if elem != nil && !isUnknown(elem) {
		for _, e := range v.Elems {
			r.fit(e, elem, "a list element")
		}
		return listOf(elem)
	}
	elem = r.c.builtin.unknown
	for _, e := range v.Elems {
		var t *schema.Type
		if isUnknown(elem) {
			t = r.value(e, nil)
		} else {
			t = r.value(e, elem)
		}
		t = r.certain(e, t)
		switch {
		case isUnknown(t):
		case isUnknown(elem):
			elem = t
		case !r.c.same.as(t, elem):
			r.c.found.add("AWL3013", e.Range(), "first", show(elem), "found", show(t))
		}
	}
	return listOf(elem)
}

// certain refuses a value that may be absent (AWL3006).
func (r *reader) certain(e syntax.Expr, t *schema.Type) *schema.Type {
	if !isOptional(t) {
		return t
	}
	r.absent(exprText(e), e.Range())
	return r.c.builtin.unknown
}

func (r *reader) absent(path string, at diag.Span) {
	hint := ""
	switch {
	case strings.HasPrefix(path, "."):
		hint = "test it in the same condition: `" + path + " is present and …`"
	case r.isBound:
		hint = "`max` needs a value: in a step before this one, write `outcome given: when " + path + " is present, route <this step>` and a clause `otherwise`"
	}
	r.c.found.add("AWL3006", at, "path", path, "hint", hint)
}

// fit reads a value that is passed where a type is expected; position says where that is.
func (r *reader) fit(e syntax.Expr, want *schema.Type, position string) {
	t := r.value(e, want)
	if code := r.c.misfit(t, want); code == "AWL3006" {
		r.absent(exprText(e), e.Range())
	} else if code != "" {
		r.c.found.add(code, e.Range(), "position", position, "expected", show(want), "found", show(t))
	}
}

// misfit is the finding about a value that does not fit: it may be absent, or has another type. Empty when it fits.
func (c *checker) misfit(t, want *schema.Type) string {
	switch {
	case c.same.fits(t, want):
		return ""
	case isOptional(t) && c.same.fits(t.Elem, want):
		return "AWL3006"
	}
	return "AWL3001"
}

// condition reads an expression that decides something.
func (r *reader) condition(e syntax.Expr, what string) {
	t := r.certain(e, r.value(e, nil))
	if !isUnknown(t) && t.Kind != schema.Bool {
		r.c.found.add("AWL3002", e.Range(), "what", what, "found", show(t))
	}
}

// bound reads the bound of a loop or of visits.
func (r *reader) bound(e syntax.Expr) {
	r.isBound = true
	t := r.certain(e, r.value(e, nil))
	found := show(t)
	lit, isLit := bare(e).(*syntax.IntLit)
	if isLit && lit.Value < 0 {
		found = "a negative number"
	} else if isUnknown(t) || t.Kind == schema.Int {
		return
	}
	r.c.found.add("AWL3017", e.Range(), "found", found)
}

// items reads the list that a fork or a region goes over, and gives the type of its items.
func (r *reader) items(e syntax.Expr, what string) *schema.Type {
	t := r.certain(e, r.value(e, nil))
	if t.Kind == schema.List {
		return t.Elem
	}
	if isUnknown(t) {
		return t
	}
	r.c.found.add("AWL3016", e.Range(), "what", what, "found", show(t))
	return r.c.builtin.unknown
}
