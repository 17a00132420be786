package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxExponent keeps the arithmetic of whole far from overflow; no value of at most MaxBytes needs more to be a whole number.
const maxExponent = 1 << 22

// two63 is the first number above the range of Int.
const two63 = float64(1 << 63)

// NewFloat makes a number from a double that is neither NaN nor infinite: an Int when it is whole and fits.
func NewFloat(f float64) Value {
	if f == math.Trunc(f) && f >= -two63 && f < two63 {
		return Int(int64(f))
	}
	return Float(f)
}

// number reads the text of a JSON number whose grammar was checked. Whole numbers within 64 bits are exact, whatever their
// spelling.
func number(text string) (Value, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int(i), nil
	}
	if i, ok := whole(text); ok {
		return Int(i), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", text)
	}
	return NewFloat(f), nil
}

// whole reads a number with a fraction or an exponent when it is a whole number within 64 bits.
func whole(text string) (int64, bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		if err != nil || n > maxExponent || n < -maxExponent {
			return 0, false
		}
		mantissa, exponent = text[:i], n
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	if i := strings.IndexByte(mantissa, '.'); i >= 0 {
		fraction := mantissa[i+1:]
		mantissa, exponent = mantissa[:i]+fraction, exponent-len(fraction)
	}
	digits := strings.TrimLeft(mantissa, "0")
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	if short == "" {
		return 0, true
	}
	if exponent < 0 || exponent > 19 || len(short)+exponent > 19 {
		return 0, false
	}
	i, err := strconv.ParseInt(sign+short+strings.Repeat("0", exponent), 10, 64)
	return i, err == nil
}

// appendFloat writes the shortest form that reads back to the same double, laid out as ECMAScript does.
func appendFloat(b []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-2] == '0' { // e-09 becomes e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

func compareIntFloat(i int64, f float64) int {
	if f >= two63 {
		return -1
	}
	if f < -two63 || i > int64(math.Floor(f)) {
		return 1
	}
	return -1 // f is no whole number, so they are never equal
}
