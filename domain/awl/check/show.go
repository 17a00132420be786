package check

import (
	"strings"

	"aion/domain/schema"
)

// show names a type in a message.
func show(t *schema.Type) string {
	switch {
	case isUnknown(t):
		return "a value of unknown type"
	case t.Kind == schema.Record && t.Name == "":
		return "a record"
	case t.Kind == schema.Enum && t.Name == "":
		return "an enum"
	}
	return "`" + spell(t) + "`"
}

// spell writes a type as it would be written.
func spell(t *schema.Type) string {
	switch t.Kind {
	case schema.Bool:
		return "Bool"
	case schema.Int:
		return "Int"
	case schema.Float:
		return "Float"
	case schema.String:
		return "String"
	case schema.Dir:
		return "Dir"
	case schema.Nil:
		return "Nil"
	case schema.List:
		return "[" + spell(t.Elem) + "]"
	case schema.Optional:
		return spell(t.Elem) + "?"
	case schema.Record, schema.Enum:
		if t.Name != "" {
			return t.Name
		}
		if t.Kind == schema.Record {
			return "record"
		}
		return "enum"
	case schema.Unknown:
	}
	return "…"
}

// maxListed bounds how many names a message lists.
const maxListed = 20

// listed joins names for a message, each in backticks.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	shown := names[:min(len(names), maxListed)]
	text := "`" + strings.Join(shown, "`, `") + "`"
	if len(names) > maxListed {
		text += ", …"
	}
	return text
}

// article puts the indefinite article before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// listedFields joins the names of fields for a message.
func listedFields(fields []schema.Field) string {
	return listed(fieldNames(fields[:min(len(fields), maxListed+1)]))
}

// fieldNames lists the names of fields.
func fieldNames(fields []schema.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
