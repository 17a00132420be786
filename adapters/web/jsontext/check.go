package jsontext

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Fault is why a text was refused.
type Fault int

// The faults. A repeated name is reported only for a text that is otherwise well-formed.
const (
	Malformed Fault = iota + 1
	TooDeep
	Repeated
)

// Error says where a text breaks which rule.
type Error struct {
	Fault  Fault
	Offset int    // in bytes
	Name   string // the repeated member name
	what   string
}

func (e *Error) Error() string {
	switch e.Fault {
	case Repeated:
		return fmt.Sprintf("member %q occurs twice in one object (byte %d)", e.Name, e.Offset)
	case TooDeep, Malformed:
	}
	return fmt.Sprintf("%s at byte %d", e.what, e.Offset)
}

// Check reads text as exactly one JSON value with at most depth nested arrays and objects. The error is an *Error.
func Check(text []byte, depth int) error {
	if !utf8.Valid(text) {
		return &Error{Fault: Malformed, Offset: invalidAt(text), what: "invalid UTF-8"}
	}
	c := checker{text: text, limit: depth}
	c.space()
	if err := c.value(); err != nil {
		return err
	}
	c.space()
	if c.at < len(text) {
		return c.malformed("bytes after the value")
	}
	if c.repeated != nil {
		return c.repeated
	}
	return nil
}

func invalidAt(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// checker is a recursive descent over the grammar of RFC 8259; limit bounds the recursion.
type checker struct {
	text     []byte
	at       int
	depth    int
	limit    int
	keys     []key // of the open objects, innermost last
	repeated *Error
}

// key is a string token without its quotes.
type key struct {
	from, to int
	escaped  bool
}

func (c *checker) malformed(what string) *Error {
	if c.at >= len(c.text) {
		what = "the text ends too early"
	}
	return &Error{Fault: Malformed, Offset: c.at, what: what}
}

func (c *checker) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

func (c *checker) peek() byte {
	if c.at < len(c.text) {
		return c.text[c.at]
	}
	return 0
}

func (c *checker) value() error {
	switch b := c.peek(); {
	case b == '{':
		return c.nested(c.object)
	case b == '[':
		return c.nested(c.array)
	case b == '"':
		_, err := c.quoted()
		return err
	case b == '-' || b >= '0' && b <= '9':
		return c.number()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	}
	return c.malformed("no JSON value")
}

func (c *checker) nested(read func() error) error {
	if c.depth == c.limit {
		return &Error{Fault: TooDeep, Offset: c.at, what: fmt.Sprintf("nesting over %d", c.limit)}
	}
	c.depth++
	c.at++
	err := read()
	c.depth--
	return err
}

func (c *checker) object() error {
	base := len(c.keys)
	var seen map[string]bool // only for objects with many members
	c.space()
	if c.peek() == '}' {
		c.at++
		return nil
	}
	for {
		c.space()
		if c.peek() != '"' {
			return c.malformed("no member name")
		}
		k, err := c.quoted()
		if err != nil {
			return err
		}
		seen = c.note(base, seen, k)
		c.space()
		if c.peek() != ':' {
			return c.malformed("no colon after a member name")
		}
		c.at++
		c.space()
		if err := c.value(); err != nil {
			return err
		}
		c.space()
		switch c.peek() {
		case ',':
			c.at++
		case '}':
			c.at++
			c.keys = c.keys[:base]
			return nil
		default:
			return c.malformed("neither a comma nor the end of the object")
		}
	}
}

// fewMembers is up to where comparing each name with each other is cheaper than a map.
const fewMembers = 16

func (c *checker) note(base int, seen map[string]bool, k key) map[string]bool {
	twice := false
	if seen == nil {
		for _, other := range c.keys[base:] {
			twice = twice || c.same(other, k)
		}
		c.keys = append(c.keys, k)
		if len(c.keys)-base > fewMembers {
			seen = make(map[string]bool, 4*fewMembers)
			for _, other := range c.keys[base:] {
				seen[c.name(other)] = true
			}
		}
	} else {
		name := c.name(k)
		twice = seen[name]
		seen[name] = true
	}
	if twice && c.repeated == nil {
		c.repeated = &Error{Fault: Repeated, Offset: k.from - 1, Name: c.name(k)}
	}
	return seen
}

func (c *checker) same(a, b key) bool {
	if a.escaped || b.escaped {
		return c.name(a) == c.name(b)
	}
	return bytes.Equal(c.text[a.from:a.to], c.text[b.from:b.to])
}

func (c *checker) name(k key) string { return unquote(c.text[k.from:k.to]) }

func (c *checker) array() error {
	c.space()
	if c.peek() == ']' {
		c.at++
		return nil
	}
	for {
		c.space()
		if err := c.value(); err != nil {
			return err
		}
		c.space()
		switch c.peek() {
		case ',':
			c.at++
		case ']':
			c.at++
			return nil
		default:
			return c.malformed("neither a comma nor the end of the array")
		}
	}
}

func (c *checker) word(w string) error {
	if len(c.text)-c.at < len(w) || string(c.text[c.at:c.at+len(w)]) != w {
		return c.malformed("no JSON value")
	}
	c.at += len(w)
	return nil
}

// quoted reads one string token.
func (c *checker) quoted() (key, error) {
	c.at++
	from, escaped := c.at, false
	for c.at < len(c.text) {
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			return key{from, c.at - 1, escaped}, nil
		case b < 0x20:
			return key{}, c.malformed("control character in a string")
		case b == '\\':
			escaped = true
			if err := c.escape(); err != nil {
				return key{}, err
			}
		default:
			c.at++
		}
	}
	return key{}, c.malformed("")
}

func (c *checker) escape() error {
	c.at++
	switch c.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.at++
		return nil
	case 'u':
		c.at++
		for range 4 {
			b := c.peek()
			if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'f') {
				return c.malformed("bad escape in a string")
			}
			c.at++
		}
		return nil
	}
	return c.malformed("bad escape in a string")
}

func (c *checker) number() error {
	if c.peek() == '-' {
		c.at++
	}
	if c.peek() == '0' {
		c.at++
	} else if c.digits() == 0 {
		return c.malformed("bad number")
	}
	if c.peek() == '.' {
		c.at++
		if c.digits() == 0 {
			return c.malformed("bad number")
		}
	}
	if b := c.peek(); b == 'e' || b == 'E' {
		c.at++
		if b := c.peek(); b == '+' || b == '-' {
			c.at++
		}
		if c.digits() == 0 {
			return c.malformed("bad number")
		}
	}
	return nil
}

func (c *checker) digits() int {
	from := c.at
	for b := c.peek(); b >= '0' && b <= '9'; b = c.peek() {
		c.at++
	}
	return c.at - from
}
