package syntax

import "aion/domain/awl/diag"

// expr = and_expr { "or" and_expr } . It always gives an expression; a BadExpr where none was understood.
func (p *parser) expr() Expr { return p.logical("or", p.andExpr) }

// and_expr = not_expr { "and" not_expr }
func (p *parser) andExpr() Expr { return p.logical("and", p.notExpr) }

func (p *parser) logical(op string, operand func() Expr) Expr {
	start := p.tok.span.Start
	left := operand()
	for n := 1; !p.bad && p.tok.is(op); n++ {
		if !p.chain(n) {
			break
		}
		at := p.next().span
		right := operand()
		left = &Binary{X: X{p.since(start)}, Op: op, OpSpan: at, L: left, R: right}
	}
	return left
}

// chain refuses an operator when the chain has n operands already and that is the most.
func (p *parser) chain(n int) bool {
	if n < maxChain {
		return true
	}
	p.limit("the length of this expression", maxChain)
	return false
}

// deeper enters a nested expression; false when that is one too deep. Each true is followed by one depth--.
func (p *parser) deeper() bool {
	if p.bad || p.depth >= MaxNesting {
		p.limit("the nesting of expressions", MaxNesting)
		return false
	}
	p.depth++
	return true
}

// bracketed reads something in brackets, which start at the token at hand: there `|>` belongs to expressions.
func (p *parser) bracketed(read func()) {
	if !p.deeper() {
		return
	}
	pipes := p.pipes
	p.pipes = false
	read()
	p.pipes = pipes
	p.depth--
}

// not_expr = "not" not_expr | comparison
func (p *parser) notExpr() Expr {
	if !p.tok.is("not") {
		return p.comparison()
	}
	if !p.deeper() {
		return p.nothing()
	}
	start := p.next().span.Start
	e := p.notExpr()
	p.depth--
	return &Not{X: X{p.since(start)}, Of: e}
}

// comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ] | [ sum ] "is" ( "empty" | "present" | "absent" )
func (p *parser) comparison() Expr {
	start := p.tok.span.Start
	if p.tok.is("is") && p.items > 0 {
		return p.isTest(nil, start)
	}
	left := p.sum()
	switch {
	case p.bad:
		return left
	case p.tok.is("is"):
		left = p.isTest(left, start)
	case p.tok.kind == compare:
		t := p.next()
		left = &Binary{Op: t.text, OpSpan: t.span, L: left, R: p.sum(), X: X{p.since(start)}}
	case p.tok.kind == assign:
		at := p.tok.span
		if !p.silent() {
			p.fixed("AWL1031", at, diag.Fix{Span: at, Text: "=="}, "what", "`=` does not compare")
		}
		p.next()
		left = &Binary{Op: "==", OpSpan: at, L: left, R: p.sum(), X: X{p.since(start)}}
	default:
		return left
	}
	setEnd(left, p.last.End)
	if !p.bad && (p.tok.kind == compare || p.tok.kind == assign || p.tok.is("is")) {
		p.fail("AWL1031", p.tok.span, "what", "comparisons do not chain")
	}
	return left
}

// setEnd completes the span of a comparison, which is made before its right side is read.
func setEnd(e Expr, end diag.Pos) {
	if b, ok := e.(*Binary); ok {
		b.Span.End = end
	}
}

// isTest reads "is" and its word.
func (p *parser) isTest(of Expr, start diag.Pos) Expr {
	at := p.next().span
	if !p.tok.is("empty") && !p.tok.is("present") && !p.tok.is("absent") {
		p.expected("`empty`, `present` or `absent`")
		return p.nothing()
	}
	w := p.next().text
	return &Is{X: X{p.since(start)}, Of: of, Word: w, IsSpan: at}
}

// sum = postfix { "+" postfix }
func (p *parser) sum() Expr {
	start := p.tok.span.Start
	left := p.postfix()
	for n := 1; !p.bad && p.tok.kind == plus; n++ {
		if !p.chain(n) {
			break
		}
		at := p.next().span
		right := p.postfix()
		left = &Binary{X: X{p.since(start)}, Op: "+", OpSpan: at, L: left, R: right}
	}
	return left
}

// postfix = primary { accessor | "[" INT "]" | "|>" combinator }
func (p *parser) postfix() Expr {
	start := p.tok.span.Start
	e := p.primary()
	for n := 1; !p.bad; n++ {
		switch {
		case p.tok.kind == accessor && p.chain(n):
			name := p.ident()
			e = &Access{X: X{p.since(start)}, Of: e, Name: name}
		case p.tok.kind == lbracket && p.chain(n):
			e = p.index(e, start)
		case p.tok.kind == pipe && !p.pipes && p.chain(n):
			p.next()
			if p.tok.kind != word || !combinatorName(p.tok.text) {
				p.expected("a combinator (`filter`, `map`, `sort`, `count`, `any` or `all`)")
				return e
			}
			c := p.combinator()
			e = &Combine{X: X{p.since(start)}, Of: e, Comb: c}
		default:
			return e
		}
	}
	return e
}

// index reads "[" INT "]".
func (p *parser) index(of Expr, start diag.Pos) Expr {
	i := &Index{Of: of}
	p.bracketed(func() {
		p.next()
		at := p.tok.span
		if p.tok.kind != rbracket {
			e := p.expr()
			at = e.Range()
			if n, ok := e.(*IntLit); ok && p.sc.src[at.Start.Offset] != '-' {
				i.Value = n.Value
				i.IndexSpan = at
			}
		}
		if i.IndexSpan == (diag.Span{}) && !p.silent() {
			p.soft("AWL1023", at)
		}
		i.IndexSpan = at
		p.expect(rbracket, "`]`")
	})
	i.Span = p.since(start)
	return i
}

// nothing is the expression that was not understood.
func (p *parser) nothing() Expr { return &BadExpr{X: X{p.here()}} }
