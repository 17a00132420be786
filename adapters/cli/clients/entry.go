package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Entry is one table of a configuration file, in the order in which it is written. Values are string, []string or Entry.
type Entry []Member

// Member is one name and its value.
type Member struct {
	Name  string
	Value any
}

// plain is a value as a decoder would give it.
func plain(value any) any {
	switch v := value.(type) {
	case Entry:
		out := map[string]any{}
		for _, m := range v {
			out[m.Name] = plain(m.Value)
		}
		return out
	case []string:
		out := make([]any, 0, len(v))
		for _, s := range v {
			out = append(out, s)
		}
		return out
	}
	return value
}

// layout is how the text around a value is written.
type layout struct {
	newline string // empty: everything on one line
	unit    string // one step of indentation
	colon   string // between a name and its value
	comma   string // between members of one line
}

// quote writes a string in JSON, which is also a basic string of TOML.
func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // cannot be: strings encode
	}
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\x7f", `\u007f`)
}

// json writes a value; indent is that of the line on which it begins.
func (l layout) json(value any, indent string) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		parts := make([]string, 0, len(v))
		for _, s := range v {
			parts = append(parts, quote(s))
		}
		return "[" + strings.Join(parts, l.comma) + "]"
	case Entry:
		return l.object(v, indent)
	}
	panic(fmt.Sprintf("an entry holds a %T", value))
}

func (l layout) object(e Entry, indent string) string {
	if len(e) == 0 {
		return "{}"
	}
	var out strings.Builder
	out.WriteString("{")
	for i, m := range e {
		if i > 0 && l.newline == "" {
			out.WriteString(l.comma)
		} else if i > 0 {
			out.WriteString(",")
		}
		if l.newline != "" {
			out.WriteString(l.newline + indent + l.unit)
		}
		out.WriteString(quote(m.Name) + l.colon + l.json(m.Value, indent+l.unit))
	}
	if l.newline != "" {
		out.WriteString(l.newline + indent)
	}
	out.WriteString("}")
	return out.String()
}
