package syntax

// statements reads the block of statements that opens here; false when there is none.
func (p *parser) statements(body *[]Stmt, trailing *[]Comment, where string) bool {
	outer := p.where
	p.where = where
	opened := p.block(trailing, func() {
		if s := p.statement(); s != nil {
			*body = append(*body, s)
		}
	})
	p.where = outer
	return opened
}

// statement = call | spawn | pipe | wait | sleep | route | fork | loop | region | collect | step . Nil when it was not
// understood; it is skipped with its block then.
func (p *parser) statement() Stmt {
	if p.tok.kind == word {
		switch p.tok.text {
		case "spawn":
			return p.spawn()
		case "wait":
			return p.wait()
		case "sleep":
			return p.sleep()
		case "route":
			return p.route()
		case "fork":
			return p.fork()
		case "loop":
			return p.loop()
		case "distribute", "sequence":
			return p.region()
		case "collect":
			return p.collect()
		case "step":
			return p.substep()
		}
		if p.misplaced() {
			p.drop()
			return nil
		}
		if p.peek().kind == lparen && !startsUpper(p.tok.text) && !reserved(p.tok.text) {
			return p.call()
		}
	}
	return p.pipe()
}

// misplaced reports a word that starts no statement here.
func (p *parser) misplaced() bool {
	switch w := p.tok.text; {
	case p.foreignWord():
	case w == "until":
		p.notHere(p.where, "the end of a `loop`")
	case w == "join" && p.joins > 0:
		p.joins--
	case w == "join":
		p.notHere(p.where, "the line below a `fork` block")
	case w == "max":
		p.notHere(p.where, "the end of a step or a loop")
	case w == "on", w == "outcome":
		p.notHere(p.where, "the end of a step", misplacedHint(w, p.where))
	case w == "input", w == "signal":
		p.notHere(p.where, "the block under `workflow`")
	case w == "action":
		p.notHere(p.where, "the block under `worker`")
	case declares(w) && w != "command", w == "workflow" && p.peek().kind == word:
		p.notHere(p.where, "the top level")
	case w == "when", w == "if", w == "otherwise", w == "else":
		p.notHere(p.where, "an outcome clause", misplacedHint(w, p.where))
	default:
		return false
	}
	return true
}

// node starts a statement at the token at hand.
func (p *parser) node() Node {
	n := Node{Trivia: p.begin()}
	n.Span.Start = p.tok.span.Start
	return n
}

// close ends the line of a statement that has no block; it reports whether it was understood.
func (p *parser) close(n *Node) bool {
	n.Span = p.since(n.Span.Start)
	return p.leaf(&n.Trivia)
}

// call = NAME "(" args ")" [ "->" NAME ] NL [ INDENT config NL DEDENT ]
func (p *parser) call() Stmt {
	c := &Call{Node: p.node(), Name: p.ident()}
	p.bracketed(func() { p.next(); c.Args = p.args(c.Name.Name) })
	switch {
	case p.bad:
	case p.tok.kind == arrow:
		c.Bind = p.bind()
	case p.tok.kind == pipe:
		p.fail("AWL1013", p.tok.span, "call", c.Name.Name)
	case p.tok.is("as"):
		p.fail("AWL1010", p.tok.span, "found", "as", "replacement", "`"+c.Name.Name+"(arg: value) -> x`")
	}
	if !p.bad && (p.startsSetting() || p.tok.kind == comma) {
		p.expected("end of line", callHint)
	}
	if !p.close(&c.Node) {
		return nil
	}
	if p.tok.kind == indent && setting(p.peek()) {
		p.callSettings(c)
	}
	return c
}

func setting(t *token) bool { return t.is("node") || t.is("timeout") || t.is("retry") }

// callSettings reads the config line under a call.
func (p *parser) callSettings(c *Call) {
	var trailing []Comment
	p.block(&trailing, func() {
		switch {
		case c.Settings != nil && p.startsSetting():
			p.expected("the next statement, two spaces to the left", sharedHint)
			p.drop()
			return
		case c.Settings != nil || !p.startsSetting():
			p.expected("the next statement, two spaces to the left", "only `timeout` and `node` stand below a call, on one line; what follows the call stands in "+
				"the column of the call")
			p.drop()
			return
		}
		s := &Settings{Trivia: p.begin()}
		p.config(s)
		c.Span = p.since(c.Span.Start)
		p.leaf(&s.Trivia)
		c.Settings = s
	})
	p.carry(trailing)
}

