package repair

import (
	"strings"
)

// grammatical proposes for the findings of the parser.
//
//nolint:funlen,gocognit // one case per code
func (p *proposer) grammatical() {
	switch p.d.Code {
	case "AWL1001":
		p.narration()
	case "AWL1002", "AWL1003":
		p.add(rankSaid, p.from, p.from+3, "//")
	case "AWL1006":
		p.add(rankMissing, p.to, p.to, "_")
	case "AWL1007":
		for _, t := range p.facts.types {
			if text := strings.TrimLeft(p.rest(p.to), " "); strings.HasPrefix(text, ":") {
				p.insert(rankNamed, p.i+2, t)
			}
			p.add(rankNamed, p.to, p.to, ": "+t)
		}
	case "AWL1008":
		p.outcomeParts()
	case "AWL1009":
		closer := map[string]string{"(": ")", "[": "]", "{": "}"}[p.src[p.from:p.to]]
		for i := p.i + 1; i < p.i+60 && i < len(p.toks); i++ {
			if t := p.tok(i).text; t != closer && (t == ")" || t == "]" || t == "}") {
				p.replace(rankSaid, i, closer)
			}
		}
		for i := p.i; i < p.i+20 && p.tok(i).line == p.tok(p.i).line && i < len(p.toks); i++ {
			for _, opener := range []string{"(", "[", "{"} {
				if t := p.tok(i).text; opener != t && (t == "(" || t == "[" || t == "{") {
					p.replace(rankSaid, i, opener)
				}
			}
		}
		for n, at := range p.tails(p.to) {
			p.add(rankSaid+n, at, at, closer)
		}
		for n, at := range p.closersBelow() {
			p.add(rankTypo+n, at, at, closer)
			p.add(rankTypo+n, at, at, "\n"+closer)
		}
	case "AWL1010":
		p.foreign()
	case "AWL1011":
		if said := ticks(p.d.Message); len(said) > 0 {
			name, _, _ := strings.Cut(said[0], ":")
			p.add(rankSaid, p.from, p.from, name+": ")
		}
		p.missing()
	case "AWL1012":
		p.goesNowhere()
	case "AWL1013":
		p.headless()
	case "AWL1014":
		p.bindUnbound(p.to)
		p.remove(rankSaid+1, p.i)
		p.add(rankSaid+2, p.to, p.to, " "+p.fresh("result"))
	case "AWL1015":
		end := p.end()
		p.bindUnbound(end)
		p.add(rankSaid+1, end, end, " -> "+p.fresh("answer"))
	case "AWL1017":
		p.moveUp()
	case "AWL1016":
		p.clauseParts()
	case "AWL1019":
		if from, to := p.line(p.d.Span.Start.Line); p.tok(p.first(p.i)).from == p.from {
			p.add(rankSaid, from, min(to+1, len(p.src)), "")
		}
		for end := p.i + 1; end <= p.i+6 && p.tok(end-1).line == p.tok(p.i).line; end++ {
			if p.tok(p.i-1).text == "," {
				p.add(rankSaid+1, p.tok(p.i-1).from, p.tok(end).from, "")
			}
			if p.tok(end).text == "," {
				p.add(rankSaid+1, p.from, p.tok(end+1).from, "")
			}
		}
	case "AWL1020":
		p.resultType()
	case "AWL1021":
		for i := p.i; p.tok(i).line == p.tok(p.i).line && i < len(p.toks); i++ {
			p.typo(i)
			if t := p.tok(i); isDigit(t.text[0]) && span(t.text, isDigit) == len(t.text) {
				p.replace(rankSaid, i, t.text+"s")
			}
			p.insert(rankExpected, i+1, "every 1s")
			p.insert(rankExpected, i, "..")
		}
	case "AWL1024":
		p.add(rankSaid, p.from, p.from, "workflow")
		for _, name := range p.facts.names {
			p.add(rankNamed, p.from, p.from, name)
		}
	case "AWL1005":
		p.joined()
		p.negated()
		if strings.Contains(p.d.Message, "`lines` or `json`") {
			for n, word := range []string{"text", "lines", "json"} {
				p.insert(rankSaid+n, p.i, word)
			}
		}
	case "AWL1025":
		at := p.end()
		p.add(rankSaid, at, at, " visits")
	case "AWL1027":
		p.misplaced()
	case "AWL1029":
		from := p.from
		for from > 0 && p.src[from-1] == ' ' {
			from--
		}
		p.add(rankSaid, from, p.tok(p.i+1).to, "")
	case "AWL1030":
		p.insert(rankSaid, p.i, "=")
	case "AWL1032":
		at := p.end()
		p.add(rankSaid, at, at, ":")
	case "AWL1031":
		p.chained()
	}
}

