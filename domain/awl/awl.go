package awl

import (
	"errors"
	"strconv"
	"strings"

	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/document"
)

// Check judges a document: everything that can be known about it before a run, with the repair of each finding that has a
// certain one. It writes nothing and is safe for concurrent use as long as o.Import is.
func Check(src []byte, o Options) Report {
	_, r := judge(src, o, "")
	suggest(src, o, &r)
	return r
}

// Compile makes the plan of a document. The plan's content hash, which names the version, is ContentHash(src, o.Import). A
// document that does not check, and a worker document, give no plan but the error of Report.Refusal. Repairs are looked
// for by Check alone.
func Compile(src []byte, o Options) (*plan.Plan, Report, error) {
	p, r := judge(src, o, ContentHash(src, o.Import))
	if p == nil {
		return nil, r, r.Refusal("the document")
	}
	return p, r, nil
}

// Format gives the canonical form of a document, with its findings of reading. A document that could not be read as a whole
// (a 0xxx or 1xxx error) has none: the text is nil.
func Format(src []byte) ([]byte, []diag.Diagnostic) {
	doc, found := syntax.Parse(src)
	limited := diag.Limit(found)
	for _, d := range found {
		if d.Severity == diag.Error && ofReading(d.Code) {
			return nil, limited
		}
	}
	return syntax.Print(doc), limited
}

func ofReading(code string) bool {
	return strings.HasPrefix(code, "AWL0") || strings.HasPrefix(code, "AWL1")
}

// ContentHash names a document together with the schema files it imports (awl 9.3), whether or not it parses. imp is that
// of Options; without it every import counts as missing.
func ContentHash(src []byte, imp func(path string) ([]byte, error)) string {
	var imports []document.Import
	for _, path := range syntax.ImportPaths(src) {
		i := document.Import{Path: path, Missing: true}
		if imp != nil && document.ValidImport(path) {
			if b, err := imp(path); err == nil {
				i.Bytes, i.Missing = b, false
			}
		}
		imports = append(imports, i)
	}
	return document.ContentHash(src, imports)
}

// judge checks a document and compiles it, which is the last of the checks.
func judge(src []byte, o Options, contentHash string) (*plan.Plan, Report) {
	doc, parsed := syntax.Parse(src)
	res, found := check.Check(doc, parsed, o.Import)
	var p *plan.Plan
	if doc.Header != nil && !diag.HasErrors(found) {
		var err error
		if p, err = compile.Compile(doc, res, contentHash); err != nil {
			found = append(found, beyond(err))
		}
	}
	r := Report{OK: !diag.HasErrors(found), DeploysGreen: p != nil, Diagnostics: diag.Limit(found)}
	if r.OK {
		r.Steps = res.Steps
	}
	return p, r
}

// beyond is the finding of a plan that would be too large or too deep.
func beyond(err error) diag.Diagnostic {
	l := &compile.LimitError{What: "the compiled plan"}
	errors.As(err, &l)
	return diag.New("AWL0004", l.Span, "what", l.What, "limit", strconv.Itoa(l.Limit))
}