// spawn = "spawn" NAME "(" args ")" NL
func (p *parser) spawn() Stmt {
	s := &Spawn{Node: p.node()}
	p.next()
	s.Name = p.name("a child")
	if !p.bad && p.tok.kind != lparen {
		p.expected("`(`")
	}
	if !p.bad {
		p.bracketed(func() { p.next(); s.Args = p.args(s.Name.Name) })
	}
	if !p.bad && p.tok.kind == arrow {
		at, name := p.tok.span, "<name>"
		if p.peek().kind == word {
			name = p.peek().text
		}
		p.fail("AWL1029", at, "name", name)
	}
	if !p.close(&s.Node) {
		return nil
	}
	return s
}

// wait = "wait" NAME [ "timeout" duration ] "->" NAME NL
func (p *parser) wait() Stmt {
	w := &Wait{Node: p.node()}
	at := p.next().span
	w.Signal = p.name("a signal")
	if !p.bad && p.tok.is("timeout") {
		keyword := p.next().span
		if w.Timeout = p.duration(); w.Timeout == nil {
			p.fail("AWL1021", keyword, "key", "timeout", "what", "a duration")
		}
	}
	switch {
	case p.bad:
	case p.tok.kind == arrow:
		w.Bind = p.bind()
	case p.tok.kind == newline:
		p.fail("AWL1015", at, "signal", w.Signal.Name)
	default:
		p.expected("`->`")
	}
	if !p.bad && p.tok.is("timeout") {
		p.expected("end of line", timed(w.Signal.Name, p.peek()))
	}
	if !p.close(&w.Node) {
		return nil
	}
	if p.tok.kind == indent && p.peek().is("timeout") {
		p.next()
		p.refuseBlock("below a `wait`", "the line of the `wait`", timed(w.Signal.Name, p.peek()))
	}
	return w
}

// sleep = "sleep" duration NL
func (p *parser) sleep() Stmt {
	s := &Sleep{Node: p.node()}
	p.next()
	if s.Duration = p.duration(); s.Duration == nil {
		p.expected("a duration")
	}
	if !p.close(&s.Node) {
		return nil
	}
	return s
}

// route = "route" target NL
func (p *parser) route() Stmt {
	r := &Route{Node: p.node()}
	p.next()
	r.Target = p.target()
	if !p.close(&r.Node) {
		return nil
	}
	return r
}

// collect = "collect" NAME [ "?" ] "->" NAME NL
func (p *parser) collect() Stmt {
	c := &Collect{Node: p.node()}
	p.next()
	if p.tok.kind != word {
		p.expected("the name of what is collected", "write `collect x -> xs`: `x` is what the steps of the region bind for each item")
	}
	c.Name = p.name("a collected name")
	if !p.bad {
		c.Tolerant = p.accept(question)
		if p.tok.kind == arrow {
			c.Bind = p.bind()
		} else {
			p.expected("`->`")
		}
	}
	if !p.close(&c.Node) {
		return nil
	}
	return c
}

// region = ( "distribute" | "sequence" ) NAME "in" expr NL
func (p *parser) region() Stmt {
	r := &Region{Node: p.node()}
	r.Verb = p.next().text
	r.Item = p.name("an item")
	r.Over = p.over()
	if !p.close(&r.Node) {
		return nil
	}
	return r
}

// over reads "in" expr.
func (p *parser) over() Expr {
	if p.bad {
		return nil
	}
	if !p.tok.is("in") {
		p.expected("`in`")
		return nil
	}
	p.next()
	return p.expr()
}

// substep is a step inside a statement list.
func (p *parser) substep() Stmt {
	start := p.tok.span.Start
	s := p.step()
	if s == nil {
		return nil
	}
	n := &Substep{Step: s}
	n.Trivia, n.Span = s.Trivia, p.since(start)
	return n
}
