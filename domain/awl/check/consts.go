package check

import (
	"encoding/json"
	"strconv"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

type foldState int

const (
	foldWaiting foldState = iota
	foldRunning
	foldDone
)

// The bounds of folded consts: one of them is a value of a run, and all of them stand in the plan.
const (
	maxConstBytes = 2 << 20
	maxFoldBytes  = 16 << 20
)

// folded is the value of a constant expression: a text, a list, or any other value as JSON.
type folded struct {
	typ  *schema.Type // unknown when it could not be folded
	text string
	list []json.RawMessage
	raw  json.RawMessage
	size int
}

func (f folded) encode() json.RawMessage {
	switch {
	case f.typ.Kind == schema.String:
		return encodeText(f.text)
	case f.typ.Kind != schema.List:
		return f.raw
	}
	b := []byte{'['}
	for i, e := range f.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ']')
}

// foldConsts gives every const its value.
func (c *checker) foldConsts() {
	for _, d := range c.doc.Consts {
		k, ok := c.consts.get(d.Name.Name)
		if !ok || k.decl != d {
			k = &constant{decl: d} // a second one of the name, read for its own mistakes
		}
		c.foldConst(k)
	}
}

func (c *checker) foldConst(k *constant) {
	if k.state == foldDone {
		return
	}
	k.state = foldRunning
	k.value = folded{typ: c.builtin.unknown}
	switch v := k.decl.Value.(type) {
	case nil:
	case *syntax.DurationLit:
		k.isDuration, k.ms = true, v.MS
	case *syntax.Name:
		other, value := c.foldName(v)
		k.value = value
		if other != nil && other.isDuration {
			k.isDuration, k.ms = true, other.ms
		}
	default:
		k.value = c.fold(v)
	}
	c.folded += k.value.size
	if k.value.size > maxConstBytes || c.folded > maxFoldBytes {
		c.found.add("AWL0004", k.decl.Name.Span, "what", "the value of `"+k.decl.Name.Name+"`",
			"limit", strconv.Itoa(maxConstBytes)+" bytes, "+strconv.Itoa(maxFoldBytes)+" bytes for all consts")
		c.folded -= k.value.size
		k.value = folded{typ: c.builtin.unknown}
	}
	k.state = foldDone
}

// fold evaluates a constant expression. Whatever cannot be known at compile time is reported and unknown.
func (c *checker) fold(e syntax.Expr) folded {
	switch v := e.(type) {
	case *syntax.StringLit:
		return c.foldedText(v.Value)
	case *syntax.IntLit:
		return foldedRaw(c.builtin.integer, strconv.FormatInt(v.Value, 10))
	case *syntax.FloatLit:
		return foldedRaw(c.builtin.float, v.Text)
	case *syntax.BoolLit:
		return foldedRaw(c.builtin.boolean, strconv.FormatBool(v.Value))
	case *syntax.JSONLit:
		c.checkJSON(v)
		return c.foldedText(v.Body)
	case *syntax.SchemaOf:
		return c.foldSchema(v)
	case *syntax.ListLit:
		return c.foldList(v)
	case *syntax.Paren:
		return c.fold(v.Of)
	case *syntax.Name:
		k, value := c.foldName(v)
		if k != nil && k.isDuration {
			c.found.add("AWL3018", v.Span)
		}
		return value
	case *syntax.Construct:
		return c.foldVariant(v)
	case *syntax.DurationLit:
		c.found.add("AWL3018", v.Span)
	case *syntax.Binary:
		return c.foldBinary(v)
	case *syntax.BadExpr:
	default:
		c.found.add("AWL2025", e.Range(), "what", describe(e))
	}
	return folded{typ: c.builtin.unknown}
}

func foldedRaw(t *schema.Type, text string) folded {
	return folded{typ: t, raw: json.RawMessage(text), size: len(text)}
}

func (c *checker) foldedText(text string) folded {
	return folded{typ: c.builtin.text, text: text, size: len(text)}
}

// foldName reads another const. The const is nil when there is none of the name.
func (c *checker) foldName(n *syntax.Name) (*constant, folded) {
	none := folded{typ: c.builtin.unknown}
	k, ok := c.consts.get(n.Name)
	switch {
	case ok && k.state == foldRunning:
		c.found.add("AWL2024", n.Span, "name", n.Name)
		return nil, none
	case ok:
		k.used = true
		c.foldConst(k)
		return k, k.value
	case n.Name == "null":
		c.found.add("AWL3011", n.Span)
	case c.isInput(n.Name):
		c.found.add("AWL2025", n.Span, "what", "an input")
	default:
		c.found.misspelt("AWL2006", n.Span, "", c.found.closest(n.Name, c.consts.names()), "name", n.Name)
	}
	return nil, none
}

// isInput says whether a name is an input.
func (c *checker) isInput(name string) bool {
	p, ok := c.inputs.get(name)
	if ok {
		p.used = true
	}
	return ok
}

func (c *checker) foldSchema(v *syntax.SchemaOf) folded {
	t := c.schemaSubject(v)
	if isUnknown(t) {
		return folded{typ: c.builtin.text} // a text that is not known: its type still is
	}
	return c.foldedText(string(schema.Of(t)))
}

// schemaSubject is the type that `schema of` names.
func (c *checker) schemaSubject(v *syntax.SchemaOf) *schema.Type {
	if t := c.builtin.named(v.Type.Name); t != nil {
		return t
	}
	if t, ok := c.types.get(v.Type.Name); ok {
		t.used = true
		return t.typ
	}
	if v.Type.Name != "" {
		c.unknownType(v.Type)
	}
	return c.builtin.unknown
}

// checkJSON reports a JSON body that is none (AWL7001).
func (c *checker) checkJSON(v *syntax.JSONLit) {
	if offset, detail, ok := schema.ValidateJSON([]byte(v.Body)); !ok {
		at := within(v.Body, v.BodyPos, offset)
		c.found.add("AWL7001", tokenSpan(v.Body, at, offset), "detail", detail)
	}
}

func (c *checker) foldList(v *syntax.ListLit) folded {
	f := folded{typ: listOf(c.builtin.unknown), size: 2}
	for _, e := range v.Elems {
		item := c.fold(e)
		if isUnknown(item.typ) {
			continue
		}
		if isUnknown(f.typ.Elem) {
			f.typ = listOf(item.typ)
		} else if !c.same.as(item.typ, f.typ.Elem) {
			c.found.add("AWL3013", e.Range(), "first", show(f.typ.Elem), "found", show(item.typ))
			continue
		}
		f.size += item.size + 1
		if f.size <= maxConstBytes {
			f.list = append(f.list, item.encode())
		}
	}
	return f
}

func (c *checker) foldVariant(v *syntax.Construct) folded {
	if v.HasArgs {
		c.found.add("AWL2025", v.Name.Span, "what", "a record")
		return folded{typ: c.builtin.unknown}
	}
	t := c.variantType(v, nil)
	if isUnknown(t) {
		return folded{typ: t}
	}
	return foldedRaw(t, string(encodeText(v.Name.Name)))
}
