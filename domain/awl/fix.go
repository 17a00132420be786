package awl

import (
	"bytes"
	"cmp"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/repair"
	"aion/domain/awl/syntax"
)

// The bounds of Fix: how often it makes the fixes of a document, since mending one finding may show the next one, and how
// many bytes it judges to see whether fixes go together.
const (
	maxRounds   = 20
	roundBudget = 8 << 20
)

// suggest completes the findings of a report with the repairs that are certain.
func suggest(src []byte, o Options, r *Report) {
	o = remembered(o)
	repair.Suggest(src, r.Diagnostics, func(text []byte) []diag.Diagnostic {
		doc, parsed := syntax.Parse(text)
		_, found := check.Check(doc, parsed, o.Import)
		return found
	})
}

// remembered reads each import once, however often the text is judged.
func remembered(o Options) Options {
	if o.Import == nil {
		return o
	}
	type answer struct {
		text []byte
		err  error
	}
	read, known := o.Import, map[string]answer{}
	o.Import = func(path string) ([]byte, error) {
		a, ok := known[path]
		if !ok {
			a.text, a.err = read(path)
			known[path] = a
		}
		return a.text, a.err
	}
	return o
}

// Fix makes the fixes of a document's findings, and of what is found then, until no fix is left or one makes things worse.
// It answers the text, the title of each fix with the place where it was made, and the report on the text. src stays as it is.
func Fix(src []byte, o Options) (text []byte, made []string, r Report) {
	o = remembered(o)
	text, r = bytes.Clone(src), Check(src, o)
	left := roundBudget
	for range maxRounds {
		next, titles := round(text, o, r, &left)
		if next == nil {
			break
		}
		text, r = next, Check(next, o)
		made = append(made, titles...)
	}
	return text, made, r
}

// round makes all fixes of a report at once. When two of them do not go together it makes the first one that helps; when
// none does the text is nil.
func round(text []byte, o Options, r Report, left *int) (next []byte, titles []string) {
	var fixes []diag.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Fix != nil {
			fixes = append(fixes, d)
		}
	}
	tries := [][]diag.Diagnostic{fixes}
	for i := range fixes {
		tries = append(tries, fixes[i:i+1])
	}
	for _, try := range tries {
		next, n := diag.Apply(text, try)
		if *left -= len(next); n == 0 || bytes.Equal(next, text) || *left < 0 {
			continue
		}
		if _, after := judge(next, o, ""); !better(after, r) {
			continue
		}
		for _, f := range diag.Chosen(text, try) {
			titles = append(titles, f.Title(text))
		}
		return next, titles
	}
	return nil, nil
}

// better says whether a report has fewer errors of reading, or as many and fewer errors, or as many and fewer findings:
// some warnings show only when no error is left.
func better(a, b Report) bool {
	count := func(r Report) (reading, errs, all int) {
		for _, d := range r.Diagnostics {
			if d.Severity == diag.Error && ofReading(d.Code) {
				reading++
			}
			if d.Severity == diag.Error {
				errs += 1 + d.OmittedErrors
			}
			all += 1 + d.Omitted
		}
		return reading, errs, all
	}
	ar, ae, aa := count(a)
	br, be, ba := count(b)
	return cmp.Or(cmp.Compare(ar, br), cmp.Compare(ae, be), cmp.Compare(aa, ba)) < 0
}