// chained joins a comparison that goes on with `and`: `a < b < c` is `a < b and b < c`.
func (p *proposer) chained() {
	for i := p.i - 1; i > 0 && p.tok(i).line == p.tok(p.i).line; i-- {
		switch p.tok(i).text {
		case "<", "<=", ">", ">=", "==", "!=":
			p.add(rankSaid, p.from, p.from, "and "+p.src[p.tok(i+1).from:p.tok(p.i-1).to]+" ")
			return
		}
	}
}

// moveUp moves a statement of one line above the clauses, bounds and blocks that close its step or loop.
func (p *proposer) moveUp() {
	n := p.d.Span.Start.Line
	from, to := p.line(n)
	text := p.src[from:to]
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	at := -1
	for above := n - 1; above > 0; above-- {
		start, end := p.line(above)
		line := p.src[start:end]
		rest, same := strings.CutPrefix(line, indent)
		if !same && strings.TrimSpace(line) != "" {
			break
		}
		if word, _, _ := strings.Cut(rest, " "); word == "outcome" || word == "on" || word == "max" || word == "until" {
			at = start
		} else if rest != "" && !strings.HasPrefix(rest, " ") && at >= 0 {
			break
		}
	}
	if at >= 0 {
		p.add(rankSaid, at, to, text+"\n"+strings.TrimRight(p.src[at:from], " \n"))
	}
}

// narration makes the first comment the narration.
func (p *proposer) narration() {
	for n := range p.lines {
		from, to := p.line(n + 1)
		text := p.src[from:to]
		for _, marker := range []string{"////", "///", "//", "#!", "#", "--"} {
			if strings.HasPrefix(text, marker) {
				p.add(rankSaid, from, from+len(marker), "//!")
				break
			}
		}
		if strings.TrimSpace(text) != "" {
			break
		}
	}
	if h := p.facts.doc.Header; h != nil && h.Name.Name != "" {
		words := strings.ReplaceAll(h.Name.Name, "_", " ")
		p.add(rankSaid+1, 0, 0, "//! "+strings.ToUpper(words[:1])+words[1:]+".\n")
	}
}

// resultType gives an action or child a result. Nil is what a result is that nothing reads.
func (p *proposer) resultType() {
	at, arrow := p.end(), " -> "
	if strings.HasSuffix(p.src[:at], "->") {
		arrow = " "
	}
	p.add(rankSaid, at, at, arrow+"Nil")
	for _, t := range p.facts.types {
		p.add(rankSaid+1, at, at, arrow+t)
		p.add(rankSaid+1, at, at, arrow+"["+t+"]")
	}
}

// outcomeParts completes `outcome <name>: type <Type>, route success`.
func (p *proposer) outcomeParts() {
	end := p.end()
	name := p.tok(p.head() + 1).text
	for n, status := range statuses(name) {
		p.add(rankSaid+n, end, end, ", route "+status)
		p.add(rankSaid+n, end, end, " route "+status)
		p.add(rankSaid+n, end, end, " "+status)
		p.replace(rankSaid+n, p.i, status)
	}
	for _, part := range []string{":", "type", ": type", ",", "route", ", route", "success", "failure"} {
		p.insert(rankTypo, p.i, part)
	}
	for _, t := range p.facts.types {
		p.insert(rankNamed, p.i, t)
		p.insert(rankNamed, p.i, "type "+t)
	}
}

