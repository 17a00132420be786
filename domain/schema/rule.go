package schema

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"aion/domain"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	root *rule
}

// rule is one schema: everything that a value at its place must satisfy. The zero rule admits every value.
type rule struct {
	never   bool // the schema `false`
	ref     *rule
	kind    jsonKind // 0: any
	whole   bool     // `integer`
	options []string // of `enum`: canonical texts, for messages
	allowed map[string]bool
	fixed   *string // of `const`: canonical text
	object  *objectRule
	array   *arrayRule
	str     *stringRule
	number  *numberRule
}

type objectRule struct {
	properties map[string]*rule
	names      []string // of the properties, in order
	required   []string
	others     *rule // `additionalProperties`; nil: anything
	min, max   int
}

type arrayRule struct {
	items    *rule
	min, max int
	unique   bool
}

type stringRule struct {
	min, max int
	pattern  *regexp.Regexp
}

type numberRule struct {
	min, max           *decimal
	overMin, belowMax  *decimal
	multiple           *decimal
	minText, maxText   string
	overText, belowTxt string
	multipleText       string
}

// Compile reads a schema of the subset of awl 4.6, and the further forms that derived schemas have: the type null, and the
// reference `#` to the root. Anything else is refused: a rule that is not understood must not pass for one that is met.
func Compile(raw []byte) (*Schema, error) {
	n, err := parse(raw, MaxDepth)
	if err != nil {
		return nil, refuse(err.Error())
	}
	c := compiler{rules: map[string]*rule{}, refs: map[string]*node{}}
	if n.kind == jsonObject {
		if m := n.member("$defs"); m != nil {
			if m.val.kind != jsonObject {
				return nil, refuse("`$defs` is no object")
			}
			for i := range m.val.members() {
				d := &m.val.members()[i]
				c.refs["#/$defs/"+d.key] = &d.val
				c.rules["#/$defs/"+d.key] = &rule{}
			}
		}
	}
	root := &rule{}
	c.rules["#"], c.refs["#"] = root, n
	for ref, n := range c.refs {
		c.fill(c.rules[ref], n)
	}
	for _, r := range c.rules {
		c.acyclic(r)
	}
	if c.wrong != "" {
		return nil, refuse(c.wrong)
	}
	return &Schema{root: root}, nil
}

func refuse(what string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "SchemaInvalid",
		Message: "the schema cannot be enforced: " + what,
	}
}

type compiler struct {
	rules map[string]*rule // by reference
	refs  map[string]*node
	wrong string
}

func (c *compiler) fail(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); c.wrong == "" || what < c.wrong {
		c.wrong = what // the same one in whatever order the definitions were read
	}
}

// acyclic refuses references that lead back to themselves without going into the value, and chains that are too long.
func (c *compiler) acyclic(r *rule) {
	for steps := 0; r.ref != nil; r = r.ref {
		if steps++; steps > MaxDepth {
			c.fail("a chain of references has no end")
			return
		}
	}
}

func (c *compiler) rule(n *node) *rule {
	r := &rule{}
	c.fill(r, n)
	if r.plain() && r.ref != nil {
		return r.ref
	}
	return r
}

// plain says that the rule asks nothing by itself.
func (r *rule) plain() bool {
	return !r.never && r.kind == 0 && r.options == nil && r.fixed == nil &&
		r.object == nil && r.array == nil && r.str == nil && r.number == nil
}

func (c *compiler) fill(r *rule, n *node) {
	if n.kind == jsonBool {
		r.never = n.text == "false"
		return
	}
	if n.kind != jsonObject {
		c.fail("a schema is an object, found %s at byte %d", n.kind.word(), n.at())
		return
	}
	for i := range n.members() {
		m := &n.members()[i]
		if classOf(m.key) == refused {
			c.fail("keyword `%s` is not supported", m.key)
			continue
		}
		if what := defect(m); what != "" {
			c.fail("%s", what)
			continue
		}
		c.keyword(r, m)
	}
}

