package syntax

import (
	"strings"

	"aion/domain/awl/diag"
)

// storedBrackets bounds the stack of open brackets; the parser has given up on an expression long before.
const storedBrackets = 2 * MaxNesting

// bracket is an open bracket.
type bracket struct {
	kind    kind
	text    string
	span    diag.Span
	excused bool // something else that was reported may have swallowed the closing bracket
}

// closerOf pairs brackets.
func closerOf(k kind) (closer kind, text string) {
	switch k {
	case lparen:
		return rparen, ")"
	case lbracket:
		return rbracket, "]"
	default:
		return rbrace, "}"
	}
}

func (s *scanner) bracketsOpen() bool { return len(s.brackets) > 0 }

// open notes an opening bracket. A brace counts only in the declaration of a record type.
func (s *scanner) open(t token) {
	if t.kind == lbrace && s.lineWord != "type" {
		return
	}
	if len(s.brackets) >= storedBrackets {
		s.unstored++
		return
	}
	if len(s.brackets) >= MaxNesting {
		s.excuse()
	}
	s.brackets = append(s.brackets, bracket{kind: t.kind, text: t.text, span: t.span})
}

// excuse says that open brackets are the consequence of something else.
func (s *scanner) excuse() {
	for i := range s.brackets {
		s.brackets[i].excused = true
	}
}

// close matches a closing bracket with the open ones. Those above its match were never closed: their closing brackets
// are queued, and the token follows them. A bracket without a match is left to the parser.
func (s *scanner) close(t token) {
	if s.unstored > 0 {
		s.unstored--
		return
	}
	for i := len(s.brackets) - 1; i >= 0; i-- {
		if closer, _ := closerOf(s.brackets[i].kind); closer != t.kind {
			continue
		}
		for len(s.brackets)-1 > i {
			s.closeTop()
		}
		s.brackets = s.brackets[:i]
		return
	}
}

// closeTop closes the innermost bracket in the place of the author.
func (s *scanner) closeTop() {
	b := s.brackets[len(s.brackets)-1]
	s.brackets = s.brackets[:len(s.brackets)-1]
	end := s.prev.span.End
	if !b.excused && !s.found.full() {
		s.unclosed = append(s.unclosed, diag.Span{Start: b.span.Start, End: s.pos})
	}
	if !b.excused {
		s.found.report("AWL1009", b.span, "bracket", b.text)
	}
	k, text := closerOf(b.kind)
	s.queue = append(s.queue, token{kind: k, text: text, span: diag.Span{Start: end, End: end}, virtual: true})
}

// closeAll closes every open bracket.
func (s *scanner) closeAll() {
	for s.bracketsOpen() {
		s.closeTop()
	}
	s.unstored = 0
}

// mustClose says whether the line at hand cannot stand inside a bracket: it starts a declaration or a statement, or the
// string before it was cut off by the line end.
func (s *scanner) mustClose() bool {
	if s.prev.broken {
		return true
	}
	w := s.peekWord()
	after := strings.TrimLeft(s.rest()[len(w):], " \t")
	if strings.HasPrefix(after, ":") {
		return false
	}
	switch w {
	case "workflow":
		return !strings.HasPrefix(after, ".")
	case "command":
		return s.pos.Column == 1 && after != "" && isLetter(after[0])
	}
	return opensLine(w)
}
