package syntax

import "strings"

// command = docs "command" NAME { cparam } ":" NL INDENT { directive } line { line } DEDENT
func (p *parser) command() *Command {
	c := &Command{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	c.Name = p.name("a command")
	for !p.bad && p.tok.kind != colon && p.tok.kind != newline {
		if cp := p.commandParam(); cp != nil {
			c.Params = append(c.Params, cp)
		}
	}
	if !p.bad && p.tok.kind == newline {
		p.soft("AWL1032", c.Name.Span, "name", c.Name.Name, "what", "has no `:` after its parameters")
	} else if !p.bad {
		p.next()
	}
	understood := p.endLine(&c.Trivia)
	bad := false
	p.block(&c.Trailing, func() {
		switch {
		case p.tok.kind == commandLine:
			l := &CommandLine{Trivia: p.begin()}
			t := p.next()
			l.Text, l.Pos, l.Span = t.text, t.span.Start, t.span
			p.endLine(&l.Trivia)
			c.Lines = append(c.Lines, l)
		case p.tok.is("cwd"), p.tok.is("export"):
			bad = !p.directive(c) || bad
		default:
			p.expected("a command line")
			p.drop()
		}
	})
	if understood && len(c.Lines) == 0 && !bad && c.Name.Name != "" {
		p.soft("AWL1032", c.Name.Span, "name", c.Name.Name, "what", "has no lines")
	}
	return c
}

// cparam = NAME [ "=" STRING ] | "*" NAME | "+" NAME
func (p *parser) commandParam() *CommandParam {
	c := &CommandParam{Kind: "one"}
	switch p.tok.kind {
	case star:
		c.Kind = "list"
		p.next()
	case plus:
		c.Kind = "list1"
		p.next()
	case word:
	default:
		p.expected("a parameter or `:`")
		return nil
	}
	c.Name = p.name("a parameter")
	if c.Kind == "one" && p.accept(assign) {
		if p.tok.kind != str {
			p.expected("a default, as a string on one line")
			return nil
		}
		c.Default = p.stringLit()
	}
	if p.bad {
		return nil
	}
	return c
}

// directive = "cwd" STRING NL | "export" ENVNAME "=" STRING NL. It reports whether the line was understood.
func (p *parser) directive(c *Command) bool {
	if len(c.Lines) > 0 {
		p.notHere("below the lines of a command", "the top of the block")
		p.drop()
		return false
	}
	d := &Directive{Trivia: p.begin(), Export: p.tok.is("export")}
	start := p.tok.span.Start
	if !d.Export {
		for _, other := range c.Directives {
			if !other.Export {
				p.soft("AWL1019", p.tok.span, "part", "cwd")
				p.drop()
				return false
			}
		}
		d.Name = p.ident()
	} else {
		p.next()
		if p.tok.kind == word && strings.HasPrefix(p.tok.text, "AION_") {
			p.reservedWord("an exported variable")
		}
		d.Name = p.label("the name of a variable")
		p.expect(assign, "`=`")
	}
	if !p.bad {
		if p.tok.kind == str {
			d.Value = p.stringLit()
		} else {
			p.expected("a string")
		}
	}
	d.Span = p.since(start)
	if !p.leaf(&d.Trivia) {
		return false
	}
	c.Directives = append(c.Directives, d)
	return true
}
