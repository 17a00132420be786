package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aion/domain/awl/diag"
)

// scanner turns text into tokens, one at a time. It owns what needs no grammar: the indent stack, the brackets, the
// continuation of lines, and the trivia. Every character is consumed by advance, which keeps the position.
type scanner struct {
	src   string
	pos   diag.Pos
	found *findings

	symbols  []token
	queue    []token // tokens that are ready
	given    int     // how many of them were given
	lineHead bool    // at the start of a physical line
	ended    bool    // the end of the document was queued

	levels   []level
	tooDeep  bool // AWL0004 for indentation was reported
	brackets []bracket
	unstored int         // open brackets beyond what brackets stores
	unclosed []diag.Span // from each bracket that was never closed to where it was closed for the author

	inLine   bool   // the logical line has a token
	lineWord string // its first word, "" when it starts otherwise
	prev     token  // the last token of the source
	command  bool   // the last line without indentation starts with `command`
	recipe   bool   // inside the block of a command, where lines are raw text

	pending pending
	skipped bool // something unreadable stood before the next token

	longNames map[string]bool // identifiers over the limit, each reported once
	badUTF8   bool            // AWL0001 was reported
}

// pending is the trivia read so far for the next token.
type pending struct {
	comments   []placedComment
	narration  []docLine
	docs       []docLine
	above      int  // comments that stand above the first line of narration
	gap        bool // a blank line stood between them
	blank      bool // before all of it
	blankAfter bool // after the last comment
	first      bool // the next token is the first of its line
}

// placedComment remembers its indentation until it is known which block it closes.
type placedComment struct {
	Comment
	width int
}

func newScanner(src string, found *findings) *scanner {
	s := &scanner{src: src, pos: diag.Pos{Line: 1, Column: 1}, found: found, lineHead: true, symbols: symbols(), levels: []level{{}}}
	s.prev.span = diag.Span{Start: s.pos, End: s.pos}
	if strings.HasPrefix(src, "\uFEFF") {
		s.invalidByte()
		s.advance()
		s.pos.Column = 1
	}
	return s
}

// next gives the next token; after the end of the document it gives eof for ever.
func (s *scanner) next() token {
	for {
		if s.given < len(s.queue) {
			s.given++
			return s.queue[s.given-1]
		}
		s.queue, s.given = s.queue[:0], 0
		if s.ended {
			return token{kind: eof, span: diag.Span{Start: s.pos, End: s.pos}}
		}
		if s.lineHead {
			s.beginLine()
			continue
		}
		s.skipSpace()
		switch {
		case s.atEOL():
			s.newline()
		case strings.HasPrefix(s.rest(), "//"):
			s.toEOL()
		default:
			t, ok := s.token()
			if !ok {
				s.skipped = true
				continue
			}
			s.queue = append(s.queue, s.finish(t)) // behind closing brackets that had to be added
		}
	}
}

// finish gives a token of the source its trivia, and remembers it.
func (s *scanner) finish(t token) token {
	p := s.pending
	s.pending = pending{}
	for _, c := range p.comments {
		t.lead = append(t.lead, c.Comment)
	}
	t.narration, t.above, t.gap, t.docs = p.narration, p.above, p.gap, p.docs
	t.blank, t.blankAfter, t.first = p.blank, p.blankAfter, p.first
	t.skipped = t.skipped || s.skipped
	s.skipped = false
	if t.kind != commandLine && !s.lineHead {
		s.skipSpace()
		if strings.HasPrefix(s.rest(), "//") {
			t.trail = commentText(s.toEOL())
		}
	}
	if !s.inLine {
		s.inLine = true
		s.lineWord = ""
		if t.kind == word {
			s.lineWord = t.text
		}
		if len(s.levels) == 1 {
			s.command = s.lineWord == "command"
		}
	}
	s.prev = token{kind: t.kind, text: t.text, span: t.span, broken: t.broken}
	return t
}

func (s *scanner) rest() string { return s.src[s.pos.Offset:] }

func (s *scanner) peek() byte { return s.peekAt(0) }

// peekAt gives a byte ahead, 0 at the end of the document.
func (s *scanner) peekAt(n int) byte {
	if s.pos.Offset+n >= len(s.src) {
		return 0
	}
	return s.src[s.pos.Offset+n]
}

func (s *scanner) atEnd() bool { return s.pos.Offset >= len(s.src) }

// atEOL says whether a line end, or the end of the document, is next.
func (s *scanner) atEOL() bool {
	return s.atEnd() || s.peek() == '\n' || s.peek() == '\r' && s.peekAt(1) == '\n'
}

// advance consumes one character. It reports bytes that are no UTF-8 (they read as `?`) and control characters, wherever
// they stand.
func (s *scanner) advance() rune {
	at := s.pos
	c, n := rune(s.src[at.Offset]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(s.rest())
		if c == utf8.RuneError && n == 1 {
			s.invalidByte()
			c = '?'
		}
	}
	s.pos.Offset += n
	s.pos.Column++
	switch {
	case c == '\n':
		s.pos.Line++
		s.pos.Column = 1
	case c == '\t', c == '\r' && s.peek() == '\n':
	case unicode.IsControl(c):
		s.found.report("AWL0002", diag.Span{Start: at, End: s.pos}, "hex", fmt.Sprintf("%04X", c))
	}
	return c
}

func (s *scanner) invalidByte() {
	if !s.badUTF8 {
		s.badUTF8 = true
		end := s.pos
		end.Offset++
		end.Column++
		s.found.report("AWL0001", diag.Span{Start: s.pos, End: end}, "offset", strconv.Itoa(s.pos.Offset))
	}
}

// skip consumes n characters.
func (s *scanner) skip(n int) {
	for range n {
		s.advance()
	}
}

// skipSpace consumes what separates tokens on a line. Control characters are reported by advance and count as space.
func (s *scanner) skipSpace() {
	for !s.atEOL() {
		c, _ := utf8.DecodeRuneInString(s.rest())
		if c != ' ' && !unicode.IsControl(c) {
			return
		}
		s.advance()
	}
}

// newline consumes a line end and stands at the start of the next line.
func (s *scanner) newline() {
	s.lineHead = true
	if s.peek() == '\r' {
		s.advance()
	}
	if !s.atEnd() {
		s.advance()
	}
}

// toEOL consumes the rest of the line and gives it.
func (s *scanner) toEOL() string {
	start := s.pos.Offset
	for !s.atEOL() {
		s.advance()
	}
	return s.src[start:s.pos.Offset]
}

// spanFrom is the span from a place to the current one.
func (s *scanner) spanFrom(start diag.Pos) diag.Span { return diag.Span{Start: start, End: s.pos} }
