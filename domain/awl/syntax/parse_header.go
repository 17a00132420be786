package syntax

// header = "workflow" NAME NL [ INDENT { item } DEDENT ]
func (p *parser) header() {
	h := &Header{Trivia: p.begin()}
	p.doc.Header = h
	h.Keyword = p.next().span
	if p.tok.kind != word {
		p.fail("AWL1004", p.tok.span, "found", p.tok.describe())
	} else {
		h.Name = p.name("a workflow")
	}
	p.endLine(&h.Trivia)
	p.block(&h.Trailing, func() { p.item(h) })
}

// item reads one line of the header.
func (p *parser) item(h *Header) {
	switch {
	case p.tok.is("timeout"):
		p.headerTimeout(h)
	case p.tok.is("input"):
		i := &Input{Trivia: p.begin(), Doc: p.docs()}
		p.next()
		i.Name = p.name("an input")
		i.Type = p.typed(i.Name)
		p.noDefault("an input", i.Name, i.Type, "end of line")
		p.leaf(&i.Trivia)
		if p.counts(i.Name) {
			h.Inputs = append(h.Inputs, i)
		}
	case p.tok.is("signal"):
		s := &Signal{Trivia: p.begin(), Doc: p.docs()}
		p.next()
		s.Name = p.name("a signal")
		s.Type = p.typed(s.Name)
		p.noDefault("a signal", s.Name, s.Type, "end of line")
		p.leaf(&s.Trivia)
		if p.counts(s.Name) {
			h.Signals = append(h.Signals, s)
		}
	case p.tok.is("outcome"):
		if o := p.outcomeDecl(); p.counts(o.Name) {
			h.Outcomes = append(h.Outcomes, o)
		}
	default:
		p.misplacedItem("inside the header", "`timeout`, `input`, `signal` or `outcome`")
	}
}

// leaf ends a line that opens no block, and skips its block when it was not understood.
func (p *parser) leaf(t *Trivia) bool {
	ok := p.endLine(t)
	if !ok {
		p.skipBlock()
	}
	return ok
}

// headerTimeout reads `timeout DURATION` of the header.
func (p *parser) headerTimeout(h *Header) {
	t := p.begin()
	at := p.tok.span
	second := h.Timeout != nil
	if second {
		p.soft("AWL1019", at, "part", "timeout")
	}
	p.next()
	d := p.duration()
	if d == nil {
		p.fail("AWL1021", at, "key", "timeout", "what", "a duration")
	}
	if p.leaf(&t) && !second {
		h.Timeout, h.TimeoutTrivia = d, t
	}
}

// outcome = docs "outcome" NAME ":" "type" typeref "," "route" ( "success" | "failure" ) NL
func (p *parser) outcomeDecl() *OutcomeDecl {
	o := &OutcomeDecl{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	if p.tok.kind != word {
		p.badOutcome()
	}
	o.Name = p.name("an outcome")
	if !p.accept(colon) || !p.tok.is("type") {
		p.badOutcome()
	} else {
		p.next()
		if !p.startsType() {
			p.badOutcome()
		}
		o.Type = p.typeRef()
	}
	p.outcomeStatus(o)
	p.leaf(&o.Trivia)
	return o
}

// outcomeStatus reads `, route success` or `, route failure`.
func (p *parser) outcomeStatus(o *OutcomeDecl) {
	if p.bad {
		return
	}
	if !p.accept(comma) || !p.tok.is("route") {
		p.badOutcome()
		return
	}
	p.next()
	switch {
	case p.tok.is("success"):
	case p.tok.is("failure"):
		o.Failure = true
	default:
		p.badOutcome()
		return
	}
	p.next()
}

// badOutcome is the hard error AWL1008 at the token at hand.
func (p *parser) badOutcome() { p.fail("AWL1008", p.tok.span, "found", p.tok.describe()) }
