package syntax

// worker = docs "worker" NAME NL INDENT action { action } DEDENT
func (p *parser) worker() *Worker {
	w := &Worker{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	w.Name = p.name("a worker")
	understood := p.endLine(&w.Trivia)
	opened := p.block(&w.Trailing, func() {
		if !p.tok.is("action") {
			p.misplacedItem("inside a worker", "`action`")
			return
		}
		if a := p.action(); p.counts(a.Name) {
			w.Actions = append(w.Actions, a)
		}
	})
	if understood && !opened {
		p.soft("AWL1028", w.Name.Span, "name", w.Name.Name)
	}
	return w
}

// action = docs "action" NAME "(" params ")" "->" typeref NL [ INDENT { config NL } [ body NL ] DEDENT ]
func (p *parser) action() *Action {
	a := &Action{Trivia: p.begin(), Doc: p.docs()}
	p.next()
	a.Name = p.name("an action")
	a.Params = p.params(false)
	a.Result = p.result(a.Name)
	if !p.bad && (p.tok.kind == comma || p.startsSetting() || p.tok.is("run") || p.tok.is("runs")) {
		p.expected("end of line", actionHint)
	}
	p.endLine(&a.Trivia)
	p.block(&a.Trailing, func() {
		switch {
		case p.startsSetting():
			p.actionSettings(a)
		case p.tok.is("run"), p.tok.is("runs"):
			b, second := p.body(), a.Body != nil
			if second {
				p.soft("AWL1019", b.Keyword, "part", "body")
			}
			if p.leaf(&b.Trivia) && !second {
				a.Body = b
			}
		default:
			p.misplacedItem("inside an action", "`node`, `timeout`, `retry`, `run` or `runs`")
		}
	})
	return a
}

// actionSettings reads the config line of an action. There is one, above the body.
func (p *parser) actionSettings(a *Action) {
	switch {
	case a.Body != nil:
		p.notHere("below the body of an action", "the line above the body")
		p.drop()
		return
	case a.Settings != nil:
		p.expected("`run`, `runs` or nothing: settings share one line, separated by `,`", sharedHint)
		p.drop()
		return
	}
	s := &Settings{Trivia: p.begin()}
	p.config(s)
	p.leaf(&s.Trivia)
	a.Settings = s
}

// startsSetting says whether a setting starts at the token at hand.
func (p *parser) startsSetting() bool {
	return p.tok.is("node") || p.tok.is("timeout") || p.tok.is("retry")
}

// config = setting { "," setting } [ "," ]
func (p *parser) config(s *Settings) {
	s.First = p.tok.span
	for !p.bad {
		if !p.startsSetting() {
			p.expected("`node`, `timeout` or `retry`")
			return
		}
		p.setting(s)
		if p.bad || !p.accept(comma) || p.tok.kind == newline {
			return
		}
	}
}

// setting reads one setting; a second one of its kind is reported and dropped.
func (p *parser) setting(s *Settings) {
	t := p.tok
	second := t.text == "node" && s.Node != nil || t.text == "timeout" && s.Timeout != nil || t.text == "retry" && s.Retry != nil
	if second {
		p.soft("AWL1019", t.span, "part", t.text)
	}
	p.next()
	var read Settings
	switch t.text {
	case "node":
		if p.tok.kind != word {
			p.fail("AWL1021", t.span, "key", "node", "what", "a name")
			return
		}
		read.Node = &NodeSetting{Keyword: t.span, Name: p.name("a node")}
	case "timeout":
		d := p.duration()
		if d == nil {
			p.fail("AWL1021", t.span, "key", "timeout", "what", "a duration")
			return
		}
		read.Timeout = &TimeoutSetting{Keyword: t.span, Value: d}
	case "retry":
		read.Retry = p.retry(&t)
	}
	if p.bad || second {
		return
	}
	switch {
	case read.Node != nil:
		s.Node = read.Node
	case read.Timeout != nil:
		s.Timeout = read.Timeout
	case read.Retry != nil:
		s.Retry = read.Retry
	}
}

// retry reads `INT "every" duration` or `INT "backoff" duration ".." duration` behind `retry`.
func (p *parser) retry(keyword *token) *RetrySetting {
	r := &RetrySetting{Keyword: keyword.span}
	if p.tok.kind != integer {
		hint := ""
		if p.tok.kind == word {
			hint = retryHint
		}
		p.fail("AWL1021", keyword.span, "key", "retry", "what", "a number of retries", "hint", hint)
		return nil
	}
	t := p.next()
	r.Count, r.CountSpan = t.number, t.span
	schedule := p.tok
	switch {
	case schedule.is("every"):
		p.next()
		r.Every = p.duration()
		if r.Every == nil {
			p.fail("AWL1021", keyword.span, "key", "every", "what", "a duration")
		}
	case schedule.is("backoff"):
		p.next()
		r.Min = p.duration()
		if r.Min == nil {
			p.fail("AWL1021", keyword.span, "key", "backoff", "what", "a range of durations")
			return nil
		}
		if p.tok.kind != dots {
			p.fail("AWL1021", r.Min.Span, "key", "backoff", "what", "a range of durations")
			return nil
		}
		p.next()
		r.Max = p.duration()
		if r.Max == nil {
			p.fail("AWL1021", r.Min.Span, "key", "backoff", "what", "a range of durations")
		}
	default:
		p.fail("AWL1021", keyword.span, "key", "retry", "what", "`every <duration>` or `backoff <duration>..<duration>`")
	}
	return r
}

// body = "run" ( STRING | RAW ) [ "capture" … ] | "runs" "command" NAME [ "capture" … ]
func (p *parser) body() *Body {
	b := &Body{Trivia: p.begin()}
	captures := "`text`, `lines` or `json`"
	t := p.next()
	b.Keyword = t.span
	switch {
	case t.text == "run":
		captures = "`outcome`, `text`, `lines` or `json`"
		if p.tok.kind != str && p.tok.kind != rawStr {
			p.expected("a command, as a string")
			return b
		}
		b.Run = p.stringLit()
	case !p.tok.is("command"):
		p.expected("`command`")
		return b
	default:
		p.next()
		n := p.name("a command")
		b.Command = &n
	}
	if !p.bad && p.tok.is("capture") {
		p.next()
		switch {
		case p.tok.is("text"), p.tok.is("lines"), p.tok.is("json"), p.tok.is("outcome") && b.Run != nil:
			b.Capture, b.CaptureSpan = p.tok.text, p.tok.span
			p.next()
		default:
			p.expected(captures)
		}
	}
	return b
}