// statuses are success and failure, the one first that the name of an outcome speaks of.
func statuses(name string) []string {
	for _, bad := range []string{"fail", "reject", "error", "abort", "cancel", "expire", "broken", "stuck", "denied", "refused", "gave_up", "red", "lost"} {
		if strings.Contains(name, bad) {
			return []string{"failure", "success"}
		}
	}
	return []string{"success", "failure"}
}

// foreign proposes for a spelling of another language.
func (p *proposer) foreign() {
	t := p.tok(p.i)
	from, to := p.line(p.d.Span.Start.Line)
	line := p.src[from:to]
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	words := strings.Fields(line)
	switch t.text {
	case "do":
		p.remove(rankSaid, p.i)
	case "=", "let", "var":
		if left, right, ok := strings.Cut(line, "="); ok {
			name := strings.Fields(left)
			p.add(rankSaid, from, to, indent+strings.TrimSpace(right)+" -> "+name[len(name)-1])
		}
	case "then", "end", "}":
		if len(words) == 1 {
			p.add(rankSaid, from, min(to+1, len(p.src)), "")
		}
		p.remove(rankSaid+1, p.i)
	case "{":
		p.remove(rankSaid, p.i)
	}
	if t.text != "" {
		for _, other := range otherWord(t.text) {
			p.replace(rankTypo, p.i, other)
		}
	}
	if strings.HasSuffix(strings.TrimSpace(line), ":") {
		end := from + strings.LastIndexByte(line, ':')
		for _, other := range otherWord(t.text) {
			p.add(rankTypo+1, t.from, end+1, other+p.src[t.to:end])
		}
	}
}

// goesNowhere completes a statement that is a value alone.
func (p *proposer) goesNowhere() {
	end := p.end()
	for i := p.i; i < p.i+30 && p.tok(i).line == p.tok(p.i).line && i < len(p.toks); i++ {
		p.typo(i)
	}
	p.bindUnbound(end)
	p.insert(rankTypo, p.at(end-1), "route")
	p.insert(rankTypo, p.at(end-1), "->")
	for _, o := range p.facts.outcomes {
		p.add(rankNamed, end, end, " |> route "+o.Name.Name)
	}
}

// headless binds a call that heads a chain, on a line of its own.
func (p *proposer) headless() {
	from, _ := p.line(p.d.Span.Start.Line)
	line := p.rest(from)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	name := p.fresh(p.tok(p.first(p.i)).text + "_result")
	at := p.from
	for at > 0 && p.src[at-1] == ' ' {
		at--
	}
	p.add(rankSaid, at, at, " -> "+name+"\n"+indent+name)
}

// fresh is a name that the document does not hold.
func (p *proposer) fresh(name string) string {
	for strings.Contains(p.src, name) {
		name += "_"
	}
	return name
}

// bindUnbound gives a result a name that the text reads and nothing binds.
func (p *proposer) bindUnbound(at int) {
	arrow := " -> "
	if strings.HasSuffix(strings.TrimRight(p.src[:at], " "), "->") {
		arrow = " "
	}
	for _, name := range p.unknowns(at, arrow+p.fresh("result")) {
		p.add(rankSaid, at, at, arrow+name)
	}
}

// clauseParts completes `outcome <name>: when <guard>, route <target>`.
func (p *proposer) clauseParts() {
	first := p.head()
	for i := first + 2; i <= first+40 && i < len(p.toks); i++ {
		if p.tok(i).line > p.tok(first).line+1 || p.tok(i).text == "outcome" {
			break
		}
		if p.tok(i).text == p.tok(i-1).text {
			p.remove(rankDoubled, i)
		}
		p.typo(i)
		for _, part := range []string{"when", "otherwise", "otherwise,", "route", ", route", ":", ","} {
			p.insert(rankExpected, i, part)
		}
	}
	end := p.end()
	p.add(rankExpected, end, end, " otherwise")
	for _, s := range p.facts.steps {
		p.add(rankNamed, end, end, ", route "+s)
	}
	for _, o := range p.facts.outcomes {
		for _, target := range p.facts.payloads(o) {
			p.add(rankNamed, end, end, ", route "+target)
		}
	}
}
