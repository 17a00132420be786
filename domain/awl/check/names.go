package check

import (
	"strings"
	"unicode"

	"aion/domain/awl/syntax"
)

// The shapes of names (awl 2.4). A word is ASCII by the time it gets here.

func isSnake(s string) bool {
	return s == "" || !isUpper(s[0]) && !isDigit(s[0]) && strings.IndexFunc(s, unicode.IsUpper) < 0
}

func isTitle(s string) bool { return s == "" || isUpper(s[0]) && !strings.Contains(s, "_") }

func isScreaming(s string) bool {
	return s == "" || !isDigit(s[0]) && strings.IndexFunc(s, unicode.IsLower) < 0
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// toSnake spells a name in snake_case: a word starts at each upper-case letter that follows a lower-case one or precedes one.
func toSnake(s string) string {
	var b strings.Builder
	for i := range len(s) {
		startsWord := i > 0 && isUpper(s[i]) && s[i-1] != '_' &&
			(!isUpper(s[i-1]) || i+1 < len(s) && !isUpper(s[i+1]) && !isDigit(s[i+1]) && s[i+1] != '_')
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(s[i : i+1]))
	}
	return b.String()
}

// toTitle spells a name in TitleCase.
func toTitle(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	if t := b.String(); t != "" && isUpper(t[0]) {
		return t
	}
	return "T" + b.String()
}

// snake judges the shape of a value's name (AWL2001).
func (c *checker) snake(id syntax.Ident) {
	if !isSnake(id.Name) {
		c.found.add("AWL2001", id.Span, "name", id.Name, "suggestion", toSnake(id.Name))
	}
}

// title judges the shape of a type's or variant's name (AWL2002).
func (c *checker) title(id syntax.Ident) {
	if !isTitle(id.Name) {
		c.found.add("AWL2002", id.Span, "name", id.Name, "suggestion", toTitle(id.Name))
	}
}
