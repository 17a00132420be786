package check

import (
	"encoding/json"
	"strings"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// foldBinary joins the operands of a chain of `+`, from left to right.
func (c *checker) foldBinary(b *syntax.Binary) folded {
	if b.Op != "+" {
		c.found.add("AWL2025", b.OpSpan, "what", "`"+b.Op+"`")
		return folded{typ: c.builtin.unknown}
	}
	first, links := spine(b)
	s := sum{c: c}
	s.start(c.fold(first))
	for _, link := range links {
		s.join(link, c.fold(link.R))
	}
	return s.done()
}

// sum adds up texts or lists without copying what it has at every step.
type sum struct {
	c    *checker
	typ  *schema.Type
	text strings.Builder
	list []json.RawMessage
	size int
}

func (s *sum) start(f folded) {
	s.typ = f.typ
	s.take(f)
}

// take appends a value; beyond the limit only its size counts, which is reported where the const is declared.
func (s *sum) take(f folded) {
	s.size += f.size
	if s.size <= maxConstBytes {
		s.text.WriteString(f.text)
		s.list = append(s.list, f.list...)
	}
}

func (s *sum) join(at *syntax.Binary, f folded) {
	switch {
	case isUnknown(s.typ):
	case isUnknown(f.typ):
		s.typ = f.typ
	case s.typ.Kind == schema.String && f.typ.Kind == schema.String:
		s.take(f)
	case s.typ.Kind == schema.List && s.c.same.as(s.typ, f.typ):
		if isUnknown(s.typ.Elem) {
			s.typ = f.typ
		}
		s.take(f)
	default:
		s.c.found.add("AWL3004", at.OpSpan, "left", show(s.typ), "right", show(f.typ))
		s.typ = s.c.builtin.unknown
	}
}

func (s *sum) done() folded {
	return folded{typ: s.typ, text: s.text.String(), list: s.list, size: s.size}
}
