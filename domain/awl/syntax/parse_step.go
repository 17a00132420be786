package syntax

// step = docs "step" NAME [ "after" NAME { "," NAME } ] NL [ INDENT step_body DEDENT ] . Nil when it has no name, or
// when the document has too many steps; it is read all the same.
func (p *parser) step() *Step {
	s := &Step{Trivia: p.begin(), Doc: p.docs()}
	start := p.tok.span.Start.Offset
	s.Keyword = p.next().span
	s.Name = p.name("a step")
	if !p.bad && p.tok.is("after") {
		p.next()
		for !p.bad {
			if n := p.name("a step"); !p.bad {
				s.After = append(s.After, n)
			}
			if p.bad || !p.accept(comma) {
				break
			}
		}
	}
	if !p.bad && (p.tok.kind == lparen || p.tok.kind == arrow) {
		p.expected("end of line", stepHint)
	}
	p.endLine(&s.Trivia)
	p.steps++
	kept := s.Name.Name != "" && p.steps <= MaxSteps
	if p.steps == MaxSteps+1 {
		p.found.report("AWL0004", s.Name.Span, "what", "the number of steps", "limit", "500")
	}
	if kept {
		p.ranges = append(p.ranges, stepRange{step: s})
	}
	i := len(p.ranges) - 1
	outer := p.where
	p.where = "inside a step"
	p.stepBody(s)
	p.where = outer
	if !kept {
		return nil
	}
	p.ranges[i].start, p.ranges[i].end = start, p.last.End.Offset
	return s
}

// step_body = { statement } { on_failure | visits | clause }
func (p *parser) stepBody(s *Step) {
	var closing string // what statements may not follow
	reported := false
	p.block(&s.Trailing, func() {
		switch {
		case p.tok.is("on") && p.peek().is("failure"):
			closing = "`on failure`"
			p.handler(s)
		case p.tok.is("on"):
			p.next()
			p.expected("`failure`")
			p.drop()
		case p.tok.is("outcome"):
			closing = "an outcome clause"
			if c := p.clause(); c != nil {
				s.Clauses = append(s.Clauses, c)
			}
		case p.tok.is("max"):
			closing = "`max … visits`"
			p.visits(s)
		default:
			at := p.tok.span
			st := p.statement()
			if st == nil {
				return
			}
			if closing != "" && !reported {
				reported = true
				p.soft("AWL1017", at, "what", closing, "hint", followsHint(st, closing))
			}
			s.Body = append(s.Body, st)
		}
	})
}

// on_failure = "on" "failure" NL INDENT statement { statement } DEDENT
func (p *parser) handler(s *Step) {
	h := &Handler{Trivia: p.begin()}
	h.Keyword = p.next().span
	p.next()
	if s.Handler != nil {
		p.soft("AWL1019", h.Keyword, "part", "on failure")
	}
	p.handlerLine()
	understood := p.endLine(&h.Trivia)
	opened := p.statements(&h.Body, &h.Trailing, "inside `on failure`")
	if understood && !opened {
		p.soft("AWL1018", h.Keyword, "what", "`on failure`")
	}
	if s.Handler == nil {
		s.Handler = h
	}
}

// handlerLine refuses what stands behind `on failure`: the block below it is read all the same.
func (p *parser) handlerLine() {
	switch {
	case p.bad:
	case p.tok.kind == word && !reserved(p.tok.text):
		p.expected("end of line", reasonHint)
	case p.tok.kind == word || p.tok.kind == comma:
		p.expected("end of line", handlerHint)
	}
}

// visits = "max" expr "visits" NL
func (p *parser) visits(s *Step) {
	v := &Visits{Trivia: p.begin()}
	v.Keyword = p.next().span
	v.Max = p.expr()
	if _, ok := v.Max.(*VisitsRef); ok || !p.bad && p.tok.kind == newline {
		p.soft("AWL1025", v.Keyword)
		p.leaf(&v.Trivia)
		return
	}
	if !p.bad && !p.tok.is("visits") {
		p.expected("`visits`")
	}
	if !p.bad {
		p.next()
	}
	if !p.leaf(&v.Trivia) {
		return
	}
	if s.Visits != nil {
		p.soft("AWL1019", v.Keyword, "part", "max … visits")
		return
	}
	s.Visits = v
}

// clause = "outcome" NAME ":" guard "," "route" target NL . Nil when it was not understood.
func (p *parser) clause() *Clause {
	c := &Clause{Trivia: p.begin()}
	p.next()
	c.Name = p.name("an outcome")
	if p.expect(colon, "`:`") {
		p.guard(c)
	}
	if !p.bad && p.tok.kind == newline {
		p.fail("AWL1016", c.Name.Span, "name", c.Name.Name, "part", "a route")
	}
	if p.expect(comma, "`,`") {
		if p.tok.is("route") {
			p.next()
			c.Target = p.target()
		} else {
			p.fail("AWL1016", c.Name.Span, "name", c.Name.Name, "part", "a route")
		}
	}
	if !p.leaf(&c.Trivia) {
		return nil
	}
	return c
}

// guard = ( "when" | "if" ) expr | ( "otherwise" | "else" )
func (p *parser) guard(c *Clause) {
	c.GuardSpan = p.tok.span
	switch {
	case p.tok.is("otherwise"), p.tok.is("else"):
		p.next()
	case p.tok.is("when"), p.tok.is("if"):
		p.next()
		if p.tok.kind == comma || p.tok.kind == newline || p.tok.is("route") {
			p.noGuard(c)
			return
		}
		c.Guard = p.expr()
	default:
		p.noGuard(c)
	}
}

func (p *parser) noGuard(c *Clause) {
	p.fail("AWL1016", c.Name.Span, "name", c.Name.Name, "part", "a guard")
}

// target = NAME [ "(" ( args | expr ) ")" ] . Nil when it was not understood.
func (p *parser) target() *Target {
	start := p.tok.span.Start
	t := &Target{Name: p.name("a target")}
	if p.bad {
		return nil
	}
	if p.tok.kind == lparen {
		p.bracketed(func() { p.payload(t) })
	}
	t.Span = p.since(start)
	if p.bad {
		return nil
	}
	return t
}

// payload reads what stands in the parentheses of a target.
func (p *parser) payload(t *Target) {
	p.next()
	follows := p.peek().kind
	if p.tok.kind == rparen || p.tok.kind == word && (follows == colon || follows == assign) {
		t.HasArgs = true
		t.Args = p.args(t.Name.Name)
		return
	}
	t.Value = p.expr()
	if !p.bad && p.tok.kind == comma {
		p.positionalArg(t.Name.Name, 0, t.Value)
		p.next()
		t.HasArgs, t.Args, t.Value = true, p.args(t.Name.Name), nil
		return
	}
	p.expect(rparen, "`)`")
}
