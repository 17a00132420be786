package check

import (
	"maps"
	"slices"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// construct reads `Type(…)`, or a bare variant.
func (r *reader) construct(v *syntax.Construct, want *schema.Type) *schema.Type {
	if !v.HasArgs {
		return r.c.variantType(v, want)
	}
	t := r.c.constructed(v.Name)
	if t.Kind == schema.Record {
		r.args(argList{owner: v.Name, term: "field", fields: t.Fields, args: v.Args})
		return t
	}
	r.loose(v.Args)
	return r.c.builtin.unknown
}

// constructed is the record type that a construction names; unknown when it names none.
func (c *checker) constructed(id syntax.Ident) *schema.Type {
	t := c.builtin.named(id.Name)
	if t == nil {
		d, ok := c.types.get(id.Name)
		if !ok {
			c.unknownType(id)
			return c.builtin.unknown
		}
		d.used = true
		t = d.typ
	}
	if t.Kind != schema.Record && !isUnknown(t) {
		c.found.add("AWL3022", id.Span, "name", id.Name)
		return c.builtin.unknown
	}
	return t
}

// variantType finds the enum of a bare variant: the wanted one, else the only one that declares it.
func (c *checker) variantType(v *syntax.Construct, want *schema.Type) *schema.Type {
	name := v.Name.Name
	if want != nil && present(want).Kind == schema.Enum {
		r := reader{c: c}
		return r.variantOf(present(want), v.Name, false)
	}
	switch enums := c.variants[name]; len(enums) {
	case 0:
		return c.noVariant(v)
	case 1:
		enums[0].used = true
		return enums[0].typ
	default:
		var names []string
		for _, d := range enums {
			d.used = true
			names = append(names, d.decl.Name.Name)
		}
		c.found.add("AWL2028", v.Name.Span, "name", name, "enums", listed(names))
		return c.builtin.unknown
	}
}

// noVariant reports a bare type name that is no variant: a record without its fields, a type that is no value, or nothing.
func (c *checker) noVariant(v *syntax.Construct) *schema.Type {
	name := v.Name.Name
	d, declared := c.types.get(name)
	switch {
	case c.builtin.named(name) != nil:
		c.found.add("AWL3022", v.Name.Span, "name", name)
	case declared && d.typ.Kind == schema.Enum:
		d.used = true
		c.found.add("AWL3022", v.Name.Span, "name", name)
	case declared && d.typ.Kind == schema.Record:
		r := reader{c: c}
		d.used = true
		if r.args(argList{owner: v.Name, term: "field", fields: d.typ.Fields}) {
			return d.typ
		}
	case declared:
	default:
		near := ""
		if c.found.guessing() {
			near = c.found.closest(name, slices.Sorted(maps.Keys(c.variants)))
		}
		c.found.misspelt("AWL2006", v.Name.Span, "", near, "name", name)
	}
	return c.builtin.unknown
}

// argList is a list of named arguments and what they are for.
type argList struct {
	owner  syntax.Ident // the call, record or target
	term   string       // what its members are called
	fields []schema.Field
	args   []*syntax.Arg
}

// args reads named arguments: each is known and given once, and all that must be given are. It says whether they are.
func (r *reader) args(l argList) (complete bool) {
	given := make(map[string]bool, len(l.args))
	shape := r.c.shapes.of(l.fields)
	stray := false
	for _, a := range l.args {
		name := a.Name.Name
		want, known := shape.types[name]
		switch {
		case name == "":
			r.value(a.Value, nil)
			stray = true
		case !known:
			stray = true
			r.c.found.misspelt("AWL2016", a.Name.Span, "", r.nearField(name, l.fields),
				"owner", l.owner.Name, "term", l.term, "name", name, "names", listedFields(l.fields))
			r.value(a.Value, nil)
		case given[name]:
			r.c.found.add("AWL2018", a.Name.Span, "name", name)
			r.value(a.Value, want)
		default:
			given[name] = true
			r.fit(a.Value, want, l.term+" `"+name+"`")
		}
	}
	if stray {
		return false
	}
	for _, name := range shape.required {
		if !given[name] {
			r.c.found.add("AWL2017", l.owner.Span, "owner", l.owner.Name, "name", name)
			return false // one per position
		}
	}
	return true
}

func (r *reader) nearField(name string, fields []schema.Field) string {
	if !r.c.found.guessing() {
		return ""
	}
	return r.c.found.closest(name, fieldNames(fields))
}

// loose reads arguments of something unknown, for their own mistakes.
func (r *reader) loose(args []*syntax.Arg) {
	for _, a := range args {
		r.value(a.Value, nil)
	}
}
