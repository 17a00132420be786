package syntax

import (
	"strings"
	"unicode/utf8"

	"aion/domain/awl/diag"
)

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

// peekWord is the word that starts here, "" when none does.
func (s *scanner) peekWord() string {
	rest := s.rest()
	n := 0
	for n < len(rest) && isWordByte(rest[n]) && (n > 0 || isLetter(rest[0])) {
		n++
	}
	return rest[:n]
}

// token reads one lexeme; false means that something unreadable was reported and skipped.
func (s *scanner) token() (token, bool) {
	c := s.peek()
	switch {
	case isLetter(c):
		return s.word(), true
	case isDigit(c), c == '-' && isDigit(s.peekAt(1)):
		return s.number()
	case c == '"':
		return s.string(), true
	case c == '.':
		return s.dot()
	case c == '{' && s.bodyKeyword() != "":
		return s.body(s.bodyKeyword()), true
	default:
		return s.punctuation()
	}
}

func (s *scanner) word() token {
	start := s.pos
	w := s.peekWord()
	s.skip(len(w))
	s.checkLength(w, s.spanFrom(start))
	return token{kind: word, text: w, span: s.spanFrom(start)}
}

// checkLength reports an identifier that is too long, once.
func (s *scanner) checkLength(w string, at diag.Span) {
	if len(w) <= MaxIdentifier || s.longNames[w] {
		return
	}
	if s.longNames == nil {
		s.longNames = map[string]bool{}
	}
	s.longNames[w] = true
	s.found.report("AWL0004", at, "what", "the length of this name", "limit", "64")
}

// dot reads `..` and accessors.
func (s *scanner) dot() (token, bool) {
	start := s.pos
	adjacent := s.inLine && s.prev.span.End.Offset == start.Offset && s.prev.kind != comma && s.prev.kind != lparen
	s.advance()
	switch {
	case s.peek() == '.':
		s.advance()
		return token{kind: dots, text: "..", span: s.spanFrom(start)}, true
	case isLetter(s.peek()):
		w := s.word()
		return token{kind: accessor, text: w.text, span: s.spanFrom(start)}, true
	case isDigit(s.peek()) && !adjacent:
		return s.badNumber(start)
	}
	s.found.report("AWL0014", s.spanFrom(start))
	for isWordByte(s.peek()) {
		s.advance()
	}
	return token{}, false
}

// symbols are the lexemes of punctuation; of two with one beginning the longer stands first.
func symbols() []token {
	return []token{
		{kind: arrow, text: "->"},
		{kind: pipe, text: "|>"},
		{kind: compare, text: "=="},
		{kind: compare, text: "!="},
		{kind: compare, text: "<="},
		{kind: compare, text: ">="},
		{kind: compare, text: "<"},
		{kind: compare, text: ">"},
		{kind: assign, text: "="},
		{kind: bar, text: "|"},
		{kind: plus, text: "+"},
		{kind: star, text: "*"},
		{kind: lparen, text: "("},
		{kind: rparen, text: ")"},
		{kind: lbracket, text: "["},
		{kind: rbracket, text: "]"},
		{kind: lbrace, text: "{"},
		{kind: rbrace, text: "}"},
		{kind: comma, text: ","},
		{kind: colon, text: ":"},
		{kind: question, text: "?"},
	}
}

func (s *scanner) punctuation() (token, bool) {
	start := s.pos
	for _, t := range s.symbols {
		if t.text[0] != s.peek() || !strings.HasPrefix(s.rest(), t.text) {
			continue
		}
		s.skip(len(t.text))
		t.span = s.spanFrom(start)
		switch t.kind {
		case lparen, lbracket, lbrace:
			s.open(t)
		case rparen, rbracket, rbrace:
			s.close(t)
		default: // no bracket
		}
		return t, true
	}
	if s.peek() == '\'' {
		if n := s.quotedLength(); n >= 0 {
			return s.singleQuoted(n), true
		}
	}
	return s.stray()
}

// singleQuoted reads a string in the quotes of other languages; n is the length of its text. It is reported, and stands
// for the string that was meant.
func (s *scanner) singleQuoted(n int) token {
	start := s.pos
	s.advance()
	quote := s.spanFrom(start)
	d := decoder{}
	for end := s.pos.Offset + n; s.pos.Offset < end; {
		at := s.pos
		d.add(s.advance(), at)
	}
	t := d.token(str, s.pos)
	s.advance()
	t.text, t.span, t.skipped = s.src[start.Offset:s.pos.Offset], s.spanFrom(start), true
	s.found.report("AWL0012", quote, "c", "'")
	return t
}

// stray reports a run of equal characters that are not part of the language.
func (s *scanner) stray() (token, bool) {
	start := s.pos
	c, n := utf8.DecodeRuneInString(s.rest())
	invalid := c == utf8.RuneError && n == 1
	for !s.atEnd() {
		if d, m := utf8.DecodeRuneInString(s.rest()); d != c || m != n {
			break
		}
		s.advance()
	}
	if invalid {
		return token{}, false // reported as AWL0001
	}
	text := s.src[start.Offset:s.pos.Offset]
	if len(text) > 4*n {
		text = text[:n]
	}
	if s.found.full() {
		s.found.add(diag.Diagnostic{Span: s.spanFrom(start)})
		return token{}, false
	}
	d := diag.New("AWL0012", s.spanFrom(start), "c", text)
	if c == ';' && s.restIsBlank() {
		d.Fix = &diag.Fix{Span: d.Span}
	}
	s.found.add(d)
	return token{}, false
}

// restIsBlank says whether nothing but space follows on the line.
func (s *scanner) restIsBlank() bool {
	rest := s.rest()
	for i := range len(rest) {
		switch rest[i] {
		case ' ', '\t', '\r':
		default:
			return rest[i] == '\n'
		}
	}
	return true
}

// quotedLength is the length of the text between the quote at hand and the next one on the line, -1 when there is none.
func (s *scanner) quotedLength() int {
	rest := s.rest()[1:]
	for i := range len(rest) {
		switch rest[i] {
		case '\'':
			return i
		case '\n':
			return -1
		}
	}
	return -1
}