func (c *compiler) keyword(r *rule, m *member) {
	switch m.key {
	case "$ref":
		r.ref = c.target(m.val.str())
	case "type":
		r.kind = kindNamed(m.val.str())
		r.whole = m.val.str() == "integer"
		if r.kind == 0 {
			c.fail("`type` is not one known word")
		}
	case "enum":
		c.options(r, &m.val)
	case "const":
		text := canonical(&m.val)
		r.fixed = &text
	case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
		c.object(r, m)
	case "items", "minItems", "maxItems", "uniqueItems":
		c.array(r, m)
	case "minLength", "maxLength", "pattern":
		c.text(r, m)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		numeric(r, m)
	}
}

func (c *compiler) target(ref string) *rule {
	key := ref
	if name, ok := definitionName(ref); ok {
		key = "#/$defs/" + name
	}
	if r, ok := c.rules[key]; ok {
		return r
	}
	c.fail("`%s` is not a reference to a definition of the schema", shorten(ref))
	return nil
}

func (c *compiler) options(r *rule, v *node) {
	if v.kind != jsonArray {
		c.fail("`enum` is no list")
		return
	}
	r.options, r.allowed = []string{}, map[string]bool{}
	for i := range v.elems() {
		text := canonical(&v.elems()[i])
		r.options = append(r.options, text)
		r.allowed[text] = true
	}
}

func (c *compiler) object(r *rule, m *member) {
	if r.object == nil {
		r.object = &objectRule{max: math.MaxInt}
	}
	o := r.object
	switch m.key {
	case "properties":
		o.properties = make(map[string]*rule, len(m.val.members()))
		for i := range m.val.members() {
			p := &m.val.members()[i]
			o.properties[p.key] = c.rule(&p.val)
			o.names = append(o.names, p.key)
		}
	case "required":
		for i := range m.val.elems() {
			o.required = append(o.required, m.val.elems()[i].str())
		}
	case "additionalProperties":
		o.others = c.rule(&m.val)
	case "minProperties":
		o.min, _ = count(&m.val)
	case "maxProperties":
		o.max, _ = count(&m.val)
	}
}

func (c *compiler) array(r *rule, m *member) {
	if r.array == nil {
		r.array = &arrayRule{max: math.MaxInt}
	}
	switch m.key {
	case "items":
		r.array.items = c.rule(&m.val)
	case "minItems":
		r.array.min, _ = count(&m.val)
	case "maxItems":
		r.array.max, _ = count(&m.val)
	case "uniqueItems":
		r.array.unique = m.val.text == "true"
	}
}

func (c *compiler) text(r *rule, m *member) {
	if r.str == nil {
		r.str = &stringRule{max: math.MaxInt}
	}
	switch m.key {
	case "minLength":
		r.str.min, _ = count(&m.val)
	case "maxLength":
		r.str.max, _ = count(&m.val)
	case "pattern":
		r.str.pattern = regexp.MustCompile(m.val.str()) // looked at by defect
	}
}

func numeric(r *rule, m *member) {
	if r.number == nil {
		r.number = &numberRule{}
	}
	d := newDecimal(m.val.text)
	switch n := r.number; m.key {
	case "minimum":
		n.min, n.minText = &d, m.val.text
	case "maximum":
		n.max, n.maxText = &d, m.val.text
	case "exclusiveMinimum":
		n.overMin, n.overText = &d, m.val.text
	case "exclusiveMaximum":
		n.belowMax, n.belowTxt = &d, m.val.text
	case "multipleOf":
		n.multiple, n.multipleText = &d, m.val.text
	}
}

// expected is how messages call what a rule asks for.
func (r *rule) expected() string {
	r = r.plainest()
	switch {
	case r.never:
		return "nothing"
	case r.fixed != nil:
		return shorten(*r.fixed)
	case r.options != nil:
		return "one of " + listed(r.options)
	case r.whole:
		return "integer"
	case r.kind != 0:
		return r.kind.word()
	}
	return "a value"
}

// listed joins at most eight texts.
func listed(texts []string) string {
	const most = 8
	var b strings.Builder
	for i, t := range texts {
		if i == most {
			fmt.Fprintf(&b, " … (%d in all)", len(texts))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shorten(t))
	}
	return b.String()
}
