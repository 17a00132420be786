package diag

import (
	"cmp"
	"fmt"
	"strings"
)

// New makes the finding of a code at a place. The pairs are placeholder names and their values, in turn: they fill the
// `{name}` parts of the catalogue's message and hint. An alternative of the hint ("…, or use {closest}") whose
// placeholder has no value, or an empty one, is left out. The value of `closest` is put in backticks. The hints of AWL1005
// and AWL1010 show the construct that their pairs speak of.
// AWL3018 says "a duration is not a value here", or, given a `name`, that the name is no duration. A value called `hint`
// takes the place of all of these hints: the one who reports knows the mistake better.
// A code that the catalogue does not hold, and a name without a value, are mistakes of the program: New panics.
func New(code string, span Span, pairs ...string) Diagnostic {
	e, ok := Lookup(code)
	if !ok || len(pairs)%2 != 0 {
		panic(fmt.Sprintf("diag: %s is no code of the catalogue, or its placeholders do not pair up", code))
	}
	v := values(pairs)
	message, _ := v.fill(v.variant(code, e.Message))
	hint := cmp.Or(v.get("hint"), advice(code, v))
	if hint == "" {
		hint = v.hint(v.variant(code, e.Hint))
	}
	return Diagnostic{Severity: e.Severity, Code: code, Message: message, Span: span, Hint: hint}
}

// variant picks the half of AWL3018, the one entry with two, that is meant: the second speaks of a name.
func (v values) variant(code, template string) string {
	first, second, ok := strings.Cut(template, "; ")
	switch {
	case code != "AWL3018" || !ok:
		return template
	case v.get("name") == "":
		return first
	default:
		return second
	}
}

// values are placeholder names and their values, in turn.
type values []string

func (v values) get(name string) string {
	for i := 0; i < len(v); i += 2 {
		if v[i] != name {
			continue
		}
		if name == "closest" && v[i+1] != "" && !strings.HasPrefix(v[i+1], "`") {
			return "`" + v[i+1] + "`"
		}
		return v[i+1]
	}
	return ""
}

// hint fills the alternatives of a template and keeps those that are complete.
func (v values) hint(template string) string {
	var kept []string
	for _, part := range strings.Split(template, ", or ") {
		if text, ok := v.fill(part); ok {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, ", or ")
}

// fill replaces placeholders in one pass, so that a value is never read as a template. It reports whether every
// placeholder had a value; one without stays as it is. `{{` and `{workspace_root}` are text of the language.
func (v values) fill(template string) (text string, complete bool) {
	var b strings.Builder
	complete = true
	for template != "" {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			break
		}
		b.WriteString(template[:i])
		template = template[i:]
		name, isPlaceholder := placeholder(template)
		if !isPlaceholder {
			n := len(template) - len(strings.TrimLeft(template, "{"))
			b.WriteString(template[:n])
			template = template[n:]
			continue
		}
		value := v.get(name)
		if value == "" {
			complete = false
			value = "{" + name + "}"
		}
		b.WriteString(value)
		template = template[len(name)+2:]
	}
	b.WriteString(template)
	return b.String(), complete
}

// placeholder reads `{name}` at the start of s.
func placeholder(s string) (name string, ok bool) {
	end := strings.IndexByte(s, '}')
	if end < 2 || s[1:end] == "workspace_root" {
		return "", false
	}
	for _, c := range s[1:end] {
		if (c < 'a' || c > 'z') && c != '_' {
			return "", false
		}
	}
	return s[1:end], true
}
