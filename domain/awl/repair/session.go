package repair

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// Judge gives all findings of a text.
type Judge func(src []byte) []diag.Diagnostic

// The budget of one document, in bytes of text that are judged again. It does not depend on time, so the answer does not
// either; a large document gets few tries, or none.
const (
	budget      = 1 << 18
	parseShare  = 4 // reading a text costs this part of judging it
	maxFindings = 20
)

// Suggest completes the findings that have one certain repair. A fix that a finding has already is tried first, and kept
// when nothing better is found. judge is how they were found; src has all of
// ds, and no others. It changes ds in place.
func Suggest(src []byte, ds []diag.Diagnostic, judge Judge) {
	if len(ds) == 0 || len(ds) >= diag.MaxFindings || len(src) > budget/2 {
		return
	}
	s := newSession(string(src), ds, judge)
	found := map[int]repaired{}
	tried := 0
	for i := range ds {
		byOther := slices.ContainsFunc(slices.Collect(maps.Values(found)), func(r repaired) bool { return !r.leaves(&ds[i]) })
		if byOther || s.before.text > 0 && !ofText(ds[i]) {
			continue
		}
		if tried++; tried > maxFindings {
			break
		}
		if e := s.repair(&ds[i]); e != nil {
			found[i] = repaired{*e, s.judged[s.with(e)].after}
		}
	}
	for i, r := range found {
		consequence := false // another repair mends this finding too, and this one does not mend that one's
		for j, other := range found {
			consequence = consequence || i != j && !other.leaves(&ds[i]) && r.leaves(&ds[j])
		}
		ds[i].Fix = nil
		if !consequence {
			ds[i].Fix = &diag.Fix{Span: diag.Span{Start: s.pos(r.edit.from), End: s.pos(r.edit.to)}, Text: r.edit.text}
		}
	}
}

// repaired is a repair that passed, and the findings of the text that it makes.
type repaired struct {
	edit  edit
	after []diag.Diagnostic
}

// leaves says whether a finding is still there after the repair.
func (r repaired) leaves(d *diag.Diagnostic) bool {
	at := moved(d.Span.Start.Offset, &r.edit)
	return slices.ContainsFunc(r.after, func(a diag.Diagnostic) bool {
		return a.Code == d.Code && a.Span.Start.Offset == at
	})
}

// with is the text that an edit makes.
func (s *session) with(e *edit) string { return s.src[:e.from] + e.text + s.src[e.to:] }

// moved is where an offset stands after an edit.
func moved(at int, e *edit) int {
	if at >= e.to {
		return at + len(e.text) - (e.to - e.from)
	}
	return at
}

// session is the search for the repairs of one document.
type session struct {
	src    string
	lines  []int // offset of each line's start
	toks   []lexeme
	facts  *facts
	ds     []diag.Diagnostic
	before measure
	left   int // bytes that may still be judged
	judge  Judge
	judged map[string]verdict // of the finding at hand
}

// verdict is what came of a proposal.
type verdict struct {
	m     measure
	ok    bool
	after []diag.Diagnostic
}

