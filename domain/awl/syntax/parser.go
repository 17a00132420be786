package syntax

import (
	"strconv"
	"strings"

	"aion/domain/awl/diag"
)

// parser reads tokens by recursive descent, one method per rule of the grammar. A hard error sets bad: from then on the
// logical line is silent, and endLine skips what is left of it. A soft error is reported and reading goes on.
type parser struct {
	sc    *scanner
	found *findings
	tok   token
	ahead []token
	last  diag.Span // the last consumed token that is written in the document

	bad   bool
	inner []Comment // comments inside the statement at hand, which move above it
	trail string    // the comment behind the last consumed token

	depth  int  // nested expressions, or nested types
	items  int  // combinators that are open: their item can be named
	pipes  bool // `|>` is a stage of the statement, not part of the expression
	braces int  // `{` that were skipped and whose `}` is still to come
	joins  int  // forks that were not followed by `join`; it may still come
	where  string

	doc           *Document
	noHeader      bool // AWL1004 was reported
	lateNarration bool // AWL1002 was reported
	steps, decls  int
	positional    []positional
	ranges        []stepRange
	names         map[string]nameUse // what the document declares; nil until it is asked for
}

func newParser(src string) *parser {
	f := &findings{}
	p := &parser{sc: newScanner(src, f), found: f, doc: &Document{}}
	p.tok = p.sc.next()
	return p
}

// next consumes the token at hand. Trivia that nothing has taken is kept for the statement, and docs that nothing has
// taken attach to nothing.
func (p *parser) next() token {
	t := p.tok
	if p.trail != "" {
		p.inner = append(p.inner, Comment{Text: p.trail})
		p.trail = ""
	}
	p.inner = append(p.inner, t.lead...)
	p.trail = t.trail
	if len(t.docs) > 0 {
		p.found.report("AWL1003", t.docs[0].span)
	}
	if len(t.narration) > 0 {
		p.lateNarration = true
		p.found.report("AWL1002", t.narration[0].span)
	}
	if !t.virtual && t.kind != newline && t.kind != indent && t.kind != dedent {
		p.last = t.span
	}
	if t.broken {
		p.bad = true
	}
	if len(p.ahead) > 0 {
		p.tok = p.ahead[0]
		p.ahead = p.ahead[:0]
	} else {
		p.tok = p.sc.next()
	}
	return t
}

// peek is the token after the one at hand.
func (p *parser) peek() *token {
	if len(p.ahead) == 0 {
		p.ahead = append(p.ahead, p.sc.next())
	}
	return &p.ahead[0]
}

// accept consumes the token at hand when it is of the kind.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of the kind, or fails.
func (p *parser) expect(k kind, what string) bool {
	if p.bad {
		return false
	}
	if !p.accept(k) {
		p.expected(what)
		return false
	}
	return true
}

// silent says whether an error at the token at hand would be the consequence of another one.
func (p *parser) silent() bool { return p.bad || p.tok.skipped || p.tok.virtual }

// fail reports a hard error about the token at hand, placed at a span.
func (p *parser) fail(code string, at diag.Span, pairs ...string) {
	if !p.silent() {
		p.found.report(code, at, pairs...)
	}
	p.bad = true
}

// expected is the hard error AWL1005 at the token at hand, with a hint of its own where one is given.
func (p *parser) expected(what string, hint ...string) {
	p.fail("AWL1005", p.tok.span, "expected", what, "found", p.tok.describe(), "hint", strings.Join(hint, ""))
}

// soft reports an error after which reading goes on.
func (p *parser) soft(code string, at diag.Span, pairs ...string) {
	if !p.bad {
		p.found.report(code, at, pairs...)
	}
}

// fixed is soft with the one certain repair.
func (p *parser) fixed(code string, at diag.Span, fix diag.Fix, pairs ...string) {
	if p.bad {
		return
	}
	if p.found.full() {
		p.found.add(diag.Diagnostic{Span: at})
		return
	}
	d := diag.New(code, at, pairs...)
	d.Fix = &fix
	p.found.add(d)
}

// limit reports a limit of the document; the rest of the line is given up.
func (p *parser) limit(what string, n int) {
	p.fail("AWL0004", p.tok.span, "what", what, "limit", strconv.Itoa(n))
}

// begin takes the trivia above the token at hand, which starts a line of its own.
func (p *parser) begin() Trivia {
	t := Trivia{BlankBefore: p.tok.blank, Leading: p.tok.lead, BlankAfter: p.tok.blankAfter && len(p.tok.lead) > 0}
	p.tok.lead = nil
	p.inner, p.trail = nil, ""
	return t
}

