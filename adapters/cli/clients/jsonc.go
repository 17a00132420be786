package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// node is one value of a JSON text with comments, and where it stands.
type node struct {
	from, to int
	object   bool
	members  []member
	value    any // decoded
}

type member struct {
	name  string
	from  int // of the name
	value *node
	comma int // after the value; -1: none
}

func (n *node) member(name string) *member {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// maxDepth bounds the recursion of the parser.
const maxDepth = 512

// parser reads JSON with comments and trailing commas, which is what editors write into their settings.
type parser struct {
	text  []byte
	at    int
	depth int
}

// SyntaxError says where a file breaks the rules of its language.
type SyntaxError struct {
	Line, Column int
	What         string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What) }

func (p *parser) fault(at int, format string, args ...any) error {
	at = min(at, len(p.text))
	before := p.text[:at]
	return &SyntaxError{
		Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1,
		What: fmt.Sprintf(format, args...),
	}
}

// parseJSON reads a whole file.
func parseJSON(text []byte) (*node, error) {
	p := &parser{text: text}
	if !utf8.Valid(text) {
		return nil, p.fault(0, "the file is not UTF-8")
	}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		p.at = 3
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	n, err := p.read()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.fault(p.at, "there is more after the end of the value")
	}
	return n, nil
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space passes over white space and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			p.at += lineEnd(rest)
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return p.fault(p.at, "a comment does not end")
			}
			p.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// lineEnd is the length of the first line of text without its end.
func lineEnd(text []byte) int {
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

func (p *parser) read() (*node, error) {
	if p.depth == maxDepth {
		return nil, p.fault(p.at, "more than %d levels of nesting", maxDepth)
	}
	p.depth++
	defer func() { p.depth-- }()
	switch p.peek() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		_, n, err := p.quoted()
		return n, err
	}
	return p.word()
}

func (p *parser) object() (*node, error) {
	values := map[string]any{}
	n := &node{from: p.at, object: true, value: values}
	p.at++
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.peek() == '}' {
			break
		}
		if k := len(n.members); k > 0 && n.members[k-1].comma < 0 {
			return nil, p.fault(p.at, "a comma or } is missing")
		}
		m, err := p.member()
		if err != nil {
			return nil, err
		}
		if n.member(m.name) != nil {
			return nil, p.fault(m.from, "the name %q stands twice", m.name)
		}
		values[m.name] = m.value.value
		n.members = append(n.members, m)
	}
	p.at++
	n.to = p.at
	return n, nil
}

func (p *parser) member() (member, error) {
	m := member{from: p.at, comma: -1}
	if p.peek() != '"' {
		return m, p.fault(p.at, "a name in double quotes is missing")
	}
	var err error
	if m.name, _, err = p.quoted(); err != nil {
		return m, err
	}
	if err := p.space(); err != nil {
		return m, err
	}
	if p.peek() != ':' {
		return m, p.fault(p.at, "a colon is missing")
	}
	p.at++
	if err := p.space(); err != nil {
		return m, err
	}
	if m.value, err = p.read(); err != nil {
		return m, err
	}
	if err := p.space(); err != nil {
		return m, err
	}
	if p.peek() == ',' {
		m.comma = p.at
		p.at++
	}
	return m, nil
}

func (p *parser) array() (*node, error) {
	values := []any{}
	n := &node{from: p.at}
	p.at++
	for comma := true; ; {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.peek() == ']' {
			break
		}
		if !comma {
			return nil, p.fault(p.at, "a comma or ] is missing")
		}
		element, err := p.read()
		if err != nil {
			return nil, err
		}
		values = append(values, element.value)
		if err := p.space(); err != nil {
			return nil, err
		}
		if comma = p.peek() == ','; comma {
			p.at++
		}
	}
	p.at++
	n.to, n.value = p.at, values
	return n, nil
}

func (p *parser) quoted() (string, *node, error) {
	from := p.at
	for p.at++; p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\n'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	if p.peek() != '"' {
		return "", nil, p.fault(from, "a string does not end")
	}
	p.at++
	var s string
	if json.Unmarshal(p.text[from:p.at], &s) != nil {
		return "", nil, p.fault(from, "a string has a wrong escape or a control character")
	}
	return s, &node{from: from, to: p.at, value: s}, nil
}

// word reads a number, true, false or null.
func (p *parser) word() (*node, error) {
	from := p.at
	for p.at < len(p.text) && !bytes.ContainsRune([]byte(" \t\r\n,:[]{}\"/"), rune(p.text[p.at])) {
		p.at++
	}
	var v any
	if from == p.at || json.Unmarshal(p.text[from:p.at], &v) != nil {
		return nil, p.fault(from, "a JSON value is missing")
	}
	return &node{from: from, to: p.at, value: v}, nil
}
