package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"aion/domain/awl/diag"
)

// decoder collects the text of a string together with the place of every byte.
type decoder struct {
	text    strings.Builder
	offsets []diag.Pos
}

func (d *decoder) add(c rune, at diag.Pos) {
	n := d.text.Len()
	d.text.WriteRune(c)
	for range d.text.Len() - n {
		d.offsets = append(d.offsets, at)
	}
}

// token ends the string: end is the place of its closing quote.
func (d *decoder) token(k kind, end diag.Pos) token {
	return token{kind: k, value: d.text.String(), offsets: append(d.offsets, end)}
}

func (s *scanner) string() token {
	if strings.HasPrefix(s.rest(), `"""`) {
		return s.rawString()
	}
	start := s.pos
	s.advance()
	var d decoder
	for !s.atEOL() && s.peek() != '"' {
		at := s.pos
		if s.peek() == '\\' {
			s.escape(&d)
			continue
		}
		d.add(s.advance(), at)
	}
	t := d.token(str, s.pos)
	if s.atEOL() {
		t.broken = true
		s.excuse()
		s.found.report("AWL0007", s.spanFrom(start))
	} else {
		s.advance()
	}
	t.text = s.src[start.Offset:s.pos.Offset]
	t.span = s.spanFrom(start)
	return t
}

func (s *scanner) rawString() token {
	start := s.pos
	s.skip(3)
	length := strings.Index(s.rest(), `"""`)
	closed := length >= 0
	if !closed {
		length = len(s.rest())
	}
	d := decoder{offsets: make([]diag.Pos, 0, length+1)}
	for end := s.pos.Offset + length; s.pos.Offset < end; {
		at := s.pos
		if c := s.advance(); c != '\r' || s.peek() != '\n' {
			d.add(c, at)
		}
	}
	t := d.token(rawStr, s.pos)
	if closed {
		s.skip(3)
	} else {
		t.broken = true
		s.excuse()
		opening := start
		opening.Offset += 3
		opening.Column += 3
		s.found.report("AWL0009", diag.Span{Start: start, End: opening})
	}
	t.text = s.src[start.Offset:s.pos.Offset]
	t.span = s.spanFrom(start)
	return t
}

// escape reads one escape sequence; an unknown one stands for itself.
func (s *scanner) escape(d *decoder) {
	start := s.pos
	s.advance()
	if s.atEOL() {
		d.add('\\', start)
		return
	}
	c := s.advance()
	switch c {
	case '"', '\\':
		d.add(c, start)
	case 'n':
		d.add('\n', start)
	case 't':
		d.add('\t', start)
	case 'r':
		d.add('\r', start)
	case 'u':
		s.unicodeEscape(d, start)
	default:
		s.found.report("AWL0008", s.spanFrom(start), "c", string(c))
		d.add('\\', start)
		d.add(c, start)
	}
}

// unicodeEscape reads the digits behind `\u`, and the second half of a surrogate pair.
func (s *scanner) unicodeEscape(d *decoder, start diag.Pos) {
	c, ok := s.hex4(s.rest())
	if ok {
		s.skip(4)
		if utf16.IsSurrogate(c) {
			low, isPair := rune(0), strings.HasPrefix(s.rest(), `\u`)
			if isPair {
				low, isPair = s.hex4(s.rest()[2:])
			}
			if c = utf16.DecodeRune(c, low); isPair && c != utf8.RuneError {
				s.skip(6)
			} else {
				ok = false
			}
		}
	}
	if !ok {
		s.found.report("AWL0008", s.spanFrom(start), "c", s.src[start.Offset+1:s.pos.Offset])
		c = '?'
	}
	d.add(c, start)
}

// hex4 reads four hex digits.
func (s *scanner) hex4(text string) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	for i := range 4 {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i])) {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(text[:4], 16, 32)
	return rune(n), err == nil
}
