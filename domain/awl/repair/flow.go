package repair

import (
	"strings"

	"aion/domain/awl/syntax"
)

// ofFlow proposes for findings about the order of steps.
func (p *proposer) ofFlow() {
	switch p.d.Code {
	case "AWL4003", "AWL4004":
		p.routeAtEnd()
	case "AWL4006":
		p.repeated()
	case "AWL4010":
		p.lastly()
	case "AWL5016":
		p.sameSpelling(p.src[p.from:p.to], p.facts.names)
		p.other(p.src[p.from:p.to])
	case "AWL5018":
		p.routeAtEnd()
	case "AWL4008", "AWL4009":
		p.lastClause()
	case "AWL4011":
		p.payload(rankSaid, "")
	case "AWL4012", "AWL4013":
		p.otherPayload()
	case "AWL4015", "AWL4016":
		p.notAfter()
	case "AWL5019":
		if p.tok(p.i-1).text == "->" {
			p.add(rankSaid, p.tok(p.i-2).to, p.to, "")
		}
	}
}

// endOf is where the last line of the step ends whose name stands at the finding, and the indentation of its statements.
func (p *proposer) endOf() (at int, indent string) {
	line := p.d.Span.Start.Line
	from, end := p.line(line)
	text := p.src[from:end]
	width := len(text) - len(strings.TrimLeft(text, " "))
	for n := line + 1; n <= len(p.lines); n++ {
		from, to := p.line(n)
		text := p.src[from:to]
		trimmed := strings.TrimLeft(text, " ")
		if trimmed == "" {
			continue
		}
		if len(text)-len(trimmed) <= width {
			break
		}
		end = to
	}
	return end, strings.Repeat(" ", width+2)
}

// routeAtEnd ends a step with a route: to an outcome when it is the last one.
func (p *proposer) routeAtEnd() {
	at, indent := p.endOf()
	p.targets(func(rank int, target string) {
		p.add(rank, at, at, "\n"+indent+"route "+target)
	})
}

// lastClause adds the clause that takes every other case.
func (p *proposer) lastClause() {
	at, indent := p.endOf()
	// Bounds and blocks may stand below the clauses; a clause is written above them.
	if s := p.facts.step(p.d.Span.Start.Line); s != nil && len(s.Clauses) > 0 {
		if t := s.Clauses[len(s.Clauses)-1].Target; t != nil {
			at = t.Span.End.Offset
			at += len(strings.TrimRight(p.rest(at), " "))
		}
	}
	name := p.fresh("other")
	p.targets(func(rank int, target string) {
		p.add(rank, at, at, "\n"+indent+"outcome "+name+": otherwise, route "+target)
	})
}

// targets calls add with where a step may go on: the step below, an outcome that fails, one that succeeds.
func (p *proposer) targets(add func(rank int, target string)) {
	if s := p.facts.step(p.d.Span.Start.Line); s != nil {
		if next := p.facts.below(s.Name.Name); next != "" {
			add(rankSaid, next)
		}
	}
	for _, o := range p.facts.outcomes {
		rank := rankSaid + 2
		if o.Failure != (p.d.Code == "AWL4003") {
			rank = rankSaid + 1
		}
		for _, target := range p.facts.payloads(o) {
			add(rank, target)
		}
		if len(p.facts.fields[typeName(o.Type)]) == 0 {
			for _, n := range p.facts.names {
				add(rankNamed+rank, o.Name.Name+"("+n+")")
			}
		}
	}
	for _, s := range p.facts.doc.Subflows {
		if s.Outcome != nil {
			add(rankSaid+1, s.Outcome.Name.Name)
			for _, n := range p.facts.names {
				add(rankNamed, s.Outcome.Name.Name+"("+n+")")
			}
		}
	}
}

// lastly moves the clause `otherwise` behind the other ones.
func (p *proposer) lastly() {
	s := p.facts.step(p.d.Span.Start.Line)
	if s == nil || len(s.Clauses) == 0 {
		return
	}
	end := func(c *syntax.Clause) int {
		if c.Target == nil {
			return c.GuardSpan.End.Offset
		}
		return c.Target.Span.End.Offset
	}
	for i, c := range s.Clauses[:len(s.Clauses)-1] {
		if c.GuardSpan.Start.Offset != p.from {
			continue
		}
		from, _ := p.line(c.Name.Span.Start.Line)
		below, _ := p.line(s.Clauses[i+1].Name.Span.Start.Line)
		last := end(s.Clauses[len(s.Clauses)-1])
		p.add(rankSaid, from, last, p.src[below:last]+"\n"+strings.TrimRight(p.src[from:below], " \n"))
	}
}

// payload writes another payload behind the target at the finding.
func (p *proposer) payload(rank int, text string) {
	end := p.to
	if p.tok(p.i+1).text == "(" {
		depth := 0
		for i := p.i + 1; i < len(p.toks); i++ {
			switch p.tok(i).text {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				end = p.tok(i).to
				break
			}
		}
	}
	p.add(rank, p.to, end, text)
}

// otherPayload gives an outcome what it carries.
func (p *proposer) otherPayload() {
	name := p.src[p.from:p.to]
	for _, o := range p.facts.outcomes {
		if o.Name.Name != name {
			continue
		}
		for _, target := range p.facts.payloads(o) {
			p.payload(rankSaid, strings.TrimPrefix(target, name))
		}
		if open := p.tok(p.i + 1); open.text == "(" && p.tok(p.i+3).text != ":" {
			for _, f := range p.facts.fields[typeName(o.Type)] {
				p.add(rankNamed, open.to, open.to, f+": ")
			}
		}
		if p.tok(p.i+3).text == ":" {
			p.add(rankNamed, p.tok(p.i+2).from, p.tok(p.i+4).from, "")
			p.add(rankNamed, p.tok(p.i+1).from, p.tok(p.i+1).from, typeName(o.Type))
		}
	}
	for _, n := range p.facts.names {
		p.payload(rankNamed, "("+n+")")
	}
}

// notAfter takes a dependency away.
func (p *proposer) notAfter() {
	switch {
	case p.tok(p.i-1).text == ",":
		p.add(rankSaid, p.tok(p.i-1).from, p.to, "")
	case p.tok(p.i+1).text == ",":
		p.add(rankSaid, p.from, p.tok(p.i+2).from, "")
	default:
		p.add(rankSaid, p.tok(p.i-2).to, p.to, "")
	}
}