func newSession(src string, ds []diag.Diagnostic, judge Judge) *session {
	s := &session{src: src, ds: ds, before: measured(ds), left: budget, judge: judge, lines: []int{0}, judged: map[string]verdict{}}
	for i := range len(src) {
		if src[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	s.toks = lex(src)
	s.facts = newFacts(src)
	return s
}

// measure is how bad a text is; of two the one with fewer errors of reading is better, then the one with fewer errors.
type measure struct{ text, errors, warnings int }

func (m measure) compare(o measure) int {
	return cmp.Or(cmp.Compare(m.text, o.text), cmp.Compare(m.errors, o.errors), cmp.Compare(m.warnings, o.warnings))
}

func measured(ds []diag.Diagnostic) measure {
	var m measure
	for _, d := range ds {
		switch {
		case d.Severity == diag.Warning:
			m.warnings++
		case ofText(d):
			m.text++
			m.errors++
		default:
			m.errors++
		}
	}
	return m
}

// ofText says whether a finding is about reading the text: others are not judged before these are mended.
func ofText(d diag.Diagnostic) bool {
	return d.Severity == diag.Error && d.Code < "AWL2" || d.Code == "AWL3011"
}

// edit is a proposal: it replaces a range of the text. Proposals of one rank are equally plausible.
type edit struct {
	from, to int
	text     string
	rank     int
}

// repair is the certain repair of a finding; nil when there is none. A proposal that leaves no error at all is taken
// wherever it ranks; in a document with more mistakes one that is not far-fetched is enough.
func (s *session) repair(d *diag.Diagnostic) *edit {
	proposals := s.proposals(d)
	slices.SortStableFunc(proposals, func(a, b edit) int { return cmp.Compare(a.rank, b.rank) })
	clear(s.judged)
	if fix := s.search(d, proposals, true); fix != nil {
		return fix
	}
	likely := slices.IndexFunc(proposals, func(e edit) bool { return e.rank >= rankDropped })
	if likely < 0 {
		likely = len(proposals)
	}
	return s.search(d, proposals[:likely], false)
}

// search goes through proposals rank by rank, and stops at the first rank of which one passes.
func (s *session) search(d *diag.Diagnostic, proposals []edit, green bool) *edit {
	for len(proposals) > 0 {
		n := 1
		for n < len(proposals) && proposals[n].rank == proposals[0].rank {
			n++
		}
		if e, decided := s.best(d, proposals[:n], green); decided {
			return e
		}
		proposals = proposals[n:]
	}
	return nil
}

// best judges proposals of one rank. It decides when one of them passes: for that one, or for none when they differ.
func (s *session) best(d *diag.Diagnostic, proposals []edit, green bool) (chosen *edit, decided bool) {
	var top measure
	var form string
	unique := true
	seen := map[string]bool{}
	for i := range proposals {
		e := &proposals[i]
		if s.left < 0 {
			break
		}
		text := s.with(e)
		if text == s.src || seen[text] {
			continue
		}
		seen[text] = true
		m, ok := s.passes(d, e, text)
		if !ok || green && m.errors > 0 {
			continue
		}
		f := normal(text)
		switch c := m.compare(top); {
		case chosen == nil || c < 0:
			top, chosen, form, unique = m, e, f, true
		case c == 0 && f != form:
			unique = false
		}
	}
	if chosen == nil {
		return nil, false
	}
	if !unique {
		return nil, true
	}
	return chosen, true
}

// normal is a text without the difference that white space makes within a line.
func normal(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		b.WriteString(line[:indent])
		for _, t := range lex(line) {
			b.WriteString(t.text)
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// passes judges the text that a proposal makes, once.
func (s *session) passes(d *diag.Diagnostic, e *edit, text string) (measure, bool) {
	v, known := s.judged[text]
	if !known {
		v = s.passesNow(d, e, text)
		s.judged[text] = v
	}
	return v.m, v.ok
}

func (s *session) passesNow(d *diag.Diagnostic, e *edit, text string) verdict {
	if s.left -= len(text) / parseShare; s.left < 0 {
		return verdict{}
	}
	if ofText(*d) {
		_, parsed := syntax.Parse([]byte(text))
		if measured(parsed).text >= s.before.text {
			return verdict{}
		}
	}
	if s.left -= len(text); s.left < 0 {
		return verdict{}
	}
	after := s.judge([]byte(text))
	m := measured(after)
	if m.compare(s.before) >= 0 || s.worse(d, e, after) {
		return verdict{}
	}
	return verdict{m: m, ok: true, after: after}
}

// worse says whether a judged text still has the finding, or has a new one where it was edited.
func (s *session) worse(d *diag.Diagnostic, e *edit, after []diag.Diagnostic) bool {
	first := s.pos(e.from).Line
	last := first + strings.Count(e.text, "\n")
	at := moved(d.Span.Start.Offset, e)
	return slices.ContainsFunc(after, func(a diag.Diagnostic) bool {
		if a.Code == d.Code && a.Span.Start.Offset == at && a.Message == d.Message {
			return true
		}
		if l := a.Span.Start.Line; l < first || l > last || a.Severity == diag.Warning {
			return false
		}
		return !slices.ContainsFunc(s.ds, func(b diag.Diagnostic) bool { return b.Code == a.Code && b.Span.Start.Line == first })
	})
}

// pos is the place of an offset.
func (s *session) pos(offset int) diag.Pos {
	i, found := slices.BinarySearch(s.lines, offset)
	if !found {
		i--
	}
	column := len([]rune(s.src[s.lines[i]:offset])) + 1
	return diag.Pos{Offset: offset, Line: i + 1, Column: column}
}

// line is the range of a line, without its end; lines count from 1.
func (s *session) line(n int) (from, to int) {
	if n < 1 || n > len(s.lines) {
		return len(s.src), len(s.src)
	}
	from, to = s.lines[n-1], len(s.src)
	if n < len(s.lines) {
		to = s.lines[n] - 1
	}
	if to > from && s.src[to-1] == '\r' {
		to--
	}
	return from, to
}

// judgeWith judges the text with something inserted.
func (s *session) judgeWith(at int, text string) []diag.Diagnostic {
	if s.left -= len(s.src) + len(text); s.left < 0 {
		return nil
	}
	return s.judge([]byte(s.src[:at] + text + s.src[at:]))
}
