package check

import (
	"strings"

	"aion/domain/awl/diag"
)

// report collects findings and knows which of them are never shown (awl 5.1).
type report struct {
	list    []diag.Diagnostic
	codes   map[string]bool // codes of the parser
	lenient bool            // there is a 0xxx or 1xxx error: names and flow cannot be judged
	muted   int             // readings that run and whose findings were reported before
	guesses int             // names that were compared in the search for near ones
}

// maxGuesses bounds the search for near names: a document with more mistakes shows 100 findings anyway.
const maxGuesses = 100_000

func newReport(parsed []diag.Diagnostic) *report {
	r := &report{codes: map[string]bool{}}
	r.list = append(r.list, parsed...)
	for _, d := range parsed {
		r.codes[d.Code] = true
		isText := strings.HasPrefix(d.Code, "AWL0") || strings.HasPrefix(d.Code, "AWL1")
		r.lenient = r.lenient || isText && d.Severity == diag.Error
	}
	return r
}

// has says whether the parser reported a code.
func (r *report) has(code string) bool { return r.codes[code] }

// add notes a finding. The pairs are placeholder names and their values.
func (r *report) add(code string, at diag.Span, pairs ...string) {
	if r.muted > 0 || r.lenient && guesswork(code) {
		return
	}
	r.list = append(r.list, diag.New(code, at, pairs...))
}

// minGuessed is the length of the shortest name that another one can be taken for.
const minGuessed = 3

// guessing says whether near names are still looked for.
func (r *report) guessing() bool { return r.guesses < maxGuesses && !r.lenient }

// closest is the candidate that was probably meant by a name that is not there.
func (r *report) closest(name string, candidates []string) string {
	if !r.guessing() || len(name) < minGuessed {
		return ""
	}
	r.guesses += len(candidates)
	return diag.Closest(name, candidates)
}

// advise notes a finding with a hint of its own; an empty one leaves that of the catalogue.
func (r *report) advise(hint, code string, at diag.Span, pairs ...string) {
	before := len(r.list)
	r.add(code, at, pairs...)
	if len(r.list) > before && hint != "" {
		r.list[before].Hint = hint
	}
}

// misspelt notes a finding about a name that is not there. When a declared one is near, the hint names it and the repair
// is to write it: prefix and the near name in place of the token.
func (r *report) misspelt(code string, at diag.Span, prefix, near string, pairs ...string) {
	if r.muted > 0 || r.lenient && guesswork(code) {
		return
	}
	d := diag.New(code, at, append(pairs, "closest", near)...)
	if near != "" {
		d.Fix = &diag.Fix{Span: at, Text: prefix + near}
	}
	r.list = append(r.list, d)
}

// all gives the findings, sorted. Some warnings are only worth saying about a document without errors.
func (r *report) all() []diag.Diagnostic {
	list := diag.Sort(r.list)
	if !diag.HasErrors(list) {
		return list
	}
	kept := list[:0]
	for _, d := range list {
		if d.Code != "AWL2026" && d.Code != "AWL4017" && d.Code != "AWL6019" {
			kept = append(kept, d)
		}
	}
	return kept
}

// guesswork says whether a finding depends on what a text that was not understood may have meant.
func guesswork(code string) bool {
	switch code {
	case "AWL2005", "AWL2006", "AWL2007", "AWL2010", "AWL2011", "AWL2012", "AWL2013", "AWL2020", "AWL3006", "AWL3014":
		return true
	case "AWL5010", "AWL5011", "AWL5012":
		return false
	}
	return strings.HasPrefix(code, "AWL4") || strings.HasPrefix(code, "AWL5")
}
