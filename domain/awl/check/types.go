package check

import (
	"strings"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// resolveTypes gives every declared type its meaning. Schemas come first: nothing in them refers to AWL, and what they
// project to may be shared by reference.
func (c *checker) resolveTypes() {
	for _, name := range c.types.order {
		if d := c.types.byName[name]; d.decl.Schema != nil {
			c.resolveSchema(d)
		}
	}
	for _, d := range c.doc.Types {
		c.resolveDeclared(d)
	}
	for _, name := range c.types.order {
		if d := c.types.byName[name]; d.typ.Kind == schema.Enum {
			for _, v := range d.typ.Variants {
				c.variants[v] = append(c.variants[v], d)
			}
		}
	}
	c.checkRecursion()
}

// resolveDeclared reads a record or an enum. A second declaration of a name is read for its own mistakes only.
func (c *checker) resolveDeclared(d *syntax.TypeDecl) {
	t := &schema.Type{}
	declared, ok := c.types.get(d.Name.Name)
	if ok && declared.decl == d {
		t = declared.typ
	} else if d.Schema != nil {
		return
	}
	switch {
	case d.IsRecord:
		t.Kind, t.Doc = schema.Record, strings.Join(d.Doc, "\n")
		var ids []syntax.Ident
		seen := map[string]bool{}
		for _, f := range d.Fields {
			ids = append(ids, f.Name)
			typ := c.resolve(f.Type, slot{self: d.Name.Name})
			if f.Name.Name != "" && !seen[f.Name.Name] {
				t.Fields = append(t.Fields, schema.Field{Name: f.Name.Name, Doc: strings.Join(f.Doc, "\n"), Type: typ})
			}
			seen[f.Name.Name] = true
		}
		c.unique("field", ids)
	case d.IsEnum:
		t.Kind, t.Doc = schema.Enum, strings.Join(d.Doc, "\n")
		seen := map[string]bool{}
		for _, v := range d.Variants {
			c.title(v)
			if v.Name != "" && !seen[v.Name] {
				t.Variants = append(t.Variants, v.Name)
			}
			seen[v.Name] = true
		}
		c.unique("variant", d.Variants)
	}
}

// slot is the place of a written type and what it asks of it.
type slot struct {
	whole string // what the value is, when it cannot be optional: a signal, a result, an outcome type
	nilOK bool
	self  string // the type whose declaration this is: naming it there is no use of it
}

// resolve reads a written type. What was not understood is unknown.
func (c *checker) resolve(ref *syntax.TypeRef, s slot) *schema.Type {
	if ref == nil {
		return c.builtin.unknown
	}
	t := c.core(ref, s)
	if !ref.Optional {
		return t
	}
	if s.whole != "" {
		c.found.add("AWL3024", ref.Span, "position", s.whole)
		return t
	}
	return optionalOf(t)
}

// core reads a written type without its `?`.
func (c *checker) core(ref *syntax.TypeRef, s slot) *schema.Type {
	if ref.Elem != nil {
		s.nilOK = false
		if ref.Elem.Optional {
			c.found.add("AWL3012", ref.Elem.Span)
		}
		return listOf(c.core(ref.Elem, s))
	}
	name := ref.Name.Name
	if t := c.builtin.named(name); t != nil {
		if t.Kind == schema.Nil && !s.nilOK {
			c.found.add("AWL3021", ref.Name.Span)
			return c.builtin.unknown
		}
		return t
	}
	if t, ok := c.types.get(name); ok {
		t.used = t.used || name != s.self
		return t.typ
	}
	if name != "" {
		c.unknownType(ref.Name)
	}
	return c.builtin.unknown
}

// unknownType reports a type that nothing declares (AWL2005).
func (c *checker) unknownType(id syntax.Ident) {
	var known []string
	if c.found.guessing() {
		known = append([]string{"Bool", "Dir", "Float", "Int", "Nil", "String"}, c.types.names()...)
	}
	near, hint := c.found.closest(id.Name, known), ""
	if near == "" {
		hint = foreignTypeHint(id.Name)
	}
	c.found.misspelt("AWL2005", id.Span, "", near, "name", id.Name, "hint", hint)
}

// foreignTypeHint says what stands for a type that other languages have; empty when the name is none.
func foreignTypeHint(name string) string {
	switch name {
	case "Duration", "Interval", "TimeDelta", "Timedelta", "TimeSpan":
		return "there is no type for durations, and none can be passed: delete this and declare a const, `const deadline = 2d`"
	case "Date", "DateTime", "Datetime", "Time", "Timestamp", "Instant":
		return "there is no type for times: use `String`, or `Int` for seconds"
	case "Any", "Object", "Json", "JSON", "Map", "Dict":
		return "declare what it holds: `type Name { field: Type, other: Type? }`"
	case "Void", "None", "Null", "Unit":
		return "an action without a result gives `Nil`"
	case "Number", "Double", "Decimal", "Long", "Integer":
		return "numbers are `Int` and `Float`"
	case "Text", "Str", "Boolean":
		return "the builtin types are `Bool`, `Int`, `Float`, `String`, `Dir`, `Nil` and `[T]`"
	}
	return ""
}

// resolveSignatures types inputs, signals, outcomes and everything that is called.
func (c *checker) resolveSignatures() {
	if h := c.doc.Header; h != nil {
		for _, d := range h.Inputs {
			c.resolvePort(&c.inputs, d.Name, d.Type, slot{})
		}
		for _, d := range h.Signals {
			c.resolvePort(&c.signals, d.Name, d.Type, slot{whole: "signal"})
		}
		for _, d := range h.Outcomes {
			t := c.resolve(d.Type, slot{whole: "outcome type", nilOK: true})
			if o, ok := c.outcomes.get(d.Name.Name); ok && o.name == d.Name {
				o.typ = t
			}
		}
	}
	for _, op := range c.operations {
		c.resolveOperation(op)
	}
}

func (c *checker) resolvePort(n *namespace[*port], id syntax.Ident, ref *syntax.TypeRef, s slot) {
	t := c.resolve(ref, s)
	if p, ok := n.get(id.Name); ok && p.name == id {
		p.typ = t
	}
}

func (c *checker) resolveOperation(op *operation) {
	var ids []syntax.Ident
	seen := map[string]bool{}
	for _, p := range op.params {
		ids = append(ids, p.Name)
		t := c.resolve(p.Type, slot{})
		if p.Name.Name != "" && !seen[p.Name.Name] {
			op.fields = append(op.fields, schema.Field{Name: p.Name.Name, Type: t})
		}
		seen[p.Name.Name] = true
	}
	c.unique("parameter", ids)
	whole := "result"
	if op.kind == opSubflow {
		whole = "outcome type"
	}
	op.result = c.resolve(op.resultRef, slot{whole: whole, nilOK: true})
}
