package syntax

import "strings"

// typeForm tells apart what may line up: braces, or `=`.
type typeForm int

const (
	formMany   typeForm = iota + 1 // more than one line
	formBraces                     // `type A { … }` on one line
	formEquals                     // `type A = …` on one line
)

// form says how a type is written.
func form(t *TypeDecl) typeForm {
	one, ok := typeLine(t)
	switch {
	case !ok || strings.Contains(one, "\n"):
		return formMany
	case t.IsRecord:
		return formBraces
	}
	return formEquals
}

// typeWidths gives the columns to which the name of each type is padded: in a run of one-line types of the same form,
// without anything between them, the names have one width.
func typeWidths(types []*TypeDecl) []int {
	widths := make([]int, len(types))
	for start := 0; start < len(types); {
		f, end := form(types[start]), start+1
		for f != formMany && end < len(types) && form(types[end]) == f && adjacent(&types[end].Trivia, types[end].Doc) {
			end++
		}
		w := 0
		for _, t := range types[start:end] {
			w = max(w, len(t.Name.Name))
		}
		for i := start; i < end; i++ {
			widths[i] = w
		}
		start = end
	}
	return widths
}

// typeLine is what follows the name of a type when it is written on one line; false when it is not.
func typeLine(t *TypeDecl) (string, bool) {
	var body string
	switch {
	case t.Schema != nil && t.Schema.Inline:
		return " = schema " + t.Schema.Body, true
	case t.Schema != nil:
		return " = schema(" + literal(&StringLit{Value: t.Schema.Path}) + ")", true
	case t.IsEnum:
		body = " = " + strings.Join(variants(t), " | ")
	default:
		if len(t.Trailing) > 0 {
			return "", false
		}
		fields := make([]string, 0, len(t.Fields))
		for _, f := range t.Fields {
			if len(f.Doc) > 0 || len(f.Leading) > 0 || f.Trailing != "" {
				return "", false
			}
			fields = append(fields, fieldText(f))
		}
		body = " { " + strings.Join(fields, ", ") + " }"
		if len(fields) == 0 {
			body = " {}"
		}
	}
	return body, fits(0, "type "+t.Name.Name+body)
}

func variants(t *TypeDecl) []string {
	names := make([]string, 0, len(t.Variants))
	for _, v := range t.Variants {
		names = append(names, v.Name)
	}
	return names
}

func fieldText(f *Field) string { return f.Name.Name + ": " + typeText(f.Type) }

// typeDecl writes a type whose name is padded to w columns when it takes one line.
func (p *printer) typeDecl(t *TypeDecl, w int) {
	name := "type " + t.Name.Name
	if one, ok := typeLine(t); ok {
		p.line(0, pad(name, w+len("type "))+one+trailing(&t.Trivia))
		return
	}
	if t.IsEnum {
		all := variants(t)
		for i, v := range all {
			comment := ""
			if i == len(all)-1 {
				comment = trailing(&t.Trivia)
			}
			if i == 0 {
				p.line(0, name+" = "+v+comment)
			} else {
				p.line(1, "| "+v+comment)
			}
		}
		return
	}
	p.line(0, name+" {")
	p.open()
	for _, f := range t.Fields {
		p.lead(1, &f.Trivia, f.Doc)
		p.line(1, fieldText(f)+","+trailing(&f.Trivia))
	}
	p.comments(1, t.Trailing)
	p.line(0, "}"+trailing(&t.Trivia))
}
