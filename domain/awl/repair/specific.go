package repair

import (
	"regexp"
	"strings"
)

// specific proposes the repairs that belong to one code.
func (p *proposer) specific() {
	switch p.d.Code[:4] {
	case "AWL0":
		p.lexical()
	case "AWL1":
		p.grammatical()
	case "AWL2":
		p.ofNames()
	case "AWL3":
		p.ofTypes()
	case "AWL4", "AWL5":
		p.ofFlow()
	case "AWL6":
		p.ofBodies()
	case "AWL7":
		p.ofJSON()
	}
}

// rest is the text from an offset to the end of its line.
func (p *proposer) rest(from int) string {
	_, to := p.line(p.pos(from).Line)
	return p.src[from:max(from, to)]
}

// tails are the offsets on a line, from the right, where what is open may end: the line's end, and in front of what
// follows a value.
func (p *proposer) tails(from int) []int {
	text := p.rest(from)
	ends := []int{from + len(strings.TrimRight(text, " \t"))}
	for _, m := range tail.FindAllStringIndex(text, -1) {
		if at := from + m[0]; at > from {
			ends = append(ends, at)
		}
	}
	return ends
}

var tail = regexp.MustCompile(` ?->| \|> | capture \w+|, ?\w+:|, route|\)|\]|,| and | or | in `)

// lexical proposes for the findings of the scanner.
func (p *proposer) lexical() {
	found := p.src[p.from:p.to]
	switch p.d.Code {
	case "AWL0002":
		p.add(rankSaid, p.from, p.to, "")
		p.add(rankSaid+1, p.from, p.to, " ")
	case "AWL0007":
		for n, at := range p.tails(p.from + 1) {
			p.add(rankSaid+n, at, at, `"`)
		}
		p.add(rankTypo, p.from, p.from+1, "")
		p.add(rankTypo+1, p.from, p.from, `"`)
	case "AWL0008":
		p.add(rankSaid, p.from, p.from, `\`)
	case "AWL0009":
		for n, at := range p.closersBelow() {
			p.add(rankSaid+n, at, at, `"""`)
		}
	case "AWL0010":
		for n, at := range p.closersBelow() {
			p.add(rankSaid+n, at, at, "}")
			p.add(rankSaid+n, at, at, "\n}")
		}
	case "AWL0011":
		p.number(found)
	case "AWL0012":
		p.stray(found)
	case "AWL0014":
		gap := len(p.src[p.to:]) - len(strings.TrimLeft(p.src[p.to:], " "))
		p.add(rankSaid, p.from, p.to+gap, ".")
		p.add(rankSaid+1, p.from, p.to, "")
		p.add(rankSaid+2, p.from, p.to, ",")
		for _, fields := range p.facts.fields {
			for _, f := range fields {
				p.add(rankNamed, p.from+1, p.from+1, f)
			}
		}
	}
}

// closersBelow are the places where a text over several lines may end: at the end of the lines below that stand in front
// of a blank line or a line at the left edge.
func (p *proposer) closersBelow() []int {
	var ends []int
	for n := p.d.Span.Start.Line; n <= len(p.lines) && len(ends) < 10; n++ {
		_, to := p.line(n)
		below, end := p.line(n + 1)
		next := p.src[below:end]
		if strings.TrimSpace(next) == "" || next[0] != ' ' {
			ends = append(ends, to)
			for at := to; at > 0 && (p.src[at-1] == '"' || p.src[at-1] == ')'); at-- {
				ends = append(ends, at-1)
			}
		}
	}
	return ends
}

var unit = regexp.MustCompile(`^([0-9]+)(milliseconds?|millis?|msec|seconds?|secs?|sec|minutes?|mins?|min|hours?|hrs?|hr|days?)$`)

// number proposes for a malformed number.
func (p *proposer) number(found string) {
	word := p.src[p.from : p.from+span(p.src[p.from:], func(c byte) bool { return isWordByte(c) || c == '.' || c == '-' })]
	if m := unit.FindStringSubmatch(strings.ToLower(word)); m != nil {
		short := map[string]string{"mi": "m", "ms": "ms", "se": "s", "ho": "h", "hr": "h", "da": "d"}[m[2][:2]]
		if strings.HasPrefix(m[2], "milli") {
			short = "ms"
		}
		p.add(rankSaid, p.from, p.from+len(word), m[1]+short)
	}
	p.add(rankSaid, p.from, p.to, strings.ReplaceAll(found, "_", ""))
	p.add(rankSaid+1, p.from, p.to, "0"+found)
	p.add(rankSaid+1, p.from, p.to, strings.TrimSuffix(found, ".")+".0")
	p.add(rankSaid+2, p.from, p.to, strings.TrimSuffix(found, "."))
	digits := span(found, isDigit)
	p.add(rankSaid+3, p.from+digits, p.from+digits, " ")
}

// stray proposes for a character that is not part of the language.
func (p *proposer) stray(found string) {
	switch {
	case found == "'" || strings.ContainsAny(found, "“”‘’`"):
		text := p.rest(p.to)
		if end := strings.IndexAny(text, "'“”‘’`"); end >= 0 {
			closer := p.to + end
			p.add(rankSaid, p.from, closer+span(p.src[closer:], func(c byte) bool { return c == p.src[closer] || c >= 0x80 }), `"`+text[:end]+`"`)
		}
	case found == "#":
		if len(p.facts.doc.Narration) == 0 && p.d.Span.Start.Column == 1 {
			p.add(rankSaid, p.from, p.to, "//!")
		}
		p.add(rankSaid+1, p.from, p.to, "//")
	case found == "-":
		p.add(rankSaid, p.from, p.to, "->")
	}
	for _, other := range otherMark(found) {
		p.add(rankTypo, p.from, p.to, other)
	}
	p.add(rankDropped, p.from, p.to, "")
}
