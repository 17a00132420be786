package syntax

// fork = "fork" [ NAME "in" expr [ "sequential" ] ] NL INDENT statement { statement } DEDENT "join" [ "->" NAME ] NL
func (p *parser) fork() Stmt {
	f := &Fork{Node: p.node()}
	keyword := p.next().span
	if p.tok.kind != newline && p.tok.kind != lbrace {
		n := p.name("an item")
		f.Item = &n
		f.Over = p.over()
		if !p.bad && p.tok.is("sequential") {
			f.Sequential = true
			p.next()
		}
		if !p.bad && p.tok.kind == word {
			p.expected("end of line", forkHint)
		}
	}
	understood := p.endLine(&f.Trivia)
	if !p.statements(&f.Body, &f.BodyTrailing, "inside a fork") && understood {
		p.soft("AWL1018", keyword, "what", "`fork`")
	}
	if !p.tok.is("join") {
		if understood {
			p.joins++
			p.soft("AWL1005", p.tok.span, "expected", "`join`", "found", p.tok.describe())
		}
		return nil
	}
	f.JoinTrivia = p.begin()
	f.Join = p.next().span
	switch {
	case p.tok.kind == arrow:
		f.Bind = p.bind()
		if !p.bad && p.tok.kind == comma {
			p.expected("end of line", namedHint)
		}
	case p.tok.kind == word && !p.bad:
		p.expected("`->` or end of line", joinHint)
	}
	f.Span = p.since(f.Span.Start)
	if !p.leaf(&f.JoinTrivia) || !understood {
		return nil
	}
	return f
}

// loop = "loop" NAME "=" expr [ "counting" NAME ] NL INDENT { statement } "until" expr NL "max" expr NL DEDENT
func (p *parser) loop() Stmt {
	l := &Loop{Node: p.node()}
	keyword := p.next().span
	if p.tok.is("counting") {
		p.fail("AWL1030", p.tok.span, "hint", loopHint)
	}
	l.Name = p.name("a loop value")
	p.loopSeed(l)
	understood := p.endLine(&l.Trivia)
	outer := p.where
	p.where = "inside a loop"
	b := loopBody{p: p, loop: l}
	opened := p.block(&l.BodyTrailing, b.line)
	p.where = outer
	if understood && !opened {
		p.soft("AWL1018", keyword, "what", "`loop`")
	}
	l.Span = p.since(l.Span.Start)
	if !understood {
		return nil
	}
	return l
}

// loopSeed reads `= expr [counting NAME]`.
func (p *parser) loopSeed(l *Loop) {
	if p.bad {
		return
	}
	if p.accept(assign) {
		l.Seed = p.expr()
	} else {
		if !p.silent() {
			p.soft("AWL1030", p.tok.span)
		}
		l.Seed = &BadExpr{X: X{p.here()}}
		if !p.tok.is("counting") {
			p.bad = true
		}
	}
	if p.bad || !p.tok.is("counting") {
		return
	}
	at := p.next().span
	if p.tok.kind != word {
		p.fail("AWL1030", at)
		return
	}
	n := p.name("a counter")
	l.Counter = &n
}

// loopBody reads the lines of a loop. Statements come first.
type loopBody struct {
	p        *parser
	loop     *Loop
	closing  string // what statements may not follow
	reported bool   // AWL1017
}

func (b *loopBody) line() {
	p, l := b.p, b.loop
	switch {
	case p.tok.is("until"):
		b.closing = "`until`"
		b.end("until", &l.Until, &l.UntilTrivia)
	case p.tok.is("max"):
		b.closing = "`max`"
		b.end("max", &l.Max, &l.MaxTrivia)
	default:
		at := p.tok.span
		s := p.statement()
		if s == nil {
			return
		}
		if b.closing != "" && !b.reported {
			b.reported = true
			p.soft("AWL1017", at, "what", b.closing, "hint", "the statements of a loop come first: move it above `until` and `max`")
		}
		l.Body = append(l.Body, s)
	}
}

// end reads `until expr` or `max expr`.
func (b *loopBody) end(part string, into *Expr, trivia *Trivia) {
	p := b.p
	t := p.begin()
	if *into != nil {
		p.soft("AWL1019", p.tok.span, "part", part)
	}
	p.next()
	e := p.expr()
	if !p.leaf(&t) {
		e = &BadExpr{X: X{e.Range()}}
	}
	if *into == nil {
		*into, *trivia = e, t
	}
}
