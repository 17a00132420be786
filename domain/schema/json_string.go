package schema

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string whose opening quote stands at the present place.
func (r *reader) string() (string, *textError) {
	open := r.pos
	r.pos++
	start := r.pos
	for r.pos < len(r.s) {
		switch c := r.s[r.pos]; {
		case c == '"':
			r.pos++
			return r.s[start : r.pos-1], nil
		case c == '\\':
			return r.escaped(open, start)
		case c < 0x20:
			return "", r.fail(r.pos, "a string cannot hold the control character U+%04X", c)
		default:
			r.pos++
		}
	}
	return "", r.fail(open, "this string is never closed")
}

// escaped goes on at the first backslash of a string.
func (r *reader) escaped(open, start int) (string, *textError) {
	buf := []byte(r.s[start:r.pos])
	for r.pos < len(r.s) {
		switch c := r.s[r.pos]; {
		case c == '"':
			r.pos++
			return string(buf), nil
		case c == '\\':
			c, err := r.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, c)
		case c < 0x20:
			return "", r.fail(r.pos, "a string cannot hold the control character U+%04X", c)
		default:
			buf = append(buf, c)
			r.pos++
		}
	}
	return "", r.fail(open, "this string is never closed")
}

func (r *reader) escape() (rune, *textError) {
	at := r.pos
	if r.pos+1 >= len(r.s) {
		return 0, r.fail(at, "this escape is cut off")
	}
	c := r.s[r.pos+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		r.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, r.fail(at, "`\\%s` is not an escape of JSON", printable(rune(c)))
	}
	hi, ok := r.hex()
	if !ok {
		return 0, r.fail(at, "`\\u` needs four hex digits")
	}
	if !utf16.IsSurrogate(hi) {
		return hi, nil
	}
	if strings.HasPrefix(r.s[r.pos:], `\u`) {
		if lo, ok := r.hex(); ok {
			if full := utf16.DecodeRune(hi, lo); full != utf8.RuneError {
				return full, nil
			}
		}
	}
	return 0, r.fail(at, "this escape is half of a surrogate pair")
}

// hex reads `\uXXXX`.
func (r *reader) hex() (rune, bool) {
	if r.pos+6 > len(r.s) {
		return 0, false
	}
	v, err := strconv.ParseUint(r.s[r.pos+2:r.pos+6], 16, 32)
	if err != nil {
		return 0, false
	}
	r.pos += 6
	return rune(v), true
}
