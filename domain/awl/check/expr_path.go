package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// reading is what has been read of a chain of accessors, indexes and combinators.
type reading struct {
	typ  *schema.Type
	path string      // the path it can be narrowed by; empty when it has none
	e    syntax.Expr // what was read last
}

// postfix reads a name or another primary and the links that follow it. It gives the type with and without what is known
// about its presence here. The chain is as long as its line, so the links are read in a loop.
func (r *reader) postfix(e syntax.Expr) (narrowed, declared *schema.Type) {
	var links []syntax.Expr
	for {
		switch v := e.(type) {
		case *syntax.Access:
			links = append(links, v)
			e = v.Of
			continue
		case *syntax.Index:
			links = append(links, v)
			e = v.Of
			continue
		case *syntax.Combine:
			links = append(links, v)
			e = v.Of
			continue
		}
		break
	}
	cur := reading{typ: r.primary(e), path: pathOf(e), e: e}
	for i := len(links) - 1; i >= 0; i-- {
		cur = r.link(cur, links[i])
	}
	return r.narrow(cur), cur.typ
}

// primary reads what a chain starts with.
func (r *reader) primary(e syntax.Expr) *schema.Type {
	b := r.c.builtin
	switch v := e.(type) {
	case *syntax.Name:
		return r.name(v)
	case *syntax.ItemField:
		if r.item == nil {
			return b.unknown // reported by the parser
		}
		return r.field(reading{typ: r.item, path: ".", e: e}, v.Name).typ
	case *syntax.VisitsRef:
		if !r.visits {
			r.c.found.add("AWL2023", v.Span)
			return b.unknown
		}
		return b.integer
	case *syntax.WorkflowID:
		return r.workflowID(v)
	case nil, *syntax.BadExpr:
		return b.unknown
	case *syntax.Paren:
		_, declared := r.declared(v.Of)
		return declared
	default:
		return r.value(e, nil)
	}
}

// declared reads an expression and gives its type with and without what is known about its presence.
func (r *reader) declared(e syntax.Expr) (narrowed, declared *schema.Type) {
	switch v := bare(e).(type) {
	case *syntax.Name, *syntax.ItemField, *syntax.Access, *syntax.Index, *syntax.Combine:
		return r.postfix(v)
	default:
		t := r.value(v, nil)
		return t, t
	}
}

func (r *reader) workflowID(v *syntax.WorkflowID) *schema.Type {
	switch {
	case v.Field == nil:
		r.c.found.add("AWL2022", v.Span)
	case v.Field.Name != "id":
		r.c.found.add("AWL2022", v.Field.Span)
	default:
		return r.c.builtin.text
	}
	return r.c.builtin.unknown
}

// name reads a binding or a const.
func (r *reader) name(n *syntax.Name) *schema.Type {
	b := r.c.builtin
	if n.Name == "null" {
		r.c.found.add("AWL3011", n.Span)
		return b.unknown
	}
	if r.limit != nil && !r.limit(n) {
		return b.unknown
	}
	t, how := r.s.find(n.Name)
	if how == bound {
		r.c.use(n.Name)
		return t
	}
	if k, ok := r.c.consts.get(n.Name); ok {
		return r.constant(k, n)
	}
	switch how {
	case assumed, bound:
		return t
	case perhaps:
		r.c.found.add("AWL2007", n.Span, "name", n.Name)
	case unbound:
		r.c.found.misspelt("AWL2006", n.Span, "", r.c.nearName(r.s, n.Name), "name", n.Name)
	}
	return b.unknown
}

// notField says whether a name is what other languages ask of a plain value.
func notField(name string) bool {
	switch name {
	case "length", "len", "size", "count", "first", "last", "lower", "upper":
		return true
	}
	return false
}

func (r *reader) constant(k *constant, n *syntax.Name) *schema.Type {
	k.used = true
	if k.isDuration {
		r.c.found.add("AWL3018", n.Span)
		return r.c.builtin.unknown
	}
	return k.value.typ
}

// use marks an input as read. A binding of the same name cannot exist, unless it carries the input on.
func (c *checker) use(name string) {
	if p, ok := c.inputs.get(name); ok {
		p.used = true
	}
}

// nearName is the name that can be read here and was probably meant.
func (c *checker) nearName(s *scope, name string) string {
	if !c.found.guessing() {
		return ""
	}
	var names []string
	for ; s != nil; s = s.up {
		for n := range s.vars {
			names = append(names, n)
		}
		if s.point == nil || s.point.at == nil {
			continue
		}
		for n, i := range s.point.f.uni.names {
			if s.point.at.sure.has(i) {
				names = append(names, n)
			}
		}
	}
	return c.found.closest(name, append(names, c.consts.names()...))
}

// narrow gives the type of a reading at this point: a path that was proved present is not optional.
func (r *reader) narrow(cur reading) *schema.Type {
	if isOptional(cur.typ) && cur.path != "" && r.s.proved(cur.path) {
		return cur.typ.Elem
	}
	return cur.typ
}

// link reads one accessor, index or combinator.
func (r *reader) link(cur reading, e syntax.Expr) reading {
	switch v := e.(type) {
	case *syntax.Access:
		next := r.field(cur, v.Name)
		next.e = e
		return next
	case *syntax.Index:
		return reading{typ: r.index(cur, v), e: e}
	case *syntax.Combine:
		at := cur.e.Range()
		return reading{typ: r.combine(r.narrow(cur), v.Comb, exprText(cur.e), at), e: e}
	}
	return reading{typ: r.c.builtin.unknown, e: e}
}

// field reads an accessor.
func (r *reader) field(cur reading, id syntax.Ident) reading {
	unknown := reading{typ: r.c.builtin.unknown, e: cur.e}
	t := r.narrow(cur)
	switch t.Kind {
	case schema.Unknown:
		return unknown
	case schema.Optional:
		r.absent(r.shown(cur), id.Span)
		return unknown
	case schema.Record:
	default:
		hint := ""
		switch {
		case t.Kind == schema.List:
			hint = "`xs |> count -> n` counts a list, `xs[0]` is its first item, `xs |> map(.field) -> ys` reads a field of each"
		case notField(id.Name):
			hint = "an action computes it: declare one that takes the value"
		}
		r.c.found.add("AWL3007", id.Span, "found", show(t), "hint", hint)
		return unknown
	}
	if typ, ok := r.c.shapes.of(t.Fields).types[id.Name]; ok {
		return reading{typ: typ, path: below(cur.path, id.Name), e: cur.e}
	}
	name := t.Name
	if name == "" {
		name = "the record"
	}
	r.c.found.misspelt("AWL2014", id.Span, ".", r.nearField(id.Name, t.Fields),
		"type", name, "name", id.Name, "fields", listedFields(t.Fields))
	return unknown
}

// below is the path of a field.
func below(path, name string) string {
	switch path {
	case "":
		return ""
	case ".":
		return "." + name
	}
	return path + "." + name
}

// shown spells what was read, for a message.
func (r *reader) shown(cur reading) string {
	switch {
	case cur.path == ".":
		return "the item"
	case cur.path != "":
		return cur.path
	}
	return exprText(cur.e)
}

// index reads `[n]`.
func (r *reader) index(cur reading, v *syntax.Index) *schema.Type {
	t := r.narrow(cur)
	switch {
	case isUnknown(t):
		return t
	case t.Kind == schema.List:
		return t.Elem
	case isOptional(t):
		r.absent(r.shown(cur), v.IndexSpan)
		return r.c.builtin.unknown
	}
	r.c.found.add("AWL3008", v.IndexSpan, "found", show(t))
	return r.c.builtin.unknown
}
