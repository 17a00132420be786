package repair

import (
	"regexp"
	"strings"

	"aion/domain/awl/syntax"
)

var hole = regexp.MustCompile(`^\{\{+ *([A-Za-z_]\w*)? *\}*`)

// ofBodies proposes for findings about commands, captures and settings.
func (p *proposer) ofBodies() {
	switch p.d.Code {
	case "AWL6002":
		for n, at := range p.tails(p.from + 1) {
			p.add(rankSaid+n, at, at, p.src[p.from:p.from+1])
			p.add(rankSaid+n, at-1, at-1, p.src[p.from:p.from+1])
		}
		p.add(rankTypo, p.from, p.from+1, "")
	case "AWL6003":
		if m := hole.FindStringSubmatchIndex(p.src[p.from:]); m != nil && m[2] >= 0 {
			p.add(rankSaid, p.from, p.from+m[1], "{{"+p.src[p.from+m[2]:p.from+m[3]]+"}}")
		}
	case "AWL6005":
		if m := hole.FindStringSubmatchIndex(p.src[p.from:]); m != nil {
			for _, name := range ticks(p.d.Hint) {
				p.add(rankNamed, p.from, p.from+m[1], "{{"+name+"}}")
			}
		}
	case "AWL6007":
		if m := hole.FindStringIndex(p.src[p.from:]); m != nil {
			text := p.src[p.from : p.from+m[1]]
			p.add(rankSaid, p.from, p.from+m[1], " "+text)
			p.add(rankSaid, p.from, p.from+m[1], text+" ")
			p.add(rankSaid+1, p.from, p.from+m[1], " "+text+" ")
		}
	case "AWL6008":
		p.capture()
	case "AWL6011":
		p.remove(rankSaid, p.i)
		if p.tok(p.i+2).text == "," {
			p.add(rankSaid, p.from, p.tok(p.i+3).from, "")
		}
		if p.tok(p.i-1).text == "," {
			p.add(rankSaid, p.tok(p.i-1).from, p.tok(p.i+1).to, "")
		}
		from, to := p.line(p.d.Span.Start.Line)
		p.add(rankSaid+1, from, min(to+1, len(p.src)), "")
	case "AWL6014":
		p.commandParameter()
	case "AWL6018":
		p.add(rankSaid, p.from+1, p.from+1, "{workspace_root}/")
	}
}

// capture makes the capture of a body fit the declared result, or the result fit the capture.
func (p *proposer) capture() {
	a := p.action()
	if a == nil || a.Body == nil {
		return
	}
	at := a.Body.CaptureSpan
	for n, word := range []string{"text", "lines", "json", "outcome"} { // what fits first is meant: json fits nearly all
		if a.Body.Capture != "" {
			p.add(rankSaid+n, at.Start.Offset, at.End.Offset, word)
			continue
		}
		var end int
		switch {
		case a.Body.Run != nil:
			end = a.Body.Run.Span.End.Offset
		case a.Body.Command != nil:
			end = a.Body.Command.Span.End.Offset
		}
		p.add(rankSaid+n, end, end, " capture "+word)
	}
	for _, t := range []string{"String", "[String]", "Nil"} {
		p.add(rankExpected, p.from, p.to, t)
	}
}

// commandParameter adds the parameter of a command to the action that runs it.
func (p *proposer) commandParameter() {
	a, said := p.action(), ticks(p.d.Message)
	if a == nil || len(said) < 2 {
		return
	}
	open := strings.IndexByte(p.src[a.Name.Span.End.Offset:], '(')
	if open < 0 {
		return
	}
	at := a.Name.Span.End.Offset + open + 1
	sep := ", "
	if len(a.Params) == 0 {
		sep = ""
	}
	for _, t := range []string{"String", "[String]"} {
		p.add(rankSaid, at, at, said[1]+": "+t+sep)
	}
}

// action is the declared action around the finding.
func (p *proposer) action() *syntax.Action {
	var best *syntax.Action
	for _, w := range p.facts.doc.Workers {
		for _, a := range w.Actions {
			if a.Name.Span.Start.Offset <= p.from && (best == nil || a.Name.Span.Start.Offset > best.Name.Span.Start.Offset) {
				best = a
			}
		}
	}
	return best
}

// ofJSON proposes for JSON as other languages write it.
func (p *proposer) ofJSON() {
	if p.d.Code != "AWL7001" {
		return
	}
	before := len(strings.TrimRight(p.src[:p.from], " \t\r\n"))
	if before > 0 && p.src[before-1] == ',' {
		p.add(rankSaid, before-1, before, "")
	}
	p.add(rankSaid, before, before, ",")
	p.add(rankSaid, before, before, ":")
	word := p.src[p.from : p.from+span(p.src[p.from:], isWordByte)]
	for other, value := range map[string]string{"True": "true", "False": "false", "None": "null", "undefined": "null"} {
		if word == other {
			p.add(rankSaid, p.from, p.from+len(word), value)
		}
	}
	if word != "" {
		p.add(rankSaid+1, p.from, p.from+len(word), `"`+word+`"`)
	}
	if rest := p.rest(p.from); strings.HasPrefix(rest, "'") {
		if end := strings.IndexByte(rest[1:], '\''); end >= 0 {
			p.add(rankSaid, p.from, p.from+end+2, `"`+rest[1:end+1]+`"`)
		}
	}
}
