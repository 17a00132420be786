package syntax

import (
	"math"
	"strconv"

	"aion/domain/awl/diag"
)

// maxDurationMS is the longest duration, 365 days.
const maxDurationMS = 365 * 24 * 3600 * 1000

// number reads an integer, a float or a duration.
func (s *scanner) number() (token, bool) {
	start := s.pos
	if s.peek() == '-' {
		s.advance()
	}
	s.digits()
	isFloat := s.peek() == '.' && isDigit(s.peekAt(1))
	if isFloat {
		s.advance()
		s.digits()
		s.exponent()
	}
	switch {
	case isLetter(s.peek()):
		return s.duration(start, isFloat)
	case s.peek() == '.' && s.peekAt(1) != '.' && !isLetter(s.peekAt(1)):
		return s.badNumber(start)
	}
	t := token{kind: integer, text: s.src[start.Offset:s.pos.Offset], span: s.spanFrom(start)}
	var err error
	if isFloat {
		t.kind = float
		_, err = strconv.ParseFloat(t.text, 64)
	} else {
		t.number, err = strconv.ParseInt(t.text, 10, 64)
	}
	if err != nil {
		s.found.report("AWL0011", t.span, "text", shorten(t.text))
	}
	return t, true
}

func (s *scanner) digits() {
	for isDigit(s.peek()) {
		s.advance()
	}
}

// exponent reads the exponent of a float, when one follows.
func (s *scanner) exponent() {
	if s.peek()|0x20 != 'e' {
		return
	}
	n := 1
	if c := s.peekAt(1); c == '+' || c == '-' {
		n = 2
	}
	if isDigit(s.peekAt(n)) {
		s.skip(n)
		s.digits()
	}
}

// duration reads the unit behind the digits.
func (s *scanner) duration(start diag.Pos, isFloat bool) (token, bool) {
	digits := s.src[start.Offset:s.pos.Offset]
	ms := unitMS(s.peekWordBytes())
	if ms == 0 || isFloat || digits[0] == '-' {
		return s.badNumber(start)
	}
	for isWordByte(s.peek()) {
		s.advance()
	}
	t := token{kind: duration, text: s.src[start.Offset:s.pos.Offset], span: s.spanFrom(start)}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/ms || n*ms > maxDurationMS {
		s.found.report("AWL0013", t.span, "text", shorten(t.text))
		return t, true
	}
	t.number = n * ms
	return t, true
}

// peekWordBytes is the run of word characters that starts here.
func (s *scanner) peekWordBytes() string {
	rest := s.rest()
	n := 0
	for n < len(rest) && isWordByte(rest[n]) {
		n++
	}
	return rest[:n]
}

// unitMS gives the milliseconds of a duration's unit, 0 when there is no such unit.
func unitMS(unit string) int64 {
	switch unit {
	case "ms":
		return 1
	case "s":
		return 1000
	case "m":
		return 60 * 1000
	case "h":
		return 3600 * 1000
	case "d":
		return 24 * 3600 * 1000
	}
	return 0
}

// badNumber reports what starts like a number and is none; it stands for an integer that
// causes no further finding.
func (s *scanner) badNumber(start diag.Pos) (token, bool) {
	for isWordByte(s.peek()) || s.peek() == '.' && s.peekAt(1) != '.' {
		s.advance()
	}
	t := token{kind: integer, text: s.src[start.Offset:s.pos.Offset], span: s.spanFrom(start), skipped: true}
	s.found.report("AWL0011", t.span, "text", shorten(t.text))
	return t, true
}

// shorten cuts a text of the document for use in a message.
func shorten(s string) string {
	const most = 40
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}
