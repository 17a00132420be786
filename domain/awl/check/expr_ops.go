package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// binary reads an operation. Chains of one operator are read in a loop: they are as long as their line.
func (r *reader) binary(v *syntax.Binary, want *schema.Type) *schema.Type {
	switch v.Op {
	case "and", "or":
		r.logic(v)
		return r.c.builtin.boolean
	case "+":
		return r.sum(v, want)
	default:
		r.comparison(v)
		return r.c.builtin.boolean
	}
}

// logic reads `and` and `or`. An operand is read knowing what those before it have proved when it is reached.
func (r *reader) logic(v *syntax.Binary) {
	what := "`" + v.Op + "`"
	first, links := spine(v)
	known := r.under(nil)
	read := func(e syntax.Expr) {
		known.condition(e, what)
		p := proves(e)
		if v.Op == "or" {
			p = p.negated()
		}
		known.s.prove(p.ifTrue)
	}
	read(first)
	for _, link := range links {
		read(link.R)
	}
}

// sum reads `+`, which joins two Strings or two lists of one type.
func (r *reader) sum(v *syntax.Binary, want *schema.Type) *schema.Type {
	if want != nil && present(want).Kind != schema.List {
		want = nil
	}
	first, links := spine(v)
	total := r.certain(first, r.value(first, want))
	for _, link := range links {
		wanted := want
		if wanted == nil && total.Kind == schema.List {
			wanted = total
		}
		t := r.certain(link.R, r.value(link.R, wanted))
		total = r.join(link, total, t)
	}
	return total
}

func (r *reader) join(at *syntax.Binary, l, t *schema.Type) *schema.Type {
	switch {
	case isUnknown(l) || isUnknown(t):
		return r.c.builtin.unknown
	case l.Kind != schema.String && l.Kind != schema.List || !r.c.same.as(l, t):
		r.c.found.add("AWL3004", at.OpSpan, "left", show(l), "right", show(t))
		return r.c.builtin.unknown
	case l.Kind == schema.List && isUnknown(l.Elem):
		return t
	}
	return l
}

// comparison reads two operands. A literal takes the type of the other one.
func (r *reader) comparison(v *syntax.Binary) {
	var left, right *schema.Type
	if isLiteral(v.L) && !isLiteral(v.R) {
		right = r.value(v.R, nil)
		left = r.value(v.L, right)
	} else {
		left = r.value(v.L, nil)
		right = r.value(v.R, left)
	}
	left, right = r.certain(v.L, left), r.certain(v.R, right)
	if !r.comparable(v.Op, left, right) {
		r.c.found.add("AWL3003", v.OpSpan, "op", v.Op, "left", show(left), "right", show(right))
	}
}

func isLiteral(e syntax.Expr) bool {
	switch v := bare(e).(type) {
	case *syntax.StringLit, *syntax.IntLit, *syntax.ListLit:
		return true
	case *syntax.Construct:
		return !v.HasArgs
	}
	return false
}

// comparable says whether an operator compares two types (awl 4.2).
func (r *reader) comparable(op string, left, right *schema.Type) bool {
	if isUnknown(left) || isUnknown(right) {
		return true
	}
	if op != "==" && op != "!=" {
		return left.Kind == right.Kind && (left.Kind == schema.Int || left.Kind == schema.Float)
	}
	switch left.Kind {
	case schema.Enum:
		return right.Kind == schema.String || right.Kind == schema.Enum && r.c.same.as(left, right)
	case schema.String:
		return right.Kind == schema.String || right.Kind == schema.Enum
	case schema.Bool, schema.Int, schema.Float, schema.Dir:
		return left.Kind == right.Kind
	case schema.Unknown, schema.Nil, schema.List, schema.Optional, schema.Record:
	}
	return false
}

// is reads a test for emptiness or presence. Presence is asked of the declared type: asking again is no mistake.
func (r *reader) is(v *syntax.Is) *schema.Type {
	at := v.IsSpan
	narrowed, declared := r.c.builtin.unknown, r.c.builtin.unknown
	switch {
	case v.Of != nil:
		at = v.Of.Range()
		narrowed, declared = r.declared(v.Of)
	case r.item != nil:
		declared = r.item
		narrowed = r.narrow(reading{typ: r.item, path: "."})
	}
	if v.Word != "empty" {
		if !isUnknown(declared) && !isOptional(declared) {
			r.c.found.add("AWL3005", at, "word", v.Word, "wanted", "a value that may be absent", "found", show(declared))
		}
		return r.c.builtin.boolean
	}
	switch narrowed.Kind {
	case schema.Unknown, schema.List:
	case schema.Optional:
		path := "the item"
		if v.Of != nil {
			path = exprText(v.Of)
		}
		r.absent(path, at)
	default:
		r.c.found.add("AWL3005", at, "word", v.Word, "wanted", "a list", "found", show(narrowed))
	}
	return r.c.builtin.boolean
}
