package value

import (
	"strconv"
	"unicode/utf8"
)

// Encode gives the canonical JSON of a value: keys sorted, no insignificant space, no needless escapes, numbers in the
// shortest form that round-trips. Absent is written as null.
func Encode(v Value) []byte { return Append(nil, v) }

// Append appends the canonical JSON of a value.
func Append(b []byte, v Value) []byte {
	switch v := v.(type) {
	case nil, Null, Absent:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, bool(v))
	case Int:
		return strconv.AppendInt(b, int64(v), 10)
	case Float:
		return appendFloat(b, float64(v))
	case String:
		return appendText(b, string(v))
	case List:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, item)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, m.Name)
			b = append(b, ':')
			b = Append(b, m.Value)
		}
		return append(b, '}')
	}
	return b
}

const hexDigits = "0123456789abcdef"

func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain(c) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), "\uFFFD"...)
		} else {
			b = appendEscape(append(b, s[start:i]...), c)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func plain(c byte) bool { return c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf }

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
