package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxFindings is how many findings are reported for one document.
const MaxFindings = 100

// Sort orders findings by line, column and code, and keeps one per code and position: the first that was given.
// It works in place and returns the shortened slice.
func Sort(ds []Diagnostic) []Diagnostic {
	slices.SortStableFunc(ds, compare)
	return slices.CompactFunc(ds, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	p, q := a.Span.Start, b.Span.Start
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column), cmp.Compare(a.Code, b.Code))
}

// HasErrors says whether a finding is an error.
func HasErrors(ds []Diagnostic) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Limit sorts findings and keeps at most MaxFindings: errors before warnings, and within each the ones that stand first.
// When some are left out, the last of the list is an AWL0004 that says how many; it is a warning when only warnings are
// missing. Findings that an earlier step left out (Omitted) are counted along.
func Limit(ds []Diagnostic) []Diagnostic {
	var all []Diagnostic
	var omitted, omittedErrors int
	for _, d := range ds {
		if d.Omitted > 0 {
			omitted += d.Omitted
			omittedErrors += d.OmittedErrors
			continue
		}
		all = append(all, d)
	}
	all = Sort(all)
	if len(all) <= MaxFindings && omitted == 0 {
		return all
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	kept := min(len(all), MaxFindings-1)
	rest := all[kept:]
	for _, d := range rest {
		omitted++
		if d.Severity == Error {
			omittedErrors++
		}
	}
	list := Sort(slices.Clone(all[:kept]))
	return append(list, Full(place(list, rest), omitted, omittedErrors))
}

// place gives the position of the closing finding: the first one left out, unless that stands before the last one kept.
func place(kept, rest []Diagnostic) Span {
	var last Pos
	if len(kept) > 0 {
		last = kept[len(kept)-1].Span.End
	}
	if len(rest) > 0 && rest[0].Span.Start.Offset >= last.Offset {
		return rest[0].Span
	}
	return Span{last, last}
}

// Full is the finding that closes a list: it says how many findings were left out.
func Full(at Span, omitted, omittedErrors int) Diagnostic {
	d := New("AWL0004", at, "what", fmt.Sprintf("the number of findings (%d left out)", omitted),
		"limit", fmt.Sprint(MaxFindings))
	d.Hint = "fix the findings above and check again"
	d.Omitted, d.OmittedErrors = omitted, omittedErrors
	if omittedErrors == 0 {
		d.Severity = Warning
	}
	return d
}