// docs takes the doc lines above the token at hand.
func (p *parser) docs() []string {
	var text []string
	for _, d := range p.tok.docs {
		text = append(text, d.text)
	}
	p.tok.docs = nil
	return text
}

// endLine ends a logical line: it skips what a hard error left over, completes the trivia of the node, and consumes the
// line end. It reports whether the line was understood.
func (p *parser) endLine(t *Trivia) bool {
	if !p.bad && p.tok.kind != newline {
		p.unexpected()
	}
	p.skipLine()
	t.Leading = append(t.Leading, p.inner...)
	t.Trailing = p.trail
	p.inner, p.trail = nil, ""
	ok := !p.bad
	p.bad = false
	p.accept(newline)
	return ok
}

// unexpected reports what stands where a line should end.
func (p *parser) unexpected() {
	if p.tok.kind == lbrace {
		p.fail("AWL1010", p.tok.span, "found", "{", "replacement", "indentation")
		return
	}
	if p.tok.kind == colon && p.peek().kind == newline && !p.silent() {
		at := p.tok.span
		p.fixed("AWL1005", at, diag.Fix{Span: at}, "expected", "end of line", "found", p.tok.describe())
		p.next()
		return
	}
	if p.tok.is("when") || p.tok.is("if") {
		p.expected("end of line", guardHint)
		return
	}
	p.expected("end of line")
}

// skipLine consumes tokens up to the line end.
func (p *parser) skipLine() {
	p.bad = p.bad || p.tok.kind != newline
	for p.tok.kind != newline && p.tok.kind != eof {
		switch p.tok.kind {
		case lbrace:
			p.braces++
		case rbrace:
			p.braces = max(0, p.braces-1)
		default: // anything else is skipped without a trace
		}
		p.next()
	}
}

// drop skips the line at hand and its block.
func (p *parser) drop() {
	p.bad = true
	var t Trivia
	p.tok.docs = nil // they belong to what is dropped
	p.endLine(&t)
	p.skipBlock()
}

// skipBlock skips the block that opens here, if one does.
func (p *parser) skipBlock() {
	if p.tok.kind != indent {
		return
	}
	depth := 0
	for p.tok.kind != eof {
		switch p.tok.kind {
		case indent:
			depth++
		case dedent:
			depth--
		default: // part of what is skipped
		}
		p.tok.docs = nil
		p.bad = true
		p.next()
		if depth == 0 {
			break
		}
	}
	p.bad = false
	p.inner, p.trail = nil, ""
}

// block reads the items of the block that opens here; it reports whether there is one. The comments that close the
// block are added to trailing.
func (p *parser) block(trailing *[]Comment, item func()) bool {
	if p.tok.kind != indent {
		return false
	}
	p.next()
	*trailing = append(*trailing, p.list(item)...)
	return true
}

// list reads items up to the end of the block, or of the document, and gives the comments that stand before that end.
// A block that nothing opened is reported and read as if it were not indented.
func (p *parser) list(item func()) []Comment {
	for strays := 0; ; {
		switch p.tok.kind {
		case eof:
			return nil
		case indent:
			p.strayIndent()
			strays++
		case newline: // only before a line that was skipped whole
			p.next()
		case dedent:
			comments := p.tok.lead
			p.tok.lead = nil
			p.next()
			if strays == 0 {
				return comments
			}
			strays--
			p.carry(comments)
		case rbrace:
			p.strayBrace()
		default:
			item()
		}
	}
}

// carry puts comments in front of what follows.
func (p *parser) carry(comments []Comment) {
	if len(comments) == 0 {
		return
	}
	if len(p.tok.lead) == 0 {
		p.tok.blankAfter = p.tok.blank
	}
	p.tok.blank = comments[0].BlankBefore
	p.tok.lead = append(comments[:len(comments):len(comments)], p.tok.lead...)
}

// strayIndent reports a deeper line that nothing opened.
func (p *parser) strayIndent() {
	at := p.tok.span
	width := at.Start.Column - 1
	if t := p.peek().span; t.Start == at.Start {
		at = t
	}
	p.next()
	p.soft("AWL0006", at, "n", strconv.Itoa(width), "expected", strconv.Itoa(max(0, width-2)))
}

// strayBrace skips a line that starts with `}`; it is reported unless its `{` was.
func (p *parser) strayBrace() {
	if p.braces == 0 {
		p.fail("AWL1010", p.tok.span, "found", "}", "replacement", "indentation")
	}
	p.drop()
}
