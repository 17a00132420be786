package repair

import "slices"

// ofNames proposes for findings about names and calls.
func (p *proposer) ofNames() {
	word := p.src[p.from:p.to]
	switch p.d.Code {
	case "AWL2001", "AWL2002":
		for _, name := range ticks(p.d.Hint) {
			p.add(rankSaid, p.from, p.to, name)
		}
	case "AWL2003":
		p.repeated()
	case "AWL2005":
		p.sameSpelling(word, p.facts.types)
		p.other(word)
	case "AWL2006":
		p.sameSpelling(word, p.facts.names)
		p.keyword(word)
		p.statementOf()
		p.typo(p.i - 1)
		p.add(rankTypo, p.from, p.from, ".")
		p.members(word)
		p.other(word)
	case "AWL2010", "AWL2011", "AWL2012", "AWL2013", "AWL2020":
		p.sameSpelling(word, p.facts.names)
		p.keyword(word)
		p.statementOf()
		p.other(word)
	case "AWL2014":
		fields := ticks(p.d.Hint)
		for _, f := range fields {
			if "."+folded(f) == folded(word) {
				p.add(rankSaid, p.from, p.to, "."+f)
			}
		}
		if len(fields) == 1 {
			p.add(rankNamed, p.from, p.to, "."+fields[0])
		}
	case "AWL2015", "AWL2016":
		for _, name := range ticks(p.d.Hint) {
			p.add(rankNamed, p.from, p.to, name)
		}
		p.typo(p.i - 2)
		p.argument(rankNamed + 1)
	case "AWL2017":
		p.sameSpelling(word, p.facts.names)
		p.required()
	case "AWL2018":
		p.argument(rankSaid)
	case "AWL2019":
		p.remove(rankSaid, p.i-1)
	case "AWL2022":
		p.add(rankSaid, p.from, p.to, "workflow.id")
		p.add(rankSaid, p.from, p.to, ".id")
	}
}

// sameSpelling proposes names that differ in case and underscores only.
func (p *proposer) sameSpelling(word string, names []string) {
	for _, n := range names {
		if n != word && folded(n) == folded(word) {
			p.add(rankSaid, p.from, p.to, n)
		}
	}
}

// keyword proposes the word of the language that a name is nearly.
func (p *proposer) keyword(word string) {
	for _, other := range meant(lexeme{text: word, word: true}) {
		p.add(rankTypo, p.from, p.to, other)
	}
}

// minNear is the length of the shortest name that another one is taken for.
const minNear = 3

// other proposes every name of the document that is near; one of them alone may fit.
func (p *proposer) other(word string) {
	if len(word) < minNear {
		return
	}
	for _, n := range nearest(word, slices.Concat(p.facts.names, p.facts.types)) {
		p.add(rankNamed, p.from, p.to, n)
	}
}

// statementOf proposes the keyword of the statement that a line may have been, when the finding opens the line.
func (p *proposer) statementOf() {
	if p.tok(p.first(p.i)).from != p.from {
		return
	}
	for _, w := range []string{"route", "wait", "collect", "spawn", "sleep"} {
		p.lead(rankTypo, w)
	}
}

// members proposes the value whose field a name is.
func (p *proposer) members(word string) {
	for _, fields := range p.facts.fields {
		if !slices.Contains(fields, word) {
			continue
		}
		for _, n := range p.facts.names {
			p.add(rankExpected, p.from, p.from, n+".")
		}
		return
	}
}

// repeated takes a line away that repeats the one above it.
func (p *proposer) repeated() {
	n := p.d.Span.Start.Line
	from, to := p.line(n)
	above, end := p.line(n - 1)
	if n > 1 && p.src[above:end] == p.src[from:to] {
		p.add(rankSaid, from, min(to+1, len(p.src)), "")
	}
}

// argument takes the argument away that starts at the finding.
func (p *proposer) argument(rank int) {
	depth, i := 0, p.i
	for ; i < len(p.toks); i++ {
		t := p.tok(i).text
		if depth == 0 && (t == "," || t == ")") {
			break
		}
		switch t {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
	}
	switch before := p.tok(p.i - 1); {
	case before.text == ",":
		p.add(rank, before.from, p.tok(i).from, "")
	case p.tok(i).text == ",":
		p.add(rank, p.from, p.tok(i+1).from, "")
	case before.text == "(":
		p.add(rank, p.from, p.tok(i).from, "")
	}
}

// required adds the argument that a call, a record or a target needs.
func (p *proposer) required() {
	said := ticks(p.d.Message)
	if len(said) < 2 || p.tok(p.i+1).text != "(" {
		return
	}
	open := p.tok(p.i + 1)
	sep := ", "
	if p.tok(p.i+2).text == ")" {
		sep = ""
	}
	p.add(rankSaid, open.to, open.to, said[1]+": "+said[1]+sep)
	for _, n := range p.facts.names {
		p.add(rankNamed, open.to, open.to, said[1]+": "+n+sep)
	}
}
