package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// MaxViolations is how many violations are reported at most.
const MaxViolations = 10

// Violation is one place where a value breaks its schema. Path is a JSON pointer into the value; Message says what is
// wrong there and what is right.
type Violation struct {
	Path    string
	Message string
}

// Validate checks a value that jsontext.Check has accepted. Unknown members come first, because a misspelt name explains
// the missing one.
func (s *Schema) Validate(value []byte) []Violation {
	v := &validation{}
	v.node(s.root, value, "")
	return v.found
}

// maxHops bounds how deep references and alternatives are followed: schemas that admit deeper values are not written.
const maxHops = 512

type validation struct {
	found []Violation
	hops  int
}

func (v *validation) add(path, format string, args ...any) {
	if len(v.found) < MaxViolations {
		v.found = append(v.found, Violation{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

func (v *validation) node(n *node, value []byte, path string) {
	if v.hops++; v.hops > maxHops {
		v.add(path, "is nested too deeply")
		return
	}
	defer func() { v.hops-- }()
	if n.target != nil {
		v.node(n.target, value, path)
	}
	kind := jsontext.KindOf(value)
	if n.types != nil && !slices.ContainsFunc(n.types, func(name string) bool { return hasType(name, kind, value) }) {
		v.add(path, "must be %s, not %s", typeList(n.types), describe(kind, value))
		return
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(admitted []byte) bool { return equal(admitted, value) }) {
		v.add(path, "must be %s, not %s", enumList(n.enum), show(value))
		return
	}
	switch kind {
	case jsontext.String:
		v.text(n, value, path)
	case jsontext.Number:
		v.number(n, value, path)
	case jsontext.Array:
		v.array(n, value, path)
	case jsontext.Object:
		v.object(n, value, path)
	case jsontext.Boolean, jsontext.Null:
	}
	v.alternatives(n, value, path)
}

func (v *validation) alternatives(n *node, value []byte, path string) {
	if n.anyOf == nil {
		return
	}
	var nearest []Violation
	for _, alternative := range n.anyOf {
		try := &validation{hops: v.hops}
		try.node(alternative, value, path)
		if len(try.found) == 0 {
			return
		}
		if nearest == nil || len(try.found) < len(nearest) {
			nearest = try.found
		}
	}
	for _, violation := range nearest {
		v.add(violation.Path, "%s", violation.Message)
	}
}

func (v *validation) text(n *node, value []byte, path string) {
	if n.minLength < 0 && n.maxLength < 0 && n.pattern == nil && n.format == "" {
		return
	}
	text, _ := jsontext.Text(value)
	if length := utf8.RuneCountInString(text); length < n.minLength {
		v.add(path, "must have at least %d characters", n.minLength)
	} else if n.maxLength >= 0 && length > n.maxLength {
		v.add(path, "must have at most %d characters, not %d", n.maxLength, length)
		return // further rules would only repeat a long text
	}
	if n.pattern != nil && !n.pattern.MatchString(text) {
		if ending := n.ending(); ending != "" && !strings.HasSuffix(text, ending) {
			v.add(path, "must end in `%s`, not %s", ending, show(value))
		} else {
			v.add(path, "must match %s, not %s", n.pattern, show(value))
		}
	}
	switch {
	case n.format == "uuid" && !uuidShape.MatchString(text):
		v.add(path, "must be a UUID as an earlier answer gave it (8-4-4-4-12 hex digits), not %s", show(value))
	case n.format == "date-time" && !dateTime(text):
		v.add(path, "must be an RFC 3339 time with a zone, such as 2026-07-28T10:00:00Z, not %s", show(value))
	}
}

var literalEnding = regexp.MustCompile(`\\(\.[a-z]+)\$$`)

// ending is the literal text that the pattern wants at the end, such as `.awl`; empty when there is none.
func (n *node) ending() string {
	if found := literalEnding.FindStringSubmatch(n.pattern.String()); found != nil {
		return found[1]
	}
	return ""
}

func (v *validation) number(n *node, value []byte, path string) {
	if n.minimum == nil && n.maximum == nil {
		return
	}
	number, err := strconv.ParseFloat(string(value), 64)
	whole, isWhole := jsontext.Integer(value)
	below := func(limit int64) bool {
		return isWhole && whole < limit || !isWhole && err == nil && number < float64(limit)
	}
	above := func(limit int64) bool {
		return isWhole && whole > limit || !isWhole && (err != nil || number > float64(limit))
	}
	if n.minimum != nil && below(*n.minimum) {
		v.add(path, "must be at least %d, not %s", *n.minimum, show(value))
	}
	if n.maximum != nil && above(*n.maximum) {
		v.add(path, "must be at most %d, not %s", *n.maximum, show(value))
	}
}

func (v *validation) array(n *node, value []byte, path string) {
	elements, _ := jsontext.Elements(value)
	if len(elements) < n.minItems {
		v.add(path, "must have at least %d elements, not %d", n.minItems, len(elements))
	}
	if n.maxItems >= 0 && len(elements) > n.maxItems {
		v.add(path, "must have at most %d elements, not %d", n.maxItems, len(elements))
		return
	}
	if n.unique {
		seen := make(map[string]bool, len(elements))
		for i, element := range elements {
			form := canonical(element)
			if seen[form] {
				v.add(path+"/"+strconv.Itoa(i), "occurs twice")
			}
			seen[form] = true
		}
	}
	if n.items == nil {
		return
	}
	for i, element := range elements {
		v.node(n.items, element, path+"/"+strconv.Itoa(i))
	}
}

func (v *validation) object(n *node, value []byte, path string) {
	if n.properties == nil && n.required == nil && !n.closed && n.additional == nil {
		return
	}
	members, _ := jsontext.Members(value)
	present := make(map[string]bool, len(members))
	for _, m := range members {
		present[m.Name] = true
		if n.closed && n.properties[m.Name] == nil {
			v.add(path+"/"+escape(m.Name), "%s", Unknown(kindOfMember(path), m.Name, n.names))
		}
	}
	for _, name := range n.required {
		if !present[name] {
			v.add(path, "`%s` is missing%s", name, n.properties[name].told())
		}
	}
	for _, m := range members {
		property := n.properties[m.Name]
		if property == nil {
			property = n.additional
		}
		if property != nil {
			v.node(property, m.Value, path+"/"+escape(m.Name))
		}
	}
}

// told is the description of a member, as the end of a sentence.
func (n *node) told() string {
	if n == nil || n.description == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(n.description, ".")
}

func kindOfMember(path string) string {
	if path == "" {
		return "argument"
	}
	return "member"
}

// escape writes a name into a JSON pointer (RFC 6901, 3); foreign names are cut.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(domain.Quote(name, 200), "~", "~0"), "/", "~1")
}

func hasType(name string, kind jsontext.Kind, value []byte) bool {
	switch name {
	case "object":
		return kind == jsontext.Object
	case "array":
		return kind == jsontext.Array
	case "string":
		return kind == jsontext.String
	case "boolean":
		return kind == jsontext.Boolean
	case "null":
		return kind == jsontext.Null
	case "number":
		return kind == jsontext.Number
	case "integer":
		_, whole := jsontext.Integer(value)
		return whole
	}
	return false
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

var dateTimeShape = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

func dateTime(text string) bool {
	text = strings.ToUpper(text) // t and z are admitted in either case
	if !dateTimeShape.MatchString(text) {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func equal(a, b []byte) bool {
	return string(a) == string(b) || canonical(a) == canonical(b)
}

// canonical gives one text for all spellings of a value: sorted members, whole numbers without fraction.
func canonical(value []byte) string {
	if n, ok := jsontext.Integer(value); ok {
		return strconv.FormatInt(n, 10)
	}
	var decoded any
	if json.Unmarshal(value, &decoded) != nil {
		return string(value) // a number beyond float64: as it is written
	}
	form, err := json.Marshal(decoded)
	if err != nil {
		return string(value)
	}
	return string(form)
}
