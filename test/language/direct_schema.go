package language

import (
	"encoding/json"
	"strings"

	"aion/domain/awl/syntax"
)

// schemaOf is the text of `schema of T` for a type that no authored schema is part of (awl 4.5).
func (d *Direct) schemaOf(name string) string {
	w := &schemaWriter{d: d, root: name}
	root := w.declared(d.types[name])
	if len(w.defs) == 0 {
		return "{" + root + "}"
	}
	var defs []string
	for i := 0; i < len(w.defs); i++ {
		defs = append(defs, quoted(w.defs[i])+":{"+w.declared(d.types[w.defs[i]])+"}")
	}
	return "{" + root + `,"$defs":{` + strings.Join(defs, ",") + "}}"
}

type schemaWriter struct {
	d    *Direct
	root string
	defs []string // declared types met, in order
}

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func described(doc []string) string {
	if len(doc) == 0 {
		return ""
	}
	return `,"description":` + quoted(strings.Join(doc, "\n"))
}

// declared is the inside of a declared type's schema.
func (w *schemaWriter) declared(t *syntax.TypeDecl) string {
	if t.IsEnum {
		var all []string
		for _, v := range t.Variants {
			all = append(all, quoted(v.Name))
		}
		return `"type":"string"` + described(t.Doc) + `,"enum":[` + strings.Join(all, ",") + "]"
	}
	var props, required []string
	for _, f := range t.Fields {
		props = append(props, quoted(f.Name.Name)+":{"+w.use(f.Type, f.Doc)+"}")
		if !f.Type.Optional {
			required = append(required, quoted(f.Name.Name))
		}
	}
	return `"type":"object"` + described(t.Doc) + `,"properties":{` + strings.Join(props, ",") + `},"required":[` +
		strings.Join(required, ",") + `],"additionalProperties":false`
}

// use is the inside of the schema of a type where it is used.
func (w *schemaWriter) use(t *syntax.TypeRef, doc []string) string {
	if t.Elem != nil {
		return `"type":"array"` + described(doc) + `,"items":{` + w.use(t.Elem, nil) + "}"
	}
	name := t.Name.Name
	switch name {
	case "Bool":
		return `"type":"boolean"` + described(doc)
	case "Int":
		return `"type":"integer"` + described(doc)
	case "Float":
		return `"type":"number"` + described(doc)
	case "String":
		return `"type":"string"` + described(doc)
	case "Dir":
		return `"type":"string"` + described(doc) + `,"format":"aion-dir"`
	case w.root:
		return `"$ref":"#"` + described(doc)
	}
	known := false
	for _, n := range w.defs {
		known = known || n == name
	}
	if !known {
		w.defs = append(w.defs, name)
	}
	return `"$ref":` + quoted("#/$defs/"+name) + described(doc)
}
