package syntax

import "strings"

// declaration reads one declaration of the top level.
func (p *parser) declaration() {
	d := p.doc
	switch w := p.tok.text; {
	case p.tok.kind != word:
		p.expected("a declaration")
		p.drop()
	case w == "const":
		c := p.constant()
		if p.counts(c.Name) {
			d.Consts, d.Order = append(d.Consts, c), append(d.Order, c)
		}
	case w == "type":
		t := p.typeDecl()
		if p.counts(t.Name) {
			d.Types, d.Order = append(d.Types, t), append(d.Order, t)
		}
	case w == "command":
		c := p.command()
		if p.counts(c.Name) {
			d.Commands, d.Order = append(d.Commands, c), append(d.Order, c)
		}
	case w == "worker":
		k := p.worker()
		if p.counts(k.Name) {
			d.Workers, d.Order = append(d.Workers, k), append(d.Order, k)
		}
	case w == "child":
		c := p.child()
		if p.counts(c.Name) {
			d.Children, d.Order = append(d.Children, c), append(d.Order, c)
		}
	case w == "subflow":
		s := p.subflow()
		if p.counts(s.Name) {
			d.Subflows, d.Order = append(d.Subflows, s), append(d.Order, s)
		}
	case w == "step":
		if s := p.step(); s != nil {
			d.Steps, d.Order = append(d.Steps, s), append(d.Order, s)
		}
	case w == "workflow":
		p.lateHeader()
	default:
		p.notTopLevel()
	}
}

// counts counts a declaration and says whether to keep it: it has a name, and the limit is not reached. The first
// declaration over the limit is reported.
func (p *parser) counts(n Ident) bool {
	if n.Name == "" {
		return false
	}
	p.decls++
	if p.decls == MaxDeclarations+1 {
		p.found.report("AWL0004", n.Span, "what", "the number of declarations", "limit", "1000")
	}
	return p.decls <= MaxDeclarations
}

// lateHeader reads a header that does not stand at the top. It is the one header when there was none.
func (p *parser) lateHeader() {
	switch {
	case p.doc.Header != nil && !p.noHeader:
		p.fail("AWL1019", p.tok.span, "part", "workflow")
		p.drop()
		return
	case p.doc.Header == nil:
		p.soft("AWL1027", p.tok.span, "what", "workflow", "where", "after a declaration", "right_place", "the top of the document")
	}
	p.noHeader = false
	p.header()
}

// notTopLevel reports a line that starts no declaration of the top level, and skips it.
func (p *parser) notTopLevel() {
	where := "at the top level"
	switch w := p.tok.text; {
	case p.foreignWord():
	case w == "timeout" && p.afterChild():
		p.notHere(where, "the child's own document", childHint)
	case w == "input", w == "signal", w == "outcome", w == "timeout":
		p.notHere(where, "the block under `workflow`")
	case w == "action":
		p.notHere(where, "the block under `worker`")
	case opensLine(w):
		p.notHere(where, "a step")
	default:
		p.expected("a declaration")
	}
	p.drop()
}

// notHere is the hard error AWL1027 at the token at hand, with a hint of its own where one is given.
func (p *parser) notHere(where, rightPlace string, hint ...string) {
	p.fail("AWL1027", p.tok.span, "what", p.tok.text, "where", where, "right_place", rightPlace, "hint", strings.Join(hint, ""))
}

// refuseBlock reports the first line of a block that cannot stand here, and skips the block.
func (p *parser) refuseBlock(where, rightPlace, hint string) {
	p.notHere(where, rightPlace, hint)
	p.bad = false
	p.carry(p.list(p.drop))
}

// afterChild says whether the last declaration is a child.
func (p *parser) afterChild() bool {
	if len(p.doc.Order) == 0 {
		return false
	}
	_, ok := p.doc.Order[len(p.doc.Order)-1].(*Child)
	return ok
}

// const = docs "const" NAME "=" expr NL
func (p *parser) constant() *Const {
	c := &Const{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	c.Name = p.name("a const")
	if p.expect(assign, "`=`") {
		c.Value = p.expr()
	}
	if !p.endLine(&c.Trivia) {
		c.Value = nil
		p.skipBlock()
	}
	return c
}

// child = docs "child" NAME "(" params ")" "->" typeref NL
func (p *parser) child() *Child {
	c := &Child{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	c.Name = p.name("a child")
	c.Params = p.params(false)
	c.Result = p.result(c.Name)
	if !p.bad && (p.tok.kind == comma || p.startsSetting()) {
		p.expected("end of line", childHint)
	}
	if !p.endLine(&c.Trivia) {
		p.skipBlock()
	} else if p.tok.kind == indent && (setting(p.peek()) || p.peek().is("run") || p.peek().is("runs")) {
		p.next()
		p.refuseBlock("below a child", "the child's own document", childHint)
	}
	return c
}

// subflow = docs "subflow" NAME "(" params ")" NL INDENT "outcome" NAME ":" "type" typeref NL step { step } DEDENT
func (p *parser) subflow() *Subflow {
	s := &Subflow{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	s.Name = p.name("a subflow")
	s.Params = p.params(true)
	understood := p.endLine(&s.Trivia)
	reported := false // AWL1026
	opened := p.block(&s.Trailing, func() {
		switch {
		case p.tok.is("step"):
			if st := p.step(); st != nil {
				s.Steps = append(s.Steps, st)
			}
		case p.tok.is("outcome"):
			reported = !p.subflowOutcome(s) || reported
		default:
			p.misplacedItem("inside a subflow", "`outcome` or `step`")
		}
	})
	if s.Outcome == nil && !reported && s.Name.Name != "" && (understood || opened) {
		p.soft("AWL1026", s.Name.Span, "name", s.Name.Name)
	} else if len(s.Steps) == 0 && s.Outcome != nil {
		p.soft("AWL1005", p.here(), "expected", "a step", "found", "end of block")
	}
	return s
}

// subflowOutcome reads the outcome of a subflow; false when something was reported about it.
func (p *parser) subflowOutcome(s *Subflow) bool {
	o := &SubflowOutcome{Trivia: p.begin()}
	late := len(s.Steps) > 0
	if late {
		p.soft("AWL1027", p.tok.span, "what", "outcome", "where", "below the steps of a subflow",
			"right_place", "the first line of the block")
	}
	p.next()
	o.Name = p.name("an outcome")
	if p.expect(colon, "`:`") && p.tok.is("type") {
		p.next()
		o.Type = p.typeRef()
	} else {
		p.expected("`type`")
	}
	if p.tok.kind == comma && !p.bad {
		p.soft("AWL1026", s.Name.Span, "name", s.Name.Name)
		p.skipLine()
		p.bad = false
	}
	if !p.endLine(&o.Trivia) {
		p.skipBlock()
		return false
	}
	if s.Outcome != nil {
		p.soft("AWL1026", o.Name.Span, "name", s.Name.Name)
		return false
	}
	s.Outcome = o
	return !late
}

// misplacedItem reports a line that the block at hand has no place for, and skips it.
func (p *parser) misplacedItem(where, expected string) {
	switch w := p.tok.text; {
	case p.tok.kind != word:
		p.expected(expected)
	case p.foreignWord():
	case declares(w), w == "workflow":
		p.notHere(where, "the top level")
	case w == "input", w == "signal":
		p.notHere(where, "the block under `workflow`")
	case w == "action":
		p.notHere(where, "the block under `worker`")
	case opensLine(w) && w != "outcome":
		p.notHere(where, "a step")
	default:
		p.expected(expected)
	}
	p.drop()
}
