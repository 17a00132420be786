package syntax

// startsExpr says whether an expression can start at the token at hand.
func (p *parser) startsExpr() bool {
	switch p.tok.kind {
	case word, accessor, str, rawStr, integer, float, duration, lparen, lbracket, jsonBody:
		return true
	default:
		return false
	}
}

// primary reads a literal, a name, a construction or a bracket.
func (p *parser) primary() Expr {
	if p.bad {
		return p.nothing()
	}
	t := p.tok
	switch t.kind {
	case str, rawStr:
		return p.stringLit()
	case integer:
		p.next()
		return &IntLit{X: X{t.span}, Value: t.number}
	case float:
		p.next()
		return &FloatLit{X: X{t.span}, Text: t.text}
	case duration:
		p.next()
		return &DurationLit{X: X{t.span}, Text: t.text, MS: t.number}
	case accessor:
		return p.itemField()
	case lparen:
		return p.paren()
	case lbracket:
		return p.listLit()
	case word:
		return p.wordExpr()
	default:
		p.expected("a value")
		return p.nothing()
	}
}

// itemField reads a leading accessor, which needs the item of a combinator.
func (p *parser) itemField() Expr {
	n := p.ident()
	if p.items == 0 {
		p.soft("AWL1024", n.Span, "name", n.Name)
		return &BadExpr{X: X{n.Span}}
	}
	return &ItemField{X: X{n.Span}, Name: n}
}

// paren = "(" expr ")"
func (p *parser) paren() Expr {
	start := p.tok.span.Start
	e := &Paren{Of: p.nothing()}
	p.bracketed(func() {
		p.next()
		e.Of = p.expr()
		p.expect(rparen, "`)`")
	})
	e.Span = p.since(start)
	return e
}

// list = "[" [ expr { "," expr } [ "," ] ] "]"
func (p *parser) listLit() Expr {
	start := p.tok.span.Start
	l := &ListLit{}
	p.bracketed(func() {
		p.next()
		for !p.bad && p.tok.kind != rbracket {
			l.Elems = append(l.Elems, p.expr())
			if p.bad || !p.accept(comma) {
				break
			}
		}
		p.expect(rbracket, "`,` or `]`")
	})
	l.Span = p.since(start)
	return l
}

// wordExpr reads an expression that starts with a word.
func (p *parser) wordExpr() Expr {
	t := p.tok
	switch t.text {
	case "true", "false":
		p.next()
		return &BoolLit{X: X{t.span}, Value: t.text == "true"}
	case "visits":
		p.next()
		return &VisitsRef{X{t.span}}
	case "workflow":
		return p.workflowID()
	case "json":
		return p.jsonLit()
	case "schema":
		return p.schemaOf()
	case "null":
		p.soft("AWL3011", t.span)
		p.next()
		return &BadExpr{X: X{t.span}, Text: "null"}
	}
	switch {
	case reserved(t.text):
		return p.reservedValue()
	case startsUpper(t.text):
		return p.construct()
	}
	p.next()
	return &Name{X: X{t.span}, Name: t.text}
}

// reservedValue reports a reserved word where a value should stand. A word that can only come after the value says that
// the value is missing.
func (p *parser) reservedValue() Expr {
	switch p.tok.text {
	case "route", "when", "if", "in", "is", "and", "or", "of", "sequential", "counting", "join", "until":
		p.expected("a value")
	default:
		p.fail("AWL1006", p.tok.span, "word", p.tok.text, "what", "a value")
	}
	return p.nothing()
}

// workflowID reads `workflow` and the accessor behind it.
func (p *parser) workflowID() Expr {
	e := &WorkflowID{}
	start := p.next().span.Start
	if p.tok.kind == accessor {
		n := p.ident()
		e.Field = &n
	}
	e.Span = p.since(start)
	return e
}

// jsonLit = "json" JSON_BODY
func (p *parser) jsonLit() Expr {
	start := p.next().span.Start
	if p.tok.kind != jsonBody {
		p.expected("`{`")
		return p.nothing()
	}
	t := p.next()
	return &JSONLit{X: X{p.since(start)}, Body: t.text, BodyPos: t.span.Start}
}

// schemaOf = "schema" "of" TYPENAME
func (p *parser) schemaOf() Expr {
	start := p.next().span.Start
	if !p.tok.is("of") {
		p.expected("`of`")
		return p.nothing()
	}
	p.next()
	n := p.name("a type")
	return &SchemaOf{X: X{p.since(start)}, Type: n}
}

// construct = TYPENAME [ "(" args ")" ]
func (p *parser) construct() Expr {
	c := &Construct{Name: p.ident()}
	if p.tok.kind == lparen {
		c.HasArgs = true
		p.bracketed(func() { p.next(); c.Args = p.args(c.Name.Name) })
	}
	c.Span = p.since(c.Name.Span.Start)
	return c
}
