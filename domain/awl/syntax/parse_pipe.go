package syntax

// pipe = expr { "|>" stage } ( "->" NAME | "|>" "route" target ) NL
func (p *parser) pipe() Stmt {
	n := &Pipe{Node: p.node()}
	first := p.tok
	switch {
	case first.kind == word && !reserved(first.text) && p.peek().kind == assign:
		p.next()
		p.fail("AWL1010", p.tok.span, "found", "=", "replacement", "`f(arg: value) -> x`")
	case !p.startsExpr():
		p.expected("a statement")
	default:
		p.pipes = true
		n.Head = p.expr()
		p.pipes = false
		p.stages(n)
	}
	if !p.bad && n.Bind == nil && n.Route == nil {
		if p.tok.kind == newline {
			hint := ""
			switch first.text {
			case "try", "catch", "except", "finally":
				hint = tryHint
			}
			p.fail("AWL1012", first.span, "hint", hint)
		} else {
			p.expected("`|>` or `->`")
		}
	}
	if !p.close(&n.Node) {
		return nil
	}
	return n
}

// stages reads the chain behind the head, to its end.
func (p *parser) stages(n *Pipe) {
	for !p.bad && p.tok.kind == pipe {
		if p.peek().is("route") {
			p.next()
			p.next()
			n.Route = p.target()
			return
		}
		p.next()
		if s := p.stage(); !p.bad {
			n.Stages = append(n.Stages, s)
		}
	}
	if !p.bad && p.tok.kind == arrow {
		n.Bind = p.bind()
	}
}

// stage = NAME | accessor { accessor } | combinator
func (p *parser) stage() *Stage {
	s := &Stage{}
	start := p.tok.span.Start
	switch {
	case p.tok.kind == accessor:
		for p.tok.kind == accessor {
			s.Path = append(s.Path, p.ident())
		}
	case p.tok.kind == word && combinatorName(p.tok.text):
		s.Comb = p.combinator()
	case p.tok.kind == word:
		n := p.name("a stage")
		s.Name = &n
	default:
		p.expected("a stage")
	}
	s.Span = p.since(start)
	return s
}

// combinator = ( "filter" | "map" | "sort" | "count" | "any" | "all" ) [ "(" expr ")" ]
func (p *parser) combinator() *Combinator {
	start := p.tok.span.Start
	c := &Combinator{Name: p.ident()}
	if p.tok.kind == lparen {
		p.bracketed(func() {
			p.next()
			p.items++
			c.Arg = p.expr()
			p.items--
			p.expect(rparen, "`)`")
		})
	}
	c.Span = p.since(start)
	return c
}
