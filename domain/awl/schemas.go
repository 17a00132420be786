package awl

import (
	"encoding/json"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// Schemas are the JSON Schemas of a document (awl 4.5). Input and Outcome are nil in a worker document.
type Schemas struct {
	Input   json.RawMessage // what a run starts with
	Outcome json.RawMessage // what a run ends with
	Signals []plan.Port
	Types   []plan.TypeDef // every declared type, in written order
}

// Type gives the schema of a declared type.
func (s Schemas) Type(name string) (json.RawMessage, bool) {
	for _, t := range s.Types {
		if t.Name == name {
			return t.Schema, true
		}
	}
	return nil, false
}

// SchemasOf derives the schemas of a document. One that has errors has none: the answer is nil, and the report says why.
func SchemasOf(src []byte, o Options) (*Schemas, Report) {
	p, r := judge(src, o, "")
	if !r.OK {
		return nil, r
	}
	s := &Schemas{Signals: []plan.Port{}, Types: []plan.TypeDef{}}
	if p != nil {
		s.Input, s.Outcome, s.Signals = p.InputSchema, p.OutcomeSchema, p.Signals
	}
	doc, parsed := syntax.Parse(src)
	res, found := check.Check(doc, parsed, o.Import)
	if diag.HasErrors(found) {
		return nil, r
	}
	size := 0
	for _, d := range doc.Types {
		t := res.Types[d.Name.Name]
		if t == nil || size > maxSchemaBytes {
			continue
		}
		def := plan.TypeDef{Name: d.Name.Name, Schema: schema.Of(t)}
		size += len(def.Schema)
		s.Types = append(s.Types, def)
	}
	return s, r
}

// maxSchemaBytes bounds the schemas of all types together: each holds the types that it refers to, so a small document can
// ask for much. The types behind the limit are left out.
const maxSchemaBytes = 16 << 20
