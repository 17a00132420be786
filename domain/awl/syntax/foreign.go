package syntax

// foreignReplacement gives what to write instead of a word of another language, "" when the word is none.
func foreignReplacement(w string) string {
	switch w {
	case "about":
		return "`//!` and `///` lines"
	case "do", "let":
		return "`f(arg: value) -> x`"
	case "each", "for", "foreach", "parallel":
		return "`fork item in items … join`, or `distribute … collect`"
	case "repeat", "while":
		return "`loop <name> = <seed> … until … max …`"
	case "finish", "return", "fail", "throw", "output", "error":
		return "`route <outcome>`, with the outcome declared in the header"
	case "match", "case", "switch":
		return "outcome clauses"
	case "race":
		return "`wait <signal> timeout <duration>`"
	case "queue":
		return "the worker name"
	case "then", "end":
		return "indentation"
	}
	return ""
}

// foreignWord reports a line that starts with a word of another language. Such a word is a name all the same when the
// document binds it and a stage, an arrow or an accessor follows, or when the document declares it and it is called.
func (p *parser) foreignWord() bool {
	if p.tok.kind != word {
		return false
	}
	replacement := foreignReplacement(p.tok.text)
	if replacement == "" {
		return false
	}
	switch use := p.nameUse(p.tok.text); p.peek().kind {
	case pipe, arrow, accessor:
		if use.bound {
			return false
		}
	case lparen:
		if use.called {
			return false
		}
	default: // no use of a name
	}
	p.fail("AWL1010", p.tok.span, "found", p.tok.text, "replacement", replacement)
	return true
}

// nameUse says what a document makes of a word.
type nameUse struct {
	bound  bool // an input, a const, a parameter or a binding
	called bool // an action, a child or a subflow
}

// nameUse looks a word up among all that the document declares, before and behind the line at hand.
func (p *parser) nameUse(w string) nameUse {
	if p.names == nil {
		p.names = declaredNames(p.sc.src)
	}
	return p.names[w]
}

// declaredNames reads the tokens of a document for what they declare, without a grammar.
func declaredNames(src string) map[string]nameUse {
	names := map[string]nameUse{}
	s := newScanner(src, nil)
	var before, t token
	for t = s.next(); t.kind != eof; before, t = t, s.next() {
		switch {
		case t.kind == colon && before.kind == word && s.bracketsOpen() && s.lineWord == "subflow":
			names[before.text] = nameUse{bound: true, called: names[before.text].called}
		case t.kind != word:
		case before.is("action"), before.is("child"), before.is("subflow"):
			names[t.text] = nameUse{called: true, bound: names[t.text].bound}
		case before.kind == arrow, binds(before):
			names[t.text] = nameUse{bound: true, called: names[t.text].called}
		}
	}
	return names
}

// binds says whether a token is followed by a name that it binds.
func binds(t token) bool {
	switch {
	case t.kind != word:
		return false
	case t.text == "input", t.text == "const", t.text == "loop", t.text == "counting", t.text == "fork",
		t.text == "distribute", t.text == "sequence":
		return true
	}
	return false
}
