package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// MaxBytes is the limit of one schema (awl 2.1).
const MaxBytes = 256 << 10

// maxProblems bounds what is said about one schema.
const maxProblems = 100

// Problem is one reason why a schema has no type (awl 5.2). Offset is the byte in the schema's text at which the offending
// keyword, or the schema itself, starts; Pointer is the same place as a JSON pointer; Pairs are the names and values of the
// message's placeholders, in turn.
type Problem struct {
	Code    string
	Offset  int
	Pointer string
	Pairs   []string
}

// Project reads the type that a schema describes (awl 4.6). The type's Raw is the text; its Name is left to the caller, and
// a type from `$defs` bears the name it has there. A reference that leads back gives a type that points to itself. With
// problems, which stand in the order of the text, the parts that were not understood have the kind Unknown; a text that is
// no JSON is Unknown as a whole. The code of such a text is AWL7001.
func Project(raw []byte) (*Type, []Problem) {
	if len(raw) > MaxBytes {
		return &Type{Kind: Unknown}, []Problem{{
			Code:  "AWL7010",
			Pairs: []string{"what", "size", "limit", strconv.Itoa(MaxBytes) + " bytes"},
		}}
	}
	root, err := parse(raw, MaxDepth)
	if err != nil {
		return &Type{Kind: Unknown}, []Problem{textProblem(err)}
	}
	p := newProjector()
	t := p.root(root)
	t.Raw = slices.Clone(raw)
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Offset - b.Offset })
	return t, p.problems
}

func textProblem(err *textError) Problem {
	if err.tooDeep {
		return Problem{
			Code: "AWL7010", Offset: err.off,
			Pairs: []string{"what", "nesting", "limit", strconv.Itoa(MaxDepth)},
		}
	}
	return Problem{Code: "AWL7001", Offset: err.off, Pairs: []string{"detail", err.detail}}
}

// place is where a schema stands: its pointer, and the offset of whatever holds it (for a schema that is no object).
type place struct {
	pointer string
	holder  int
}

type projector struct {
	defs     *node              // the root's `$defs`; nil when there are none
	named    map[string]*member // the same by name
	types    map[string]*Type   // by definition; filled in while it is read, so that a reference can lead back
	chain    map[string]bool    // definitions that are nothing but references, while they are followed
	problems []Problem
}

// TypeOf reads the type of a schema that was derived from one, whatever its root is. ok is false when the schema, or a part
// of it, has no type; that part is Unknown.
func TypeOf(raw []byte) (t *Type, ok bool) {
	root, err := parse(raw, MaxDepth)
	if err != nil {
		return &Type{Kind: Unknown}, false
	}
	p := newProjector()
	t = p.read(root)
	return t, len(p.problems) == 0
}

func newProjector() projector {
	return projector{named: map[string]*member{}, types: map[string]*Type{}, chain: map[string]bool{}}
}

func (p *projector) root(n *node) *Type {
	t := p.read(n)
	if t.Kind != Record && t.Kind != Enum && t.Kind != Unknown {
		off, pointer := n.at(), ""
		if m := n.member("type"); m != nil {
			off, pointer = m.off, "/type"
		}
		p.shape(off, pointer, "the root of a schema is an object or an enum of strings")
		return &Type{Kind: Unknown}
	}
	c := *t // a root that is nothing but a reference shares its type
	return &c
}

func (p *projector) read(n *node) *Type {
	if n.kind != jsonObject {
		p.shape(0, "", "a schema is a JSON object, found "+n.kind.word())
		return &Type{Kind: Unknown}
	}
	if m := n.member("$defs"); m != nil && m.val.kind == jsonObject {
		p.defs = &m.val
		for i := range p.defs.members() {
			p.named[p.defs.members()[i].key] = &p.defs.members()[i]
		}
	}
	t := p.schema(n, place{})
	p.definitions()
	return t
}

// definitions reads those that nothing refers to as well: one pass reports everything.
func (p *projector) definitions() {
	if p.defs == nil {
		return
	}
	for i := range p.defs.members() {
		p.definition(&p.defs.members()[i])
	}
}

func (p *projector) definition(m *member) *Type {
	if t, ok := p.types[m.key]; ok {
		return t
	}
	at := place{pointer: token("/$defs", m.key), holder: m.off}
	if ref := m.val.member("$ref"); m.val.kind == jsonObject && ref != nil {
		if p.chain[m.key] || len(p.chain) >= MaxDepth {
			p.reference(ref, at)
			return &Type{Kind: Unknown}
		}
		p.chain[m.key] = true
		t := p.schema(&m.val, at)
		delete(p.chain, m.key)
		p.types[m.key] = t
		return t
	}
	t := &Type{Name: m.key}
	p.types[m.key] = t
	chain := p.chain // inside an object or a list a reference may lead back
	p.chain = map[string]bool{}
	p.fill(t, &m.val, at)
	p.chain = chain
	return t
}

// schema reads the schema n.
func (p *projector) schema(n *node, at place) *Type {
	if m := n.member("$ref"); n.kind == jsonObject && m != nil {
		return p.referenced(n, m, at)
	}
	t := &Type{}
	p.fill(t, n, at)
	return t
}

// referenced reads a schema with a reference. What stands beside the reference narrows the values further and is enforced
// on them; for the type the reference decides.
func (p *projector) referenced(n *node, ref *member, at place) *Type {
	p.keywords(n, at)
	p.openProperties(n, at)
	p.openItems(n, at)
	if ref.val.kind != jsonString {
		return &Type{Kind: Unknown} // reported as a defect of the keyword
	}
	if name, ok := definitionName(ref.val.str()); ok {
		if m := p.named[name]; m != nil {
			return p.definition(m)
		}
	}
	p.reference(ref, at)
	return &Type{Kind: Unknown}
}

