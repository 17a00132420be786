package syntax

import "aion/domain/awl/diag"

// typeref = ( TYPENAME | "[" typeref "]" | "List" "<" typeref ">" ) [ "?" ]. Nil when it was not understood.
func (p *parser) typeRef() *TypeRef {
	if p.bad {
		return nil
	}
	if p.depth >= MaxNesting {
		p.limit("the nesting of types", MaxNesting)
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	start := p.tok.span.Start
	t := p.typeCore()
	if t == nil || p.bad {
		return nil
	}
	if p.tok.kind == question {
		p.next()
		t.Optional = true
	}
	t.Span = p.since(start)
	return t
}

func (p *parser) typeCore() *TypeRef {
	switch {
	case p.tok.kind == lbracket:
		p.next()
		elem := p.typeRef()
		if !p.expect(rbracket, "`]`") {
			return nil
		}
		return &TypeRef{Elem: elem}
	case p.tok.kind != word:
		p.expected("a type")
		return nil
	case p.tok.text == "List" && p.peek().text == "<":
		p.next()
		p.next()
		elem := p.typeRef()
		if !p.closeAngle() {
			return nil
		}
		return &TypeRef{Elem: elem}
	}
	if t, ok := p.foreignType(); ok {
		return t
	}
	if p.tok.text == "List" {
		p.next()
		p.expected("`<`")
		return nil
	}
	return &TypeRef{Name: p.name("a type")}
}

func (p *parser) closeAngle() bool {
	if p.bad {
		return false
	}
	if p.tok.kind != compare || p.tok.text != ">" {
		p.expected("`>`")
		return false
	}
	p.next()
	return true
}

// builtinSpelling translates the builtin types of other languages.
func builtinSpelling(w string) string {
	switch w {
	case "string", "str":
		return "String"
	case "int", "integer", "number":
		return "Int"
	case "float":
		return "Float"
	case "bool", "boolean":
		return "Bool"
	}
	return ""
}

// foreignType reads a type in the spelling of another language, and reports it.
func (p *parser) foreignType() (*TypeRef, bool) {
	w, at := p.tok.text, p.tok.span
	if b := builtinSpelling(w); b != "" {
		if !p.silent() {
			p.fixed("AWL1010", at, diag.Fix{Span: at, Text: b}, "found", w, "replacement", "`"+b+"`")
		}
		n := p.ident()
		n.Name = b
		return &TypeRef{Name: n}, true
	}
	if w == "any" || w == "object" {
		p.soft("AWL1010", at, "found", w, "replacement", "a declared type")
		return &TypeRef{Name: p.ident()}, true
	}
	next := p.peek()
	angle := next.kind == compare && next.text == "<"
	switch w {
	case "Array", "Option", "Optional", "Map":
		if !angle && next.kind != lparen {
			return nil, false
		}
	case "List":
		if next.kind != lparen {
			return nil, false
		}
	default:
		return nil, false
	}
	return p.foreignGeneric(angle), true
}

// foreignGeneric reads `Name<T>` or `Name(T)` of another language.
func (p *parser) foreignGeneric(angle bool) *TypeRef {
	w, start := p.tok.text, p.tok.span.Start
	p.next()
	p.next()
	elem := p.typeRef()
	for !p.bad && p.accept(comma) {
		p.typeRef()
	}
	closed := angle && p.closeAngle() || !angle && p.expect(rparen, "`)`")
	if !closed || elem == nil {
		return nil
	}
	at := p.since(start)
	inner := p.text(elem.Span)
	found := shorten(p.text(at))
	switch w {
	case "List", "Array":
		p.fixed("AWL1010", at, diag.Fix{Span: at, Text: "[" + inner + "]"},
			"found", found, "replacement", "`["+shorten(inner)+"]`")
		return &TypeRef{Elem: elem}
	case "Option", "Optional":
		if !elem.Optional {
			p.fixed("AWL1010", at, diag.Fix{Span: at, Text: inner + "?"}, "found", found, "replacement", "`"+shorten(inner)+"?`")
			elem.Optional = true
			return elem
		}
	}
	p.soft("AWL1010", at, "found", found, "replacement", "a declared type")
	return elem
}

// text is the source of a span.
func (p *parser) text(s diag.Span) string { return p.sc.src[s.Start.Offset:s.End.Offset] }

// type = docs "type" TYPENAME ( record | "=" enum | "=" "schema" schema_src ) NL
func (p *parser) typeDecl() *TypeDecl {
	t := &TypeDecl{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	t.Name = p.name("a type")
	switch {
	case p.bad:
	case p.accept(lbrace):
		p.record(t)
	case p.accept(assign):
		if p.tok.is("schema") {
			t.Schema = p.schemaSource()
		} else {
			p.enum(t)
		}
	default:
		p.expected("`{` or `=`")
	}
	if !p.endLine(&t.Trivia) {
		t.IsRecord, t.IsEnum, t.Fields, t.Variants, t.Schema = false, false, nil, nil, nil
		p.skipBlock()
	}
	return t
}

// record = "{" { field [ "," ] } "}" ; the comma may be left out at a line end
func (p *parser) record(t *TypeDecl) {
	t.IsRecord = true
	for !p.bad && p.tok.kind != rbrace {
		f := p.field()
		if p.bad {
			return
		}
		t.Fields = append(t.Fields, f)
	}
	if p.tok.kind == rbrace {
		t.Trailing = p.tok.lead
		p.tok.lead = nil
	}
	p.expect(rbrace, "`}`")
}

// field = docs LABEL ":" typeref
func (p *parser) field() *Field {
	f := &Field{Trivia: Trivia{BlankBefore: p.tok.blank, Leading: p.tok.lead, BlankAfter: p.tok.blankAfter && len(p.tok.lead) > 0}}
	p.tok.lead = nil
	f.Doc = p.docs()
	f.Name = p.label("a field")
	f.Type = p.typed(f.Name)
	p.noDefault("a field", f.Name, f.Type, "`,` or `}`")
	if !p.bad && !p.accept(comma) && p.tok.kind != rbrace && !p.tok.first {
		p.expected("`,` or `}`")
	}
	if p.tok.first {
		f.Trailing, p.trail = p.trail, ""
	}
	return f
}

// enum = VARIANT { "|" VARIANT }
func (p *parser) enum(t *TypeDecl) {
	t.IsEnum = true
	for {
		n := p.name("a variant")
		if p.bad {
			return
		}
		t.Variants = append(t.Variants, n)
		if p.tok.kind == lparen || p.tok.kind == lbrace {
			p.soft("AWL1022", p.tok.span, "name", n.Name)
			p.skipBrackets()
		}
		if !p.accept(bar) {
			return
		}
	}
}

// skipBrackets consumes a bracket with all it encloses, on the line at hand.
func (p *parser) skipBrackets() {
	for depth := 0; p.tok.kind != newline && p.tok.kind != eof; {
		switch p.next().kind {
		case lparen, lbracket, lbrace:
			depth++
		case rparen, rbracket, rbrace:
			depth--
		default: // content
		}
		if depth == 0 {
			return
		}
	}
}

// schema_src = JSON_BODY | "(" STRING ")"
func (p *parser) schemaSource() *SchemaSource {
	s := &SchemaSource{Keyword: p.next().span}
	switch p.tok.kind {
	case jsonBody:
		t := p.next()
		s.Inline, s.Body, s.BodyPos = true, t.text, t.span.Start
	case lparen:
		p.next()
		if p.tok.kind != str {
			p.expected("the path of a schema file, as a string")
			return nil
		}
		t := p.next()
		s.Path, s.PathSpan = t.value, t.span
		p.expect(rparen, "`)`")
	default:
		p.expected("`{` or `(\"<path>\")`")
		return nil
	}
	return s
}
