package schema

import (
	"strings"

	"aion/domain"
)

// Draft is the dialect of every schema that is derived.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// dirFormat marks the handle of a snapshot.
const dirFormat = "aion-dir"

// ObjectOptions are what the schema of an object has besides its fields. Empty members are left out.
type ObjectOptions struct {
	Draft       bool // name the dialect in `$schema`
	Title       string
	Description string
}

// Arm is one outcome in an outcome schema.
type Arm struct {
	Name string
	Type *Type
}

// Of derives the JSON Schema of a type (awl 4.5): the type at the root, then `$defs` with every declared type it refers
// to, in the order of their first reference. An optional has the schema of its value. The same type gives the same bytes.
func Of(t *Type) []byte {
	for t.Kind == Optional {
		t = t.Elem
	}
	d := deriver{root: t}
	if t.Raw != nil {
		return compacted(t.Raw)
	}
	d.open()
	d.members(t, "")
	d.definitions()
	d.close()
	return d.b
}

// Object derives the closed object of the fields: the input of an action or child, and the start schema of a workflow.
func Object(fields []Field, o ObjectOptions) []byte {
	d := deriver{}
	d.open()
	if o.Draft {
		d.text("$schema", Draft)
	}
	if o.Title != "" {
		d.text("title", o.Title)
	}
	d.text("type", "object")
	if o.Description != "" {
		d.text("description", o.Description)
	}
	d.fields(fields)
	d.definitions()
	d.close()
	return d.b
}

// Outcomes derives the outcome schema: one arm per outcome, in the given order.
func Outcomes(arms []Arm) []byte {
	d := deriver{}
	d.open()
	d.text("$schema", Draft)
	d.text("type", "object")
	d.raw("required", `["outcome","payload"]`)
	d.key("oneOf")
	d.b = append(d.b, '[')
	for i, a := range arms {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.open()
		d.key("properties")
		d.open()
		d.key("outcome")
		d.open()
		d.text("const", a.Name)
		d.close()
		d.key("payload")
		d.schema(a.Type, "")
		d.close()
		d.close()
	}
	d.b = append(d.b, ']')
	d.definitions()
	d.close()
	return d.b
}

// deriver writes one schema. Declared types are referred to by name and written once, in `$defs`.
type deriver struct {
	b     []byte
	root  *Type // the type at the root; nil when the root is no declared type
	queue []*Type
	known map[string]bool
	deep  int
}

func (d *deriver) open() { d.b = append(d.b, '{') }

func (d *deriver) close() { d.b = append(d.b, '}') }

func (d *deriver) key(k string) {
	if d.b[len(d.b)-1] != '{' {
		d.b = append(d.b, ',')
	}
	d.b = append(domain.AppendText(d.b, k), ':')
}

func (d *deriver) text(k, v string) {
	d.key(k)
	d.b = domain.AppendText(d.b, v)
}

func (d *deriver) raw(k, v string) {
	d.key(k)
	d.b = append(d.b, v...)
}

func (d *deriver) describe(doc string) {
	if doc != "" {
		d.text("description", doc)
	}
}

// schema writes the schema of a type where it is used; doc is that of the field, parameter or input.
func (d *deriver) schema(t *Type, doc string) {
	for t.Kind == Optional {
		t = t.Elem
	}
	d.open()
	defer d.close()
	if d.deep >= MaxDepth {
		return // an anonymous type that contains itself: nothing in the language writes one
	}
	if t.Name == "" || t.Kind == Unknown {
		d.deep++
		d.members(t, doc)
		d.deep--
		return
	}
	if d.root != nil && t.Name == d.root.Name {
		d.text("$ref", "#")
	} else {
		d.text("$ref", reference(t.Name))
		d.define(t)
	}
	d.describe(doc)
}

func (d *deriver) define(t *Type) {
	if !d.known[t.Name] {
		if d.known == nil {
			d.known = map[string]bool{}
		}
		d.known[t.Name] = true
		d.queue = append(d.queue, t)
	}
}

// definitions writes `$defs`. Definitions found on the way are appended to the queue.
func (d *deriver) definitions() {
	if len(d.queue) == 0 {
		return
	}
	d.key("$defs")
	d.open()
	for i := 0; i < len(d.queue); i++ {
		t := d.queue[i]
		if t.Raw != nil {
			d.embed(t)
			continue
		}
		d.key(t.Name)
		d.open()
		d.members(t, "")
		d.close()
	}
	d.close()
}

// members writes the inside of a type's schema; doc stands in for the type's own, when there is one.
func (d *deriver) members(t *Type, doc string) {
	if doc == "" {
		doc = t.Doc
	}
	switch t.Kind {
	case Bool:
		d.scalar("boolean", doc)
	case Int:
		d.scalar("integer", doc)
	case Float:
		d.scalar("number", doc)
	case String:
		d.scalar("string", doc)
	case Dir:
		d.scalar("string", doc)
		d.text("format", dirFormat)
	case Nil:
		d.scalar("null", doc)
	case List:
		d.scalar("array", doc)
		d.key("items")
		d.schema(t.Elem, "")
	case Record:
		d.scalar("object", doc)
		d.fields(t.Fields)
	case Enum:
		d.scalar("string", doc)
		d.key("enum")
		d.texts(t.Variants)
	case Unknown, Optional:
		d.describe(doc) // admits everything; optionals were opened by the caller
	}
}

func (d *deriver) scalar(word, doc string) {
	d.text("type", word)
	d.describe(doc)
}

func (d *deriver) fields(fields []Field) {
	d.key("properties")
	d.open()
	var required []string
	for _, f := range fields {
		d.key(f.Name)
		d.schema(f.Type, f.Doc)
		if f.Type.Kind != Optional {
			required = append(required, f.Name)
		}
	}
	d.close()
	d.key("required")
	d.texts(required)
	d.raw("additionalProperties", "false")
}

func (d *deriver) texts(list []string) {
	d.b = append(d.b, '[')
	for i, s := range list {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.b = domain.AppendText(d.b, s)
	}
	d.b = append(d.b, ']')
}

// reference is the `$ref` text of a definition.
func reference(name string) string {
	return "#/$defs/" + strings.TrimPrefix(token("", name), "/")
}
