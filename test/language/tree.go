package language

import (
	"fmt"
	"reflect"
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// Shape is a syntax tree as a text, without the places of things and without what the printer may change: the order of
// declarations, blank lines, and where a comment stands. Comments are at its end, in their order of text.
func Shape(doc *syntax.Document) string {
	s := &shaper{}
	s.value(reflect.ValueOf(doc).Elem())
	return s.b.String()
}

type shaper struct{ b strings.Builder }

var unshaped = []reflect.Type{
	reflect.TypeFor[diag.Span](), reflect.TypeFor[diag.Pos](), reflect.TypeFor[[]diag.Pos](), reflect.TypeFor[syntax.Trivia](),
	reflect.TypeFor[[]syntax.Decl](), reflect.TypeFor[[]syntax.Comment](), reflect.TypeFor[syntax.X](), reflect.TypeFor[syntax.Node](),
}

func (s *shaper) value(v reflect.Value) {
	for _, t := range unshaped {
		if v.Type() == t {
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			s.b.WriteByte('-')
			return
		}
		s.value(v.Elem())
	case reflect.Struct:
		s.b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if b, ok := v.Interface().(syntax.Body); name == "BlankAfter" || ok && name == "Capture" && byDefault(b) {
				continue
			}
			s.value(v.Field(i))
			s.b.WriteByte(',')
		}
		s.b.WriteByte('}')
	case reflect.Slice:
		s.b.WriteByte('[')
		for i := range v.Len() {
			s.value(v.Index(i))
			s.b.WriteByte(';')
		}
		s.b.WriteByte(']')
	case reflect.String:
		fmt.Fprintf(&s.b, "%q", v.String())
	default:
		fmt.Fprint(&s.b, v.Interface())
	}
}

// byDefault reports whether a body has the capture that need not be written.
func byDefault(b syntax.Body) bool {
	return b.Capture == "" || b.Capture == "outcome" && b.Run != nil || b.Capture == "text" && b.Command != nil
}