// fill makes t the type of a schema without a reference.
func (p *projector) fill(t *Type, n *node, at place) {
	t.Kind = Unknown
	if n.kind != jsonObject {
		p.shape(at.holder, at.pointer, "a schema is a JSON object, found "+n.kind.word())
		return
	}
	if m := n.member("description"); m != nil && m.val.kind == jsonString {
		t.Doc = m.val.str()
	}
	clean := p.keywords(n, at)
	word, known := p.typeWord(n, at, clean)
	if word != "object" {
		p.openProperties(n, at)
	}
	if word != "array" {
		p.openItems(n, at)
	}
	if !known {
		return
	}
	switch word {
	case "object":
		p.record(t, n, at)
	case "array":
		p.list(t, n, at)
	case "string":
		p.text(t, n, at)
	case "integer":
		t.Kind = Int
	case "number":
		t.Kind = Float
	case "boolean":
		t.Kind = Bool
	}
	p.enumFits(n, word, at)
}

// typeWord is the one type of a schema, written or inferred. A schema without one is reported unless something else in it
// was (clean is false).
func (p *projector) typeWord(n *node, at place, clean bool) (word string, known bool) {
	m := n.member("type")
	if m == nil {
		for _, k := range [][2]string{{"properties", "object"}, {"items", "array"}, {"enum", "string"}} {
			if n.member(k[0]) != nil {
				return k[1], true
			}
		}
		if clean {
			p.shape(n.at(), at.pointer, "the schema has no `type`, and nothing to infer one from")
		}
		return "", false
	}
	pointer := at.pointer + "/type"
	switch v := &m.val; {
	case v.kind == jsonString && v.str() == "null", v.kind == jsonArray && hasNull(v):
		p.add(Problem{Code: "AWL7006", Offset: m.off, Pointer: pointer})
	case v.kind == jsonArray:
		p.shape(m.off, pointer, "`type` names several types; a value has one")
	case v.kind != jsonString || kindNamed(v.str()) == 0:
		p.shape(m.off, pointer, "`type` is one of object, array, string, integer, number and boolean")
	default:
		return v.str(), true
	}
	return "", false
}

func hasNull(v *node) bool {
	return slices.ContainsFunc(v.elems(), func(e node) bool {
		return e.kind == jsonNull || e.kind == jsonString && e.str() == "null"
	})
}

func (p *projector) record(t *Type, n *node, at place) {
	t.Kind = Record
	needed := map[string]bool{}
	if m := n.member("required"); m != nil && allStrings(&m.val) {
		for i := range m.val.elems() {
			needed[m.val.elems()[i].str()] = true
		}
	}
	props := n.member("properties")
	if props == nil || props.val.kind != jsonObject {
		return
	}
	for i := range props.val.members() {
		m := &props.val.members()[i]
		f := Field{Name: m.key, Type: p.schema(&m.val, place{token(at.pointer+"/properties", m.key), m.off})}
		if d := m.val.member("description"); d != nil && d.val.kind == jsonString {
			f.Doc = d.val.str()
		}
		if !needed[m.key] && f.Type.Kind != Unknown {
			f.Type = &Type{Kind: Optional, Elem: f.Type}
		}
		t.Fields = append(t.Fields, f)
	}
}

func (p *projector) list(t *Type, n *node, at place) {
	m := n.member("items")
	if m == nil {
		p.shape(n.at(), at.pointer, "an array schema needs `items`")
		return
	}
	t.Kind = List
	t.Elem = p.schema(&m.val, place{at.pointer + "/items", m.off})
}

func (p *projector) text(t *Type, n *node, at place) {
	m := n.member("enum")
	if m == nil {
		t.Kind = String
		if f := n.member("format"); f != nil && f.val.kind == jsonString && f.val.str() == dirFormat {
			t.Kind = Dir
		}
		return
	}
	pointer := at.pointer + "/enum"
	switch v := &m.val; {
	case v.kind == jsonArray && slices.ContainsFunc(v.elems(), func(e node) bool { return e.kind == jsonNull }):
		p.add(Problem{Code: "AWL7006", Offset: m.off, Pointer: pointer})
	case !allStrings(v) || len(v.elems()) == 0:
		p.shape(m.off, pointer, "`enum` is a list of strings")
	default:
		t.Kind = Enum
		seen := map[string]bool{}
		for i := range v.elems() {
			if s := v.elems()[i].str(); !seen[s] {
				seen[s] = true
				t.Variants = append(t.Variants, s)
			}
		}
	}
}

// enumFits refuses an enum beside a type that is not String.
func (p *projector) enumFits(n *node, word string, at place) {
	if m := n.member("enum"); m != nil && word != "string" {
		p.shape(m.off, at.pointer+"/enum", fmt.Sprintf("`enum` lists strings and cannot stand beside the type %s", word))
	}
}

func (p *projector) add(q Problem) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, q)
	}
}

func (p *projector) shape(off int, pointer, what string) {
	p.add(Problem{Code: "AWL7008", Offset: off, Pointer: pointer, Pairs: []string{"what", what}})
}

func (p *projector) reference(ref *member, at place) {
	p.add(Problem{
		Code: "AWL7007", Offset: ref.off, Pointer: at.pointer + "/$ref",
		Pairs: []string{"ref", shorten(ref.val.str())},
	})
}
