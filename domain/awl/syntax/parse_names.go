package syntax

import "aion/domain/awl/diag"

// name reads a NAME; what says what it would be, as in "a step". A reserved word is reported and read as the name.
func (p *parser) name(what string) Ident {
	if p.bad {
		return Ident{}
	}
	if p.tok.kind != word {
		p.expected(what + "'s name")
		return Ident{}
	}
	if reserved(p.tok.text) {
		p.reservedWord(what)
	}
	return p.ident()
}

// reservedWord reports a reserved word where a name should stand. Names outlive a mistake, so it is soft.
func (p *parser) reservedWord(what string) {
	if !p.silent() {
		p.soft("AWL1006", p.tok.span, "word", p.tok.text, "what", what)
	}
}

// ident consumes the word at hand.
func (p *parser) ident() Ident {
	t := p.next()
	return Ident{Name: t.text, Span: t.span}
}

// label reads a LABEL: any word.
func (p *parser) label(what string) Ident {
	if p.bad {
		return Ident{}
	}
	if p.tok.kind != word {
		p.expected(what)
		return Ident{}
	}
	return p.ident()
}

// bind reads `-> NAME` where an arrow is at hand. Nil when the name is missing.
func (p *parser) bind() *Ident {
	at := p.next().span
	if p.tok.kind != word {
		p.fail("AWL1014", at)
		return nil
	}
	n := p.name("a binding")
	return &n
}

// duration = DURATION | NAME. Nil when neither stands here; nothing is consumed or reported then.
func (p *parser) duration() *Duration {
	switch {
	case p.bad:
		return nil
	case p.tok.kind == duration:
		t := p.next()
		return &Duration{Text: t.text, MS: t.number, Span: t.span}
	case p.tok.kind == word && !reserved(p.tok.text):
		n := p.ident()
		return &Duration{Name: &n, Span: n.Span}
	}
	return nil
}

// stringLit consumes the string at hand.
func (p *parser) stringLit() *StringLit {
	t := p.next()
	return &StringLit{X: X{t.span}, Value: t.value, Raw: t.kind == rawStr, Offsets: t.offsets}
}

// params = [ LABEL ":" typeref { "," LABEL ":" typeref } [ "," ] ], with its parentheses. Those of a subflow are names.
func (p *parser) params(names bool) []*Param {
	var list []*Param
	if !p.expect(lparen, "`(`") {
		return nil
	}
	for !p.bad && p.tok.kind != rparen {
		if names && p.tok.kind == word && reserved(p.tok.text) {
			p.reservedWord("a parameter")
		}
		n := p.label("a parameter")
		if p.bad {
			break
		}
		param := &Param{Name: n, Type: p.typed(n)}
		p.noDefault("a parameter", n, param.Type, "`,` or `)`")
		list = append(list, param)
		if p.bad || !p.accept(comma) {
			break
		}
	}
	p.expect(rparen, "`,` or `)`")
	return list
}

// typed reads ":" typeref behind a name. Nil when the type is missing; that is reported.
func (p *parser) typed(n Ident) *TypeRef {
	if p.bad || n.Name == "" {
		return nil
	}
	if !p.accept(colon) || !p.startsType() {
		if p.tok.kind != lbrace {
			if !p.silent() {
				hint := ""
				if p.tok.kind == assign {
					hint = "write `" + n.Name + ": <Type>`; there is no default value here"
				}
				p.soft("AWL1007", n.Span, "name", n.Name, "hint", hint)
			}
			p.bad = p.bad || p.tok.kind != comma && p.tok.kind != rparen && p.tok.kind != rbrace && p.tok.kind != newline
			return nil
		}
		p.expected("a type")
		return nil
	}
	return p.typeRef()
}

// startsType says whether a type can start at the token at hand.
func (p *parser) startsType() bool { return p.tok.kind == word || p.tok.kind == lbracket }

// result reads "->" typeref of an action or a child.
func (p *parser) result(n Ident) *TypeRef {
	if p.bad {
		return nil
	}
	if p.tok.kind == newline || p.tok.kind == arrow {
		if p.accept(arrow) && p.startsType() {
			return p.typeRef()
		}
		if p.tok.kind == newline {
			p.soft("AWL1020", n.Span, "name", n.Name)
			return nil
		}
		p.expected("a type")
		return nil
	}
	p.expected("`->`")
	return nil
}

// here is an empty span at the end of what was read.
func (p *parser) here() diag.Span { return diag.Span{Start: p.last.End, End: p.last.End} }

// since is the span from a place to the end of what was read.
func (p *parser) since(start diag.Pos) diag.Span { return diag.Span{Start: start, End: p.last.End} }
