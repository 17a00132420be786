package check

import (
	"encoding/json"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// Result is what the checker has learnt about a document and the compiler builds on. Parts with an error are left out.
type Result struct {
	Types     map[string]*schema.Type    // every declared type that was understood
	Consts    map[string]json.RawMessage // folded, canonical JSON (object keys sorted, compact); durations stand apart
	Durations map[string]int64           // duration consts in ms
	Steps     int                        // top-level steps
}

// Check judges a parsed document. parsed are the findings of the parser; the answer holds both, sorted, one per code and
// position, not yet limited to 100. imp reads an imported schema by its import path; nil means that the document has no
// path. Check keeps nothing and is safe for concurrent use as long as imp is.
func Check(doc *syntax.Document, parsed []diag.Diagnostic, imp func(path string) ([]byte, error)) (Result, []diag.Diagnostic) {
	c := newChecker(doc, parsed, imp)
	c.declare()
	c.resolveTypes()
	c.resolveSignatures()
	c.foldConsts()
	c.checkHeader()
	c.checkCommands()
	c.checkWorkers()
	c.checkFlows()
	c.checkUse()
	return c.result(), c.found.all()
}

// checker holds what the passes share. Each pass fills what the next ones read.
type checker struct {
	doc      *syntax.Document
	imp      func(path string) ([]byte, error)
	found    *report
	isWorker bool // a worker document

	builtin builtins
	same    *comparer
	shapes  shapes

	types    namespace[*declaredType]
	consts   namespace[*constant]
	inputs   namespace[*port]
	signals  namespace[*port]
	outcomes namespace[*outcome]
	commands namespace[*command]
	ops      namespace[*operation]

	operations []*operation // all of them, also those whose name was taken

	variants map[string][]*declaredType // the enums that declare a variant, in declared order
	folded   int                        // bytes of all folded consts
	groups   map[*syntax.Step]*flow     // the flow of a group of substeps, by its first
	calling  map[string][]subflowCall   // subflow calls, by the subflow they stand in
}

func newChecker(doc *syntax.Document, parsed []diag.Diagnostic, imp func(string) ([]byte, error)) *checker {
	c := &checker{
		doc: doc, imp: imp, found: newReport(parsed), builtin: newBuiltins(), same: newComparer(), shapes: newShapes(),
		variants: map[string][]*declaredType{}, groups: map[*syntax.Step]*flow{}, calling: map[string][]subflowCall{},
	}
	c.isWorker = doc.Header == nil && len(doc.Workers) > 0 && !c.found.has("AWL1004")
	return c
}

func (c *checker) result() Result {
	r := Result{
		Types: map[string]*schema.Type{}, Consts: map[string]json.RawMessage{}, Durations: map[string]int64{},
		Steps: len(c.doc.Steps),
	}
	for name, t := range c.types.byName {
		if t.typ.Kind != schema.Unknown {
			r.Types[name] = t.typ
		}
	}
	for name, k := range c.consts.byName {
		switch {
		case k.isDuration:
			r.Durations[name] = k.ms
		case k.value.typ != nil && k.value.typ.Kind != schema.Unknown:
			r.Consts[name] = k.value.encode()
		}
	}
	return r
}
