package value

import "unicode/utf8"

// MaxDepth is how deep lists and records may nest in one value.
const MaxDepth = 512

// MaxBytes is how long the canonical JSON of one value may be.
const MaxBytes = 2 << 20

// Fits checks one value against MaxBytes and MaxDepth. Its cost is bounded by MaxBytes, however much the value shares.
func Fits(v Value) *Failure {
	_, f := Weigh(v, MaxBytes)
	return f
}

// Weigh gives the length of the canonical JSON of v, or a failure when it is more than room or nests too deep. It stops as
// soon as that is known.
func Weigh(v Value, room int) (int, *Failure) {
	left, deep := weigh(v, room, 0)
	switch {
	case deep:
		return 0, Failed(TooLarge, "a value nests deeper than %d levels", MaxDepth)
	case left < 0:
		return 0, Failed(TooLarge, "a value is longer than %d bytes of JSON", MaxBytes)
	}
	return room - left, nil
}

// weigh takes the length of v from left; negative means that it did not fit.
func weigh(v Value, left, depth int) (rest int, deep bool) {
	switch v := v.(type) {
	case nil, Null, Absent:
		return left - 4, false
	case Bool, Int, Float:
		var buf [32]byte
		return left - len(Append(buf[:0], v)), false
	case String:
		return left - textSize(string(v)), false
	case List:
		left -= 2 + max(0, len(v)-1)
		if depth >= MaxDepth {
			return left, true
		}
		for _, item := range v {
			if left, deep = weigh(item, left, depth+1); deep || left < 0 {
				return left, deep
			}
		}
		return left, false
	case Object:
		left -= 2 + max(0, len(v.members)-1)
		if depth >= MaxDepth {
			return left, true
		}
		for _, m := range v.members {
			left -= textSize(m.Name) + 1
			if left, deep = weigh(m.Value, left, depth+1); deep || left < 0 {
				return left, deep
			}
		}
		return left, false
	}
	return left, false
}

// textSize is the length of a JSON string as domain.AppendText writes it.
func textSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case plain(c):
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				n += 2
			}
			i += size
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
			i++
		default:
			n += 5
			i++
		}
	}
	return n
}

func plain(c byte) bool { return c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf }
