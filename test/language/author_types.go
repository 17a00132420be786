package language

import (
	"fmt"
	"strings"
)

type kind int

const (
	kBool kind = iota + 1
	kInt
	kFloat
	kString
	kDir
	kEnum
	kRecord
	kList
	kNil
)

// typ is a type as the author knows it.
type typ struct {
	kind     kind
	name     string
	elem     *typ
	fields   []field
	variants []string
	schema   bool // declared by an inline schema
}

// field is a field or a parameter.
type field struct {
	name string
	t    *typ
	opt  bool
}

var (
	boolType   = &typ{kind: kBool, name: "Bool"}
	intType    = &typ{kind: kInt, name: "Int"}
	floatType  = &typ{kind: kFloat, name: "Float"}
	stringType = &typ{kind: kString, name: "String"}
	dirType    = &typ{kind: kDir, name: "Dir"}
	nilType    = &typ{kind: kNil, name: "Nil"}
)

func listOf(t *typ) *typ { return &typ{kind: kList, elem: t} }

// same is structural equality (awl 4.2); the author writes no type that differs from another one by its name only.
func same(a, b *typ) bool {
	if a == b {
		return true
	}
	return a.kind == b.kind && a.kind == kList && same(a.elem, b.elem) || a.kind == b.kind && a.kind < kEnum
}

func (a *author) declareTypes() {
	for range a.n("enums", 1, 2) {
		e := &typ{kind: kEnum, name: "E" + a.fresh("num")}
		for range a.n("variants", 2, 4) {
			e.variants = append(e.variants, "V"+a.fresh("a"))
		}
		if len(a.enums) > 0 && a.chance(40) { // a variant of two enums
			e.variants = append(e.variants, a.enums[0].variants[0])
		}
		a.enums = append(a.enums, e)
		a.types = append(a.types, e)
	}
	for range a.n("records", 1, 4) {
		r := &typ{kind: kRecord, name: "R" + a.fresh("ec"), schema: a.chance(15)}
		for range a.n("fields", 1, 4) {
			f := field{name: a.fresh("f"), t: a.anyType(1), opt: a.chance(25)}
			if r.schema {
				f.t = pick(a, []*typ{boolType, intType, floatType, stringType})
			}
			r.fields = append(r.fields, f)
		}
		if !r.schema && a.chance(15) { // through a list or an optional it may contain itself
			r.fields = append(r.fields, field{name: a.fresh("self"), t: listOf(r)})
		}
		if a.chance(10) { // reserved words are no names, but labels
			r.fields = append(r.fields, field{name: pick(a, []string{"type", "step", "in", "map", "count"}), t: intType})
		}
		a.records = append(a.records, r)
		a.types = append(a.types, r)
	}
}

// anyType draws a type that values can be made of.
func (a *author) anyType(depth int) *typ {
	switch k := a.n("type", 1, 12); {
	case k <= 2:
		return boolType
	case k <= 4:
		return intType
	case k == 5:
		return floatType
	case k <= 7:
		return stringType
	case k == 8 && len(a.enums) > 0:
		return pick(a, a.enums)
	case k <= 10 && len(a.records) > 0:
		return pick(a, a.records)
	case depth > 0:
		return listOf(a.anyType(depth - 1))
	}
	return stringType
}

// ref spells a type.
func (a *author) ref(t *typ, opt bool) string {
	text := t.name
	if t.kind == kList {
		text = "[" + a.ref(t.elem, false) + "]"
		if a.chance(10) {
			text = "List<" + a.ref(t.elem, false) + ">"
		}
	}
	if opt {
		text += "?"
	}
	return text
}

func (a *author) typesText() string {
	var b strings.Builder
	for _, t := range a.types {
		b.WriteString(a.doc(""))
		switch {
		case t.kind == kEnum:
			fmt.Fprintf(&b, "type %s = %s\n", t.name, strings.Join(t.variants, " | "))
		case t.schema:
			b.WriteString(schemaText(t))
		case a.chance(50):
			fmt.Fprintf(&b, "type %s { %s }\n", t.name, a.params(t.fields))
		default:
			fmt.Fprintf(&b, "type %s {\n", t.name)
			for _, f := range t.fields {
				fmt.Fprintf(&b, "%s  %s: %s%s\n", a.doc("  "), f.name, a.ref(f.t, f.opt), pick(a, []string{",", ""}))
			}
			b.WriteString("}\n")
		}
		b.WriteString(a.remark(""))
	}
	return b.String()
}

