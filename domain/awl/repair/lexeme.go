package repair

import "strings"

// lexeme is a piece of the text, read without grammar: good enough to point at, whatever is wrong with the document.
type lexeme struct {
	text     string
	from, to int
	line     int
	word     bool
}

// lex reads a text. Comments and white space are left out.
func lex(src string) []lexeme {
	var toks []lexeme
	line := 1
	for i := 0; i < len(src); {
		n := lexemeLength(src[i:])
		text := src[i : i+n]
		switch c := src[i]; {
		case c == '\n':
			line++
		case c == ' ', c == '\t', c == '\r', strings.HasPrefix(text, "//"):
		default:
			toks = append(toks, lexeme{text: text, from: i, to: i + n, line: line, word: isLetter(c)})
			line += strings.Count(text, "\n")
		}
		i += n
	}
	return toks
}

// lexemeLength is the length of what starts a text; it is at least 1.
func lexemeLength(s string) int {
	c := s[0]
	switch {
	case strings.HasPrefix(s, "//"):
		return until(s, 2, "\n")
	case strings.HasPrefix(s, `"""`):
		if end := strings.Index(s[3:], `"""`); end >= 0 {
			return end + 6
		}
		return 3
	case c == '"':
		for i := 1; i < len(s) && s[i] != '\n'; i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return until(s, 1, "\n")
	case isLetter(c):
		return span(s, isWordByte)
	case isDigit(c):
		return span(s, func(c byte) bool { return isWordByte(c) || c == '.' })
	case c == '.' && len(s) > 1 && isLetter(s[1]):
		return 1 + span(s[1:], isWordByte)
	case c >= 0x80:
		return span(s, func(c byte) bool { return c >= 0x80 })
	}
	for _, mark := range []string{"->", "|>", "=>", "==", "!=", "<=", ">=", "&&", "||", ".."} {
		if strings.HasPrefix(s, mark) {
			return 2
		}
	}
	return 1
}

func until(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i
	}
	return len(s)
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool   { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

// at is the index of the lexeme that covers an offset, or of the first one behind it; len(toks) when there is none.
func (s *session) at(offset int) int {
	for i, t := range s.toks {
		if t.to > offset {
			return i
		}
	}
	return len(s.toks)
}

// tok is a lexeme by index; an empty one outside.
func (s *session) tok(i int) lexeme {
	if i < 0 || i >= len(s.toks) {
		return lexeme{from: len(s.src), to: len(s.src)}
	}
	return s.toks[i]
}

// first is the index of the first lexeme of the line of a lexeme.
func (s *session) first(i int) int {
	if i >= len(s.toks) {
		i = len(s.toks) - 1
	}
	for i > 0 && s.toks[i-1].line == s.toks[i].line {
		i--
	}
	return max(i, 0)
}
