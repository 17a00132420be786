package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// text builds a piece of a line.
type text struct{ strings.Builder }

// exprText is an expression on one line.
func exprText(e Expr) string {
	var t text
	t.expr(e)
	return t.String()
}

// write appends pieces.
func (t *text) write(pieces ...string) {
	for _, s := range pieces {
		_, _ = t.WriteString(s) // never fails
	}
}

// expr has one case per expression.
func (t *text) expr(e Expr) {
	switch e := e.(type) {
	case *StringLit:
		t.write(literal(e))
	case *IntLit:
		t.write(strconv.FormatInt(e.Value, 10))
	case *FloatLit:
		t.write(e.Text)
	case *BoolLit:
		t.write(strconv.FormatBool(e.Value))
	case *DurationLit:
		t.write(e.Text)
	case *ListLit:
		t.write("[")
		for i, elem := range e.Elems {
			t.separate(i)
			t.expr(elem)
		}
		t.write("]")
	case *JSONLit:
		t.write("json ", e.Body)
	case *SchemaOf:
		t.write("schema of ", e.Type.Name)
	case *Name:
		t.write(e.Name)
	case *VisitsRef:
		t.write("visits")
	case *WorkflowID:
		t.write("workflow")
		if e.Field != nil {
			t.write(".", e.Field.Name)
		}
	case *Construct:
		t.write(e.Name.Name)
		if e.HasArgs {
			t.write("(")
			t.args(e.Args)
			t.write(")")
		}
	case *ItemField:
		t.write(".", e.Name.Name)
	case *Access:
		t.expr(e.Of)
		t.write(".", e.Name.Name)
	case *Index:
		t.expr(e.Of)
		t.write("[", strconv.FormatInt(e.Value, 10), "]")
	case *Combine:
		t.expr(e.Of)
		t.write(" |> ")
		t.combinator(e.Comb)
	case *Paren:
		t.write("(")
		t.expr(e.Of)
		t.write(")")
	case *Not:
		t.write("not ")
		t.expr(e.Of)
	case *Binary:
		t.expr(e.L)
		t.write(" ", e.Op, " ")
		t.expr(e.R)
	case *Is:
		if e.Of != nil {
			t.expr(e.Of)
			t.write(" ")
		}
		t.write("is ", e.Word)
	case *BadExpr:
		t.write(e.Text)
	}
}

// separate puts a comma before every element but the first.
func (t *text) separate(i int) {
	if i > 0 {
		t.write(", ")
	}
}

func (t *text) args(args []*Arg) {
	for i, a := range args {
		t.separate(i)
		t.write(a.Name.Name, ": ")
		t.expr(a.Value)
	}
}

func (t *text) combinator(c *Combinator) {
	t.write(c.Name.Name)
	if c.Arg != nil {
		t.write("(")
		t.expr(c.Arg)
		t.write(")")
	}
}

// argTexts are arguments, one text each.
func argTexts(args []*Arg) []string {
	list := make([]string, 0, len(args))
	for _, a := range args {
		list = append(list, a.Name.Name+": "+exprText(a.Value))
	}
	return list
}

// literal is a string with its quotes. Escapes stand only where they are needed.
func literal(s *StringLit) string {
	if s.Raw {
		return `"""` + s.Value + `"""`
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s.Value {
		switch {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// typeText is a type; a missing one prints as nothing.
func typeText(r *TypeRef) string {
	if r == nil {
		return ""
	}
	s := r.Name.Name
	if r.Elem != nil {
		s = "[" + typeText(r.Elem) + "]"
	}
	if r.Optional {
		s += "?"
	}
	return s
}

func durationText(d *Duration) string {
	switch {
	case d == nil:
		return ""
	case d.Name != nil:
		return d.Name.Name
	}
	return d.Text
}
