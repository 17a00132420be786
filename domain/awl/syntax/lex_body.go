package syntax

import (
	"strconv"
	"strings"

	"aion/domain/awl/diag"
)

// bodyKeyword is `json` or `schema` when a raw body may start here: right after that word, on its line.
func (s *scanner) bodyKeyword() string {
	if s.inLine && s.prev.kind == word && (s.prev.text == "json" || s.prev.text == "schema") &&
		s.prev.span.End.Line == s.pos.Line && !s.pending.first {
		return s.prev.text
	}
	return ""
}

// body captures `{ … }` verbatim. Braces inside JSON strings do not count, and a JSON string never runs over a line end.
// A line that starts a declaration cannot be part of JSON, so a body that was never closed ends before it.
func (s *scanner) body(keyword string) token {
	start := s.pos
	var b bodyScan
	for !s.atEnd() {
		at := s.pos
		switch c := s.advance(); {
		case c == '\n':
			b.inString = false
			if s.declarationStarts() {
				return s.cutBody(keyword, start)
			}
		case b.inString && c == '\\' && !s.atEOL():
			s.advance()
		case b.count(c, diag.Span{Start: at, End: s.pos}):
			if b.tooDeep != nil && keyword == "json" {
				s.found.report("AWL0004", *b.tooDeep, "what", "the depth of this JSON", "limit", strconv.Itoa(MaxNesting))
			}
			return s.bodyToken(start)
		}
	}
	return s.cutBody(keyword, start)
}

// bodyScan counts brackets outside of strings.
type bodyScan struct {
	braces, depth int
	inString      bool
	tooDeep       *diag.Span // the first bracket over the limit of nesting
}

// count takes a character and says whether it closes the body.
func (b *bodyScan) count(c rune, at diag.Span) bool {
	if c == '"' {
		b.inString = !b.inString
	}
	if b.inString {
		return false
	}
	switch c {
	case '{', '[':
		if c == '{' {
			b.braces++
		}
		if b.depth++; b.depth > MaxNesting && b.tooDeep == nil {
			b.tooDeep = &at
		}
	case ']':
		b.depth--
	case '}':
		b.depth--
		b.braces--
		return b.braces == 0
	}
	return false
}

func (s *scanner) bodyToken(start diag.Pos) token {
	text := strings.ReplaceAll(s.src[start.Offset:s.pos.Offset], "\r\n", "\n")
	return token{kind: jsonBody, text: text, span: s.spanFrom(start)}
}

// cutBody ends a body that was never closed.
func (s *scanner) cutBody(keyword string, start diag.Pos) token {
	open := start
	open.Offset++
	open.Column++
	s.found.report("AWL0010", diag.Span{Start: start, End: open}, "kind", keyword)
	s.excuse()
	t := s.bodyToken(start)
	t.broken = true
	s.lineHead = s.pos.Column == 1
	return t
}

// declarationStarts says whether the line at hand starts with a declaration's keyword in its first column.
func (s *scanner) declarationStarts() bool {
	w := s.peekWord()
	if !strings.HasPrefix(s.rest()[len(w):], " ") {
		return false
	}
	switch w {
	case "const", "type", "command", "worker", "child", "subflow", "step":
		return true
	}
	return false
}
