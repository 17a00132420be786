package value

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode reads one JSON value and nothing after it. Whole numbers within 64 bits stay exact; a repeated member, a number
// beyond a double and more than MaxDepth levels are refused. Invalid UTF-8 becomes U+FFFD.
func Decode(text []byte) (Value, error) {
	d := decoder{text: string(text)}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.text) {
		return nil, d.unexpected("the end")
	}
	return v, nil
}

type decoder struct {
	text string
	pos  int
}

func (d *decoder) unexpected(wanted string) error {
	if d.pos >= len(d.text) {
		return fmt.Errorf("JSON ends at byte %d where %s was expected", d.pos, wanted)
	}
	return fmt.Errorf("JSON has %q at byte %d where %s was expected", d.text[d.pos], d.pos, wanted)
}

func (d *decoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// next skips space and reports whether the next byte is c, which it then consumes.
func (d *decoder) next(c byte) bool {
	d.space()
	if d.pos < len(d.text) && d.text[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) value(depth int) (Value, error) {
	d.space()
	if d.pos >= len(d.text) {
		return nil, d.unexpected("a value")
	}
	switch c := d.text[d.pos]; {
	case c == '"':
		s, err := d.str()
		return String(s), err
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return nil, fmt.Errorf("JSON nests deeper than %d levels at byte %d", MaxDepth, d.pos)
		}
		d.pos++
		if c == '[' {
			return d.list(depth + 1)
		}
		return d.object(depth + 1)
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	return d.word()
}

func (d *decoder) word() (Value, error) {
	rest := d.text[d.pos:]
	switch {
	case strings.HasPrefix(rest, "true"):
		d.pos += 4
		return Bool(true), nil
	case strings.HasPrefix(rest, "false"):
		d.pos += 5
		return Bool(false), nil
	case strings.HasPrefix(rest, "null"):
		d.pos += 4
		return Null{}, nil
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) list(depth int) (Value, error) {
	list := List{}
	if d.next(']') {
		return list, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if d.next(']') {
			return list, nil
		}
		if !d.next(',') {
			return nil, d.unexpected("`,` or `]`")
		}
	}
}

func (d *decoder) object(depth int) (Value, error) {
	var members []Member
	if d.next('}') {
		return Object{}, nil
	}
	for {
		m, err := d.member(depth)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
		if d.next('}') {
			break
		}
		if !d.next(',') {
			return nil, d.unexpected("`,` or `}`")
		}
	}
	n := len(members)
	o := NewObject(members)
	if len(o.members) != n {
		return nil, fmt.Errorf("JSON repeats a member in the object that ends at byte %d", d.pos)
	}
	return o, nil
}

func (d *decoder) member(depth int) (Member, error) {
	d.space()
	if d.pos >= len(d.text) || d.text[d.pos] != '"' {
		return Member{}, d.unexpected("a member name")
	}
	name, err := d.str()
	if err != nil {
		return Member{}, err
	}
	if !d.next(':') {
		return Member{}, d.unexpected("`:`")
	}
	v, err := d.value(depth)
	return Member{Name: name, Value: v}, err
}

func (d *decoder) number() (Value, error) {
	start := d.pos
	if d.text[d.pos] == '-' {
		d.pos++
	}
	if d.pos < len(d.text) && d.text[d.pos] == '0' {
		d.pos++
	} else if !d.digits() {
		return nil, d.unexpected("a digit")
	}
	if d.pos < len(d.text) && d.text[d.pos] == '.' {
		d.pos++
		if !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	if d.pos < len(d.text) && (d.text[d.pos] == 'e' || d.text[d.pos] == 'E') {
		d.pos++
		if d.pos < len(d.text) && (d.text[d.pos] == '+' || d.text[d.pos] == '-') {
			d.pos++
		}
		if !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	return number(d.text[start:d.pos])
}

func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.text) && d.text[d.pos] >= '0' && d.text[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

// str reads a string; the next byte is its quote.
func (d *decoder) str() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			s := d.text[start:d.pos]
			d.pos++
			return strings.ToValidUTF8(s, "\uFFFD"), nil
		case c == '\\':
			return d.escaped(start)
		case c < 0x20:
			return "", d.unexpected("a character of a string")
		}
		d.pos++
	}
	return "", d.unexpected("`\"`")
}

// escaped goes on with a string that has an escape; the text before it starts at start.
func (d *decoder) escaped(start int) (string, error) {
	buf := []byte(d.text[start:d.pos])
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			d.pos++
			return strings.ToValidUTF8(string(buf), "\uFFFD"), nil
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
		case c < 0x20:
			return "", d.unexpected("a character of a string")
		default:
			buf = append(buf, c)
			d.pos++
		}
	}
	return "", d.unexpected("`\"`")
}

func (d *decoder) escape() (rune, error) {
	if d.pos+1 >= len(d.text) {
		d.pos = len(d.text)
		return 0, d.unexpected("an escape")
	}
	d.pos++
	if d.text[d.pos] == 'u' {
		return d.unicode()
	}
	i := strings.IndexByte(`"\/bfnrt`, d.text[d.pos])
	if i < 0 {
		return 0, d.unexpected("an escape")
	}
	d.pos++
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

// unicode reads `uXXXX`, and the second half of a surrogate pair; half a pair is U+FFFD.
func (d *decoder) unicode() (rune, error) {
	r, ok := d.hex(d.pos + 1)
	if !ok {
		return 0, d.unexpected("four hex digits")
	}
	d.pos += 5
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if strings.HasPrefix(d.text[d.pos:], `\u`) {
		if low, ok := d.hex(d.pos + 2); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				d.pos += 6
				return full, nil
			}
		}
	}
	return utf8.RuneError, nil
}

func (d *decoder) hex(at int) (rune, bool) {
	if at+4 > len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[at:at+4], 16, 16)
	return rune(n), err == nil
}
