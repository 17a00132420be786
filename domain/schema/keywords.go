package schema

import (
	"fmt"
	"math"
	"regexp"
)

// How a keyword is read (awl 4.6). A keyword in no class is an annotation.
type keywordClass int

const (
	annotation keywordClass = iota
	typing
	constraint
	refused
)

func classOf(keyword string) keywordClass {
	switch keyword {
	case "type", "properties", "required", "items", "enum", "$ref", "$defs":
		return typing
	case "additionalProperties", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "const":
		return constraint
	case "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "patternProperties", "prefixItems", "contains",
		"unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "dependentRequired", "propertyNames", "$anchor",
		"$dynamicRef", "$dynamicAnchor":
		return refused
	}
	return annotation
}

// kindNamed is the kind of a `type` word; zero when it is none. "integer" is a number with a further condition.
func kindNamed(word string) jsonKind {
	switch word {
	case "object":
		return jsonObject
	case "array":
		return jsonArray
	case "string":
		return jsonString
	case "integer", "number":
		return jsonNumber
	case "boolean":
		return jsonBool
	case "null":
		return jsonNull
	}
	return 0
}

// defect says what is wrong with the value of a keyword; empty when nothing is. Subschemas are not looked into.
func defect(m *member) string {
	v := &m.val
	switch m.key {
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if _, ok := count(v); !ok {
			return needs(m.key, "a whole number from 0")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if v.kind != jsonNumber {
			return needs(m.key, "a number")
		}
	case "multipleOf":
		if v.kind != jsonNumber || newDecimal(v.text).sign() <= 0 {
			return needs(m.key, "a number over 0")
		}
	case "pattern":
		return patternDefect(v)
	case "uniqueItems":
		if v.kind != jsonBool {
			return needs(m.key, "true or false")
		}
	case "additionalProperties":
		if v.kind != jsonBool && v.kind != jsonObject {
			return needs(m.key, "true, false or a schema")
		}
	case "properties", "$defs":
		if v.kind != jsonObject {
			return needs(m.key, "an object of schemas")
		}
	case "required":
		if !allStrings(v) {
			return needs(m.key, "a list of names")
		}
	case "$ref":
		if v.kind != jsonString {
			return needs(m.key, "a string")
		}
	}
	return ""
}

func needs(keyword, what string) string { return fmt.Sprintf("`%s` needs %s", keyword, what) }

func patternDefect(v *node) string {
	if v.kind != jsonString {
		return needs("pattern", "a string")
	}
	if _, err := regexp.Compile(v.str()); err != nil {
		return fmt.Sprintf("`pattern` holds %q, which is not a regular expression of the RE2 syntax", shorten(v.str()))
	}
	return ""
}

// count reads a keyword that counts; an absurdly large one bounds nothing and reads as the largest int.
func count(v *node) (int, bool) {
	if v.kind != jsonNumber {
		return 0, false
	}
	n, whole, fits := newDecimal(v.text).int64()
	switch {
	case !whole || fits && n < 0 || v.text[0] == '-' && !fits:
		return 0, false
	case !fits || n > math.MaxInt:
		return math.MaxInt, true
	}
	return int(n), true
}

func allStrings(v *node) bool {
	if v.kind != jsonArray {
		return false
	}
	for i := range v.elems() {
		if v.elems()[i].kind != jsonString {
			return false
		}
	}
	return true
}
