package jsontext

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Member is one member of an object: its decoded name and the bytes of its value.
type Member struct {
	Name  string
	Value []byte
}

// Kind of a value.
type Kind int

// The kinds.
const (
	Object Kind = iota + 1
	Array
	String
	Number
	Boolean
	Null
)

// KindOf tells the kind of a checked value; 0 for no bytes.
func KindOf(value []byte) Kind {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return 0
	}
	switch value[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return Number
}

// Members splits a checked object into its members in order; false for any other value. The values share the bytes of
// object.
func Members(object []byte) ([]Member, bool) {
	if KindOf(object) != Object {
		return nil, false
	}
	c := checker{text: object, limit: math.MaxInt}
	c.space()
	c.at++
	members := make([]Member, 0, 8)
	for {
		c.space()
		if c.peek() == ',' {
			c.at++
			c.space()
		}
		if c.peek() != '"' {
			return members, true
		}
		k, _ := c.quoted() // checked before
		c.space()
		c.at++ // the colon
		c.space()
		from := c.at
		c.skip()
		members = append(members, Member{Name: c.name(k), Value: object[from:c.at:c.at]})
	}
}

// Elements splits a checked array; false for any other value.
func Elements(array []byte) ([][]byte, bool) {
	if KindOf(array) != Array {
		return nil, false
	}
	c := checker{text: array, limit: math.MaxInt}
	c.space()
	c.at++
	var elements [][]byte
	for {
		c.space()
		if c.peek() == ',' {
			c.at++
			c.space()
		}
		if b := c.peek(); b == ']' || b == 0 {
			return elements, true
		}
		from := c.at
		c.skip()
		if c.at == from {
			return elements, true // the text was not checked
		}
		elements = append(elements, array[from:c.at:c.at])
	}
}

// skip passes one checked value without looking at what it holds.
func (c *checker) skip() {
	depth := 0
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case '"':
			_, _ = c.quoted() // checked before
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return // the end of what holds a scalar
			}
			depth--
			if depth == 0 {
				c.at++
				return
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
		}
		c.at++
	}
}

// Text decodes a string value; false for any other kind.
func Text(value []byte) (string, bool) {
	value = bytes.TrimSpace(value)
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return unquote(value[1 : len(value)-1]), true
}

// unquote decodes the inside of a string token. Half surrogates become U+FFFD.
func unquote(inside []byte) string {
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	var s string
	token := make([]byte, 0, len(inside)+2)
	token = append(append(append(token, '"'), inside...), '"')
	if json.Unmarshal(token, &s) != nil {
		return string(inside) // cannot be: the token was checked
	}
	return s
}

// Integer reads a number value that is a whole number in any spelling (3, 3.0, 3e0); false for anything else. What is
// beyond 64 bits comes back as the nearest 64-bit number.
func Integer(value []byte) (int64, bool) {
	value = bytes.TrimSpace(value)
	if KindOf(value) != Number {
		return 0, false
	}
	mantissa, exponent := value, 0
	if e := bytes.IndexAny(value, "eE"); e >= 0 {
		mantissa = value[:e]
		var err error
		if exponent, err = strconv.Atoi(string(value[e+1:])); err != nil {
			exponent = math.MaxInt32 // its sign is found below, when it matters
			if value[e+1] == '-' {
				exponent = -exponent
			}
		}
	}
	negative := mantissa[0] == '-'
	whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(mantissa, []byte("-")), []byte("."))
	fraction = bytes.TrimRight(fraction, "0")
	digits := bytes.TrimLeft(append(append([]byte{}, whole...), fraction...), "0")
	if len(digits) == 0 {
		return 0, true
	}
	return scaled(digits, exponent-len(fraction), negative)
}

// scaled is digits × 10^exponent.
func scaled(digits []byte, exponent int, negative bool) (int64, bool) {
	for exponent < 0 && digits[len(digits)-1] == '0' {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	if exponent < 0 {
		return 0, false
	}
	limit := int64(math.MaxInt64)
	if negative {
		limit = math.MinInt64
	}
	if len(digits)+exponent > 19 || exponent > 19 {
		return limit, true
	}
	text := string(digits) + string(bytes.Repeat([]byte("0"), exponent))
	if negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return limit, true
	}
	return n, true
}
