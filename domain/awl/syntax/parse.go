package syntax

import (
	"slices"
	"strconv"

	"aion/domain/awl/diag"
)

// Parse reads a document. It always gives a document, which holds what was understood, and its findings: all 0xxx and
// 1xxx rules, and AWL3011 for `null`, sorted, at most 1,000 (an AWL0004 that closes the list counts the rest). Statements,
// clauses and declarations that were not understood are left out; steps with an error inside are marked as Broken.
// A document whose header is missing has an empty Header. A document over the limit of size is not read at all.
func Parse(src []byte) (*Document, []diag.Diagnostic) {
	if len(src) > MaxBytes {
		start := diag.Pos{Line: 1, Column: 1}
		d := diag.New("AWL0003", diag.Span{Start: start, End: start}, "n", strconv.Itoa(len(src)))
		return &Document{Header: &Header{}, End: start}, []diag.Diagnostic{d}
	}
	p := newParser(string(src))
	p.document()
	return p.doc, p.finish()
}

// document = narration ( workflow_doc | worker_doc )
func (p *parser) document() {
	for _, line := range p.tok.narration {
		p.doc.Narration = append(p.doc.Narration, line.text)
	}
	p.doc.Leading, p.tok.lead = p.tok.lead[:p.tok.above:p.tok.above], p.tok.lead[p.tok.above:]
	p.doc.BlankAfter = p.tok.gap
	p.tok.narration = nil
	p.opening()
	p.list(p.declaration)
	p.doc.Trailing = append(p.doc.Trailing, p.tok.lead...)
	p.doc.End = p.tok.span.Start
	p.tok.lead = nil
	p.next() // docs at the end attach to nothing
	if len(p.doc.Narration) == 0 && !p.lateNarration {
		start := diag.Pos{Line: 1, Column: 1}
		p.found.report("AWL1001", diag.Span{Start: start, End: start})
	}
}

// opening reads the header of a workflow document. A worker document has none: its worker block is a declaration.
func (p *parser) opening() {
	for p.tok.kind == indent {
		p.strayIndent()
	}
	for p.foreignWord() {
		p.drop()
	}
	switch {
	case p.tok.is("workflow"):
		p.header()
		return
	case p.tok.is("worker"):
		return
	}
	p.noHeader = true
	p.doc.Header = &Header{}
	p.fail("AWL1004", p.tok.span, "found", p.tok.describe())
	p.bad = false
	if p.tok.kind == word && !declares(p.tok.text) {
		p.drop()
	}
}

// declares says whether a word starts a declaration of the top level.
func declares(w string) bool {
	switch w {
	case "const", "type", "command", "worker", "child", "subflow", "step":
		return true
	}
	return false
}

// finish settles what needs the whole document, and gives the findings.
func (p *parser) finish() []diag.Diagnostic {
	p.reportPositional()
	p.found.list = slices.DeleteFunc(p.found.list, p.followsUnclosed)
	list := p.found.sorted()
	p.markBroken(list)
	return list
}

// followsUnclosed says whether a finding is the consequence of a bracket that was never closed before it.
func (p *parser) followsUnclosed(d diag.Diagnostic) bool {
	return d.Code == "AWL1005" && slices.ContainsFunc(p.sc.unclosed, func(s diag.Span) bool {
		return d.Span.Start.Offset > s.Start.Offset && d.Span.Start.Offset <= s.End.Offset
	})
}

// stepRange is the part of the document that a step covers.
type stepRange struct {
	step       *Step
	start, end int
}

// markBroken marks the steps with a 0xxx or 1xxx finding inside; all of them when findings were left out.
func (p *parser) markBroken(list []diag.Diagnostic) {
	var offsets []int
	for _, d := range list {
		if d.Code < "AWL2" {
			offsets = append(offsets, d.Span.Start.Offset)
		}
	}
	slices.Sort(offsets)
	for _, r := range p.ranges {
		i, _ := slices.BinarySearch(offsets, r.start)
		r.step.Broken = p.found.omitted > 0 || i < len(offsets) && offsets[i] <= r.end
	}
}
