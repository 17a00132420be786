package repair

import (
	"regexp"
	"strings"
)

// misplaced moves a setting to where it stands.
func (p *proposer) misplaced() {
	n := p.d.Span.Start.Line
	above, end := p.line(n - 1)
	from, to := p.line(n)
	switch {
	case strings.Contains(p.d.Message, "below a `wait`"):
		if arrow := strings.Index(p.src[above:end], " ->"); arrow >= 0 {
			at := above + arrow
			p.add(rankSaid, at, to, " "+strings.TrimSpace(p.src[from:to])+p.src[at:end])
		}
	case strings.Contains(p.d.Message, "below the body") && n > 1:
		p.add(rankSaid, above, to, p.src[from:to]+"\n"+p.src[above:end])
	}
}

// joined writes settings on two lines as one.
func (p *proposer) joined() {
	_, end := p.line(p.d.Span.Start.Line - 1)
	switch p.src[p.from:p.to] {
	case "timeout", "retry", "node":
		if strings.TrimSpace(p.src[end:p.from]) == "" {
			p.add(rankSaid, end, p.from, ", ")
		}
	}
}

var isNot = regexp.MustCompile(`([A-Za-z_.][\w.]*(?:\[\d+\])?) is not (\w+)`)

// negated says what `is not` means: the other test, or the negation of one.
func (p *proposer) negated() {
	if p.src[p.from:p.to] != "not" || p.tok(p.i-1).text != "is" {
		return
	}
	from, to := p.line(p.d.Span.Start.Line)
	for _, m := range isNot.FindAllStringSubmatchIndex(p.src[from:to], -1) {
		if from+m[4]-len("not ") != p.from {
			continue
		}
		path, word := p.src[from+m[2]:from+m[3]], p.src[from+m[4]:from+m[5]]
		switch word {
		case "present":
			p.add(rankSaid, p.from, from+m[5], "absent")
		case "absent":
			p.add(rankSaid, p.from, from+m[5], "present")
		case "empty":
			p.add(rankSaid, from+m[2], from+m[5], "not "+path+" is empty")
		}
	}
	p.add(rankSaid+1, p.tok(p.i-1).from, p.to, "!=")
}
