package schema

import (
	"strings"

	"aion/domain"
)

// compacted is a schema's own JSON without insignificant space. Raw is JSON: it was projected.
func compacted(raw []byte) []byte {
	n, err := parse(raw, MaxDepth)
	if err != nil {
		return raw
	}
	return appendCompact(nil, n)
}

func appendCompact(b []byte, n *node) []byte {
	switch n.kind {
	case jsonArray:
		b = append(b, '[')
		for i := range n.elems() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCompact(b, &n.elems()[i])
		}
		return append(b, ']')
	case jsonObject:
		b = append(b, '{')
		for i := range n.members() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(domain.AppendText(b, n.members()[i].key), ':')
			b = appendCompact(b, &n.members()[i].val)
		}
		return append(b, '}')
	case jsonNull, jsonBool, jsonNumber, jsonString:
	}
	return append(b, n.text...)
}

// embed writes an inline or imported schema as a definition, and its own definitions beside it as `Name.X`.
func (d *deriver) embed(t *Type) {
	n, err := parse(t.Raw, MaxDepth)
	if err != nil || n.kind != jsonObject {
		d.raw(t.Name, "{}")
		return
	}
	d.key(t.Name)
	var defs *node
	kept := &more{}
	for i := range n.members() {
		switch m := n.members()[i]; m.key {
		case "$schema", "$id":
		case "$defs":
			defs = &n.members()[i].val
		default:
			kept.members = append(kept.members, m)
		}
	}
	d.renamed(&node{kind: jsonObject, more: kept}, t.Name)
	if defs == nil || defs.kind != jsonObject {
		return
	}
	for i := range defs.members() {
		d.key(t.Name + "." + defs.members()[i].key)
		d.renamed(&defs.members()[i].val, t.Name)
	}
}

// renamed writes a schema of the embedded text with its references rewritten. Only schemas are looked into: a default or a
// const may hold a member called `$ref` that is data.
func (d *deriver) renamed(n *node, owner string) {
	if n.kind != jsonObject {
		d.b = appendCompact(d.b, n)
		return
	}
	d.open()
	for i := range n.members() {
		m := &n.members()[i]
		d.key(m.key)
		switch {
		case m.key == "$ref" && m.val.kind == jsonString:
			rest := strings.TrimPrefix(m.val.str(), "#/$defs/")
			d.b = domain.AppendText(d.b, reference(owner)+"."+rest)
		case m.key == "items" || m.key == "additionalProperties":
			d.renamed(&m.val, owner)
		case m.key == "properties" && m.val.kind == jsonObject:
			d.open()
			for j := range m.val.members() {
				d.key(m.val.members()[j].key)
				d.renamed(&m.val.members()[j].val, owner)
			}
			d.close()
		default:
			d.b = appendCompact(d.b, &m.val)
		}
	}
	d.close()
}