// schemaText declares a record by its schema.
func schemaText(t *typ) string {
	var props, required []string
	for _, f := range t.fields {
		kind := map[kind]string{kBool: "boolean", kInt: "integer", kFloat: "number", kString: "string"}[f.t.kind]
		more := ""
		if f.t.kind == kString {
			more = `, "maxLength": 400, "title": "a text"`
		}
		props = append(props, fmt.Sprintf("%q: {\"type\": %q%s}", f.name, kind, more))
		if !f.opt {
			required = append(required, fmt.Sprintf("%q", f.name))
		}
	}
	return fmt.Sprintf("type %s = schema {\n  \"type\": \"object\",\n  \"properties\": {%s},\n  \"required\": [%s],\n  \"additionalProperties\": false\n}\n",
		t.name, strings.Join(props, ", "), strings.Join(required, ", "))
}

func (a *author) params(list []field) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, f.name+": "+a.ref(f.t, f.opt))
	}
	return strings.Join(parts, ", ")
}

func (a *author) declareConsts() {
	for range a.n("consts", 0, 3) {
		c := variable{name: a.fresh("c"), t: pick(a, []*typ{intType, floatType, stringType, boolType, listOf(stringType)})}
		a.consts = append(a.consts, c)
	}
	for range a.n("durations", 0, 1) {
		a.duration = append(a.duration, a.fresh("span"))
	}
}

func (a *author) constsText() string {
	var b strings.Builder
	known := scope{}
	for _, c := range a.consts {
		fmt.Fprintf(&b, "%sconst %s = %s\n", a.doc(""), c.name, a.constExpr(known, c.t))
		known.vars = append(known.vars, c)
	}
	for _, d := range a.duration {
		fmt.Fprintf(&b, "const %s = %d%s\n", d, a.n("span", 1, 20), pick(a, []string{"s", "m"}))
	}
	return b.String()
}

// constExpr is an expression that is known at compile time.
func (a *author) constExpr(known scope, t *typ) string {
	var like []string
	for _, v := range known.vars {
		if same(v.t, t) {
			like = append(like, v.name)
		}
	}
	if len(like) > 0 && a.chance(30) {
		return pick(a, like)
	}
	switch t.kind {
	case kString:
		if a.chance(25) {
			return a.constExpr(known, t) + " + " + a.stringLit()
		}
		if a.chance(25) {
			return a.longText()
		}
	case kList:
		if len(like) > 0 && a.chance(30) {
			return pick(a, like) + " + " + "[" + a.stringLit() + "]"
		}
		return "[" + a.stringLit() + ", " + a.stringLit() + "]"
	case kBool, kInt, kFloat, kDir, kEnum, kRecord, kNil:
	}
	return a.literal(t)
}

// longText is a text that is not a plain string literal.
func (a *author) longText() string {
	switch a.n("text", 1, 3) {
	case 1:
		return "json { \"a\": [1, 2.50, \"}{\"], \"b\": {} }"
	case 2:
		return "\"\"\"\n  two {{lines}}\n\"\"\""
	}
	var plain []*typ
	for _, t := range a.types {
		if t.kind == kEnum || !t.reachesSchema(nil) {
			plain = append(plain, t)
		}
	}
	return "schema of " + pick(a, plain).name
}

// reachesSchema reports whether the schema of the type holds one that an author wrote.
func (t *typ) reachesSchema(seen []*typ) bool {
	for _, s := range seen {
		if s == t {
			return false
		}
	}
	seen = append(seen, t)
	if t.kind == kList {
		return t.elem.reachesSchema(seen)
	}
	for _, f := range t.fields {
		if f.t.reachesSchema(seen) {
			return true
		}
	}
	return t.schema
}
