package value

import (
	"strconv"

	"aion/domain"
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
		return domain.AppendText(b, string(v))
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
			b = domain.AppendText(b, m.Name)
			b = append(b, ':')
			b = Append(b, m.Value)
		}
		return append(b, '}')
	}
	return b
}
