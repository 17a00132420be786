package repair

import (
	"slices"
	"strings"

	"aion/domain/awl/diag"
)

// Ranks of proposals. What the message itself says comes first, what only fits comes last.
const (
	rankSaid     = 10 // the message, or the code, names the repair
	rankDoubled  = 19 // a word that stands there twice
	rankTypo     = 20 // a word that is nearly one of the language, a mark of another language
	rankExpected = 30 // what the message expected stands there, or the line is indented otherwise
	rankDropped  = 40 // one token too many
	rankMissing  = 50 // one token too few
	rankNamed    = 60 // one name too few
)

// proposals are the edits that may mend a finding.
func (s *session) proposals(d *diag.Diagnostic) []edit {
	p := &proposer{session: s, d: d, from: d.Span.Start.Offset, to: d.Span.End.Offset}
	p.i = s.at(p.from)
	if f := d.Fix; f != nil {
		p.add(0, f.Span.Start.Offset, f.Span.End.Offset, f.Text)
	}
	p.specific()
	if ofText(*d) {
		p.indentation()
		p.typos()
		p.expected()
		p.dropped()
		p.missing()
	}
	return p.list
}

// proposer collects the proposals for one finding, which stands at lexeme i.
type proposer struct {
	*session
	d        *diag.Diagnostic
	from, to int
	i        int
	list     []edit
}

func (p *proposer) add(rank, from, to int, text string) {
	if from >= 0 && from <= to && to <= len(p.src) {
		p.list = append(p.list, edit{from, to, text, rank})
	}
}

// replace writes a text in place of a lexeme.
func (p *proposer) replace(rank, i int, text string) {
	if t := p.tok(i); t.text != "" {
		p.add(rank, t.from, t.to, text)
	}
}

// insert writes a text in front of a lexeme, or behind the last one, with the space that the printer would leave.
func (p *proposer) insert(rank, i int, text string) {
	before, next := p.tok(i-1), p.tok(i)
	at := next.from
	if i >= len(p.toks) || i > 0 && next.line != before.line { // behind the end of a line
		at = before.to
		next = lexeme{}
	}
	if next.text != "" && !tight(text, next.text) {
		text += " "
	}
	if i > 0 && before.to == at && !tight(before.text, text) {
		text = " " + text
	}
	p.add(rank, at, at, text)
}

// lead writes a text in front of the first lexeme of the finding's line.
func (p *proposer) lead(rank int, text string) {
	t := p.tok(p.head())
	if !tight(text, t.text) {
		text += " "
	}
	p.add(rank, t.from, t.from, text)
}

// head is the index of the first lexeme of the finding's line.
func (p *proposer) head() int {
	from, _ := p.line(p.d.Span.Start.Line)
	return p.at(from)
}

// end is where the finding's line ends, without what trails.
func (p *proposer) end() int {
	from, to := p.line(p.d.Span.Start.Line)
	return from + len(strings.TrimRight(p.src[from:to], " \t"))
}

// unknowns are the names that the text would miss with something inserted.
func (p *proposer) unknowns(at int, text string) []string {
	var names []string
	for _, d := range p.judgeWith(at, text) {
		said := ticks(d.Message)
		switch d.Code {
		case "AWL2005", "AWL2006", "AWL2010", "AWL2011", "AWL2012", "AWL2013", "AWL2020", "AWL6005":
			names = append(names, said[:1]...)
		case "AWL2014", "AWL2015", "AWL2016", "AWL2017", "AWL6014":
			names = append(names, said[min(1, len(said)):]...)
		}
	}
	return names
}

// tight says whether two pieces stand together without a space.
func tight(left, right string) bool {
	if left == "" || right == "" {
		return true
	}
	switch right[:1] {
	case ",", ")", "]", "?", ":", ".":
		return true
	case "(", "[":
		return isWordByte(left[len(left)-1])
	}
	return strings.HasSuffix(left, "(") || strings.HasSuffix(left, "[") || strings.HasSuffix(left, ".")
}

// remove takes a lexeme away, with the space before it, or behind it where it starts a line.
func (p *proposer) remove(rank, i int) {
	t := p.tok(i)
	if t.text == "" {
		return
	}
	from, to := t.from, t.to
	switch before, next := p.tok(i-1), p.tok(i+1); {
	case i > 0 && before.line == t.line:
		from = before.to
		if next.line == t.line && next.from > t.to && !tight(before.text, next.text) {
			from = t.from
			to = next.from
		}
	case next.line == t.line:
		to = next.from
	}
	p.add(rank, from, to, "")
}

// indentation proposes other columns for the line of the finding, and for the line below it.
func (p *proposer) indentation() {
	switch p.d.Code {
	case "AWL0006", "AWL1005", "AWL1027", "AWL1012", "AWL1010":
		p.indent(p.d.Span.Start.Line)
	case "AWL1018", "AWL1028", "AWL1026", "AWL1032":
		p.indent(p.tok(p.i).line + 1)
	}
}

func (p *proposer) indent(n int) {
	from, to := p.line(n)
	text := p.src[from:to]
	width := len(text) - len(strings.TrimLeft(text, " "))
	if width == len(text) {
		return
	}
	under := p.unread(n)
	for _, by := range []int{2, -2, 1, -1, 4, -4} {
		if w := width + by; w >= 0 && w%2 == 0 && (by < 0 || !under) {
			p.add(rankExpected, from, from+width, strings.Repeat(" ", w))
		}
	}
}

// unread says whether the line of code above line n was not understood. A block below such a line is not read either, and
// whatever is wrong in it would only be hidden.
func (p *proposer) unread(n int) bool {
	for n--; n > 0; n-- {
		from, to := p.line(n)
		if text := strings.TrimSpace(p.src[from:to]); text != "" && !strings.HasPrefix(text, "//") {
			break
		}
	}
	return slices.ContainsFunc(p.ds, func(d diag.Diagnostic) bool { return d.Span.Start.Line == n && ofText(d) })
}

// ticks are the parts of a text that stand in backticks.
func ticks(text string) []string {
	parts := strings.Split(text, "`")
	var quoted []string
	for i := 1; i < len(parts); i += 2 {
		quoted = append(quoted, parts[i])
	}
	return quoted
}
