package schema

import (
	"strconv"
	"strings"
)

// keywords reports what is wrong with the keywords of one schema by themselves, and with the schemas that are enforced
// but not typed. It says whether everything was right.
func (p *projector) keywords(n *node, at place) bool {
	before := len(p.problems)
	for i := range n.members() {
		m := &n.members()[i]
		pointer := token(at.pointer, m.key)
		switch {
		case classOf(m.key) == refused:
			p.add(Problem{Code: "AWL7005", Offset: m.off, Pointer: pointer, Pairs: []string{"keyword", m.key}})
			continue
		case m.key == "$defs" && at.pointer != "":
			continue // unreachable: references name the root's
		}
		if what := defect(m); what != "" {
			p.shape(m.off, pointer, what)
			continue
		}
		if m.key == "additionalProperties" && m.val.kind == jsonObject {
			p.enforced(&m.val, place{pointer, m.off})
		}
	}
	p.undeclared(n, at)
	return len(p.problems) == before
}

// undeclared reports the names of `required` that are no properties.
func (p *projector) undeclared(n *node, at place) {
	m := n.member("required")
	if m == nil || !allStrings(&m.val) {
		return
	}
	declared := map[string]bool{}
	if props := n.member("properties"); props != nil {
		for i := range props.val.members() {
			declared[props.val.members()[i].key] = true
		}
	}
	for i := range m.val.elems() {
		if name := m.val.elems()[i].str(); !declared[name] {
			p.add(Problem{
				Code: "AWL7009", Offset: m.off, Pointer: at.pointer + "/required",
				Pairs: []string{"name", shorten(name)},
			})
		}
	}
}

// enforced reads a schema that values are held against without having a type by it: it may be as open as it likes, but its
// keywords must be known.
func (p *projector) enforced(n *node, at place) {
	if n.kind == jsonBool {
		return
	}
	if n.kind != jsonObject {
		p.shape(at.holder, at.pointer, "a schema is a JSON object, found "+n.kind.word())
		return
	}
	if n.member("$ref") != nil {
		p.schema(n, at)
		return
	}
	p.keywords(n, at)
	p.openProperties(n, at)
	p.openItems(n, at)
	if n.member("type") == nil && n.member("enum") == nil {
		return
	}
	if word, known := p.typeWord(n, at, false); known {
		p.enumFits(n, word, at)
		if word == "string" {
			p.text(&Type{}, n, at)
		}
	}
}

// openProperties reads properties that give no type.
func (p *projector) openProperties(n *node, at place) {
	m := n.member("properties")
	if m == nil || m.val.kind != jsonObject {
		return
	}
	for i := range m.val.members() {
		c := &m.val.members()[i]
		p.enforced(&c.val, place{token(at.pointer+"/properties", c.key), c.off})
	}
}

// openItems reads items that give no type.
func (p *projector) openItems(n *node, at place) {
	if m := n.member("items"); m != nil {
		p.enforced(&m.val, place{at.pointer + "/items", m.off})
	}
}

// definitionName gives the X of `#/$defs/X`.
func definitionName(ref string) (string, bool) {
	rest, ok := strings.CutPrefix(ref, "#/$defs/")
	if !ok || rest == "" || strings.Contains(rest, "/") {
		return "", false
	}
	name, ok := unescapeFragment(rest)
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~"), ok
}

// unescapeFragment undoes percent-encoding (RFC 3986, 2.1).
func unescapeFragment(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), true
}
