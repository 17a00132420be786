package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"aion/adapters/web/jsontext"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct{ root *node }

// node is one schema object. Absent bounds are -1, absent limits nil.
type node struct {
	types      []string
	properties map[string]*node
	names      []string // of properties, in order
	required   []string
	closed     bool  // additionalProperties: false
	additional *node // nil: anything

	enum        [][]byte // the admitted values; nil: no such keyword
	format      string
	description string

	pattern              *regexp.Regexp
	minLength, maxLength int
	minItems, maxItems   int
	minimum, maximum     *int64
	unique               bool
	items                *node
	anyOf                []*node
	ref                  string
	target               *node
}

// compiler collects the definitions and the references to them.
type compiler struct {
	defs map[string]*node
	refs []*node
}

// Compile reads a schema. A keyword, type or format outside the known set, and a reference that leads nowhere or in a
// circle, is an error that names its place.
func Compile(text []byte) (*Schema, error) {
	if err := jsontext.Check(text, 64); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	c := &compiler{defs: map[string]*node{}}
	root, err := c.node(text, "")
	if err != nil {
		return nil, err
	}
	for _, n := range c.refs {
		target, ok := c.defs[n.ref]
		if !ok {
			return nil, fmt.Errorf("schema: $ref to #/$defs/%s leads nowhere", n.ref)
		}
		n.target = target
	}
	for _, n := range c.refs {
		for hops, at := 0, n; at.target != nil; hops, at = hops+1, at.target {
			if hops > len(c.refs) {
				return nil, fmt.Errorf("schema: $ref to #/$defs/%s leads in a circle", n.ref)
			}
		}
	}
	return &Schema{root: root}, nil
}

func (c *compiler) node(text []byte, at string) (*node, error) {
	members, ok := jsontext.Members(text)
	if !ok {
		return nil, fmt.Errorf("schema: %s is not an object", place(at))
	}
	n := &node{minLength: -1, maxLength: -1, minItems: -1, maxItems: -1}
	for _, m := range members {
		if err := c.keyword(n, m, at+"/"+m.Name); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *compiler) keyword(n *node, m jsontext.Member, at string) (err error) {
	switch m.Name {
	case "default":
	case "description":
		n.description, _ = jsontext.Text(m.Value)
	case "properties":
		n.names, n.properties, err = c.named(m.Value, at)
	case "$defs":
		if at != "/$defs" {
			return fmt.Errorf("schema: %s: definitions stand at the root only", at)
		}
		_, c.defs, err = c.named(m.Value, at)
	case "$ref":
		target, _ := jsontext.Text(m.Value)
		name, ok := strings.CutPrefix(target, "#/$defs/")
		if !ok {
			return fmt.Errorf("schema: %s: only #/$defs/… can be referred to", at)
		}
		n.ref = name
		c.refs = append(c.refs, n)
	case "items":
		n.items, err = c.node(m.Value, at)
	case "additionalProperties":
		if string(m.Value) == "false" {
			n.closed = true
		} else if string(m.Value) != "true" {
			n.additional, err = c.node(m.Value, at)
		}
	case "anyOf":
		n.anyOf, err = c.list(m.Value, at)
	default:
		return assertion(n, m, at)
	}
	return err
}

func (c *compiler) named(text []byte, at string) ([]string, map[string]*node, error) {
	members, ok := jsontext.Members(text)
	if !ok {
		return nil, nil, fmt.Errorf("schema: %s is not an object", at)
	}
	names, nodes := make([]string, 0, len(members)), make(map[string]*node, len(members))
	for _, m := range members {
		n, err := c.node(m.Value, at+"/"+m.Name)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, m.Name)
		nodes[m.Name] = n
	}
	return names, nodes, nil
}

func (c *compiler) list(text []byte, at string) ([]*node, error) {
	elements, ok := jsontext.Elements(text)
	if !ok || len(elements) == 0 {
		return nil, fmt.Errorf("schema: %s is not a list of schemas", at)
	}
	nodes := make([]*node, 0, len(elements))
	for i, element := range elements {
		n, err := c.node(element, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// assertion reads the keywords that hold no further schema.
func assertion(n *node, m jsontext.Member, at string) (err error) {
	switch m.Name {
	case "type":
		n.types, err = typeNames(m.Value, at)
	case "required":
		n.required, err = texts(m.Value, at)
	case "enum":
		var ok bool
		if n.enum, ok = jsontext.Elements(m.Value); !ok || len(n.enum) == 0 {
			return fmt.Errorf("schema: %s is not a list of values", at)
		}
	case "const":
		n.enum = [][]byte{m.Value}
	case "format":
		n.format, _ = jsontext.Text(m.Value)
		if n.format != "uuid" && n.format != "date-time" {
			return fmt.Errorf("schema: %s: unknown format", at)
		}
	case "pattern":
		text, _ := jsontext.Text(m.Value)
		if n.pattern, err = regexp.Compile(text); err != nil {
			return fmt.Errorf("schema: %s: %w", at, err)
		}
	case "uniqueItems":
		n.unique = string(m.Value) == "true"
	default:
		return bound(n, m, at)
	}
	return err
}

func bound(n *node, m jsontext.Member, at string) error {
	value, ok := jsontext.Integer(m.Value)
	if !ok {
		return fmt.Errorf("schema: %s: unknown keyword, or a bound that is no whole number", at)
	}
	switch m.Name {
	case "minLength":
		n.minLength = int(value)
	case "maxLength":
		n.maxLength = int(value)
	case "minItems":
		n.minItems = int(value)
	case "maxItems":
		n.maxItems = int(value)
	case "minimum":
		n.minimum = &value
	case "maximum":
		n.maximum = &value
	default:
		return fmt.Errorf("schema: %s: unknown keyword", at)
	}
	return nil
}

func typeNames(value []byte, at string) ([]string, error) {
	names := []string{}
	if name, ok := jsontext.Text(value); ok {
		names = append(names, name)
	} else if list, err := texts(value, at); err == nil {
		names = list
	}
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("schema: %s: unknown type %q", at, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("schema: %s names no type", at)
	}
	return names, nil
}

func texts(value []byte, at string) ([]string, error) {
	elements, ok := jsontext.Elements(value)
	if !ok {
		return nil, fmt.Errorf("schema: %s is not a list", at)
	}
	list := make([]string, 0, len(elements))
	for _, element := range elements {
		text, ok := jsontext.Text(element)
		if !ok {
			return nil, fmt.Errorf("schema: %s holds something else than texts", at)
		}
		list = append(list, text)
	}
	return list, nil
}

func place(at string) string {
	if at == "" {
		return "the root"
	}
	return at
}
