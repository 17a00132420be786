package schema

import (
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number of JSON without rounding: digits times ten to the power of exp. Zero has no digits; otherwise the
// digits neither start nor end with a zero.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// hugeExp stands for every exponent that is too large to count.
const hugeExp = 1 << 40

// newDecimal reads a number that the reader accepted.
func newDecimal(text string) decimal {
	var d decimal
	if strings.HasPrefix(text, "-") {
		d.neg, text = true, text[1:]
	}
	mantissa := text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		e, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		switch {
		case err == nil && e > -hugeExp && e < hugeExp:
			d.exp = e
		case text[i+1] == '-':
			d.exp = -hugeExp
		default:
			d.exp = hugeExp
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exp -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	d.exp += len(digits) - len(trimmed)
	d.digits = trimmed
	if trimmed == "" {
		return decimal{}
	}
	return d
}

// int64 gives the value when it is an integer of 64 bits; whole says that it is an integer at all.
func (d decimal) int64() (v int64, whole, fits bool) {
	if d.digits == "" {
		return 0, true, true
	}
	if d.exp < 0 {
		return 0, false, false
	}
	const most = 19 // digits of 2⁶³
	if len(d.digits)+d.exp > most {
		return 0, true, false
	}
	text := d.digits + strings.Repeat("0", d.exp)
	if d.neg {
		text = "-" + text
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, true, err == nil
}

// compare is negative when d < e, zero when they are equal.
func (d decimal) compare(e decimal) int {
	ds, es := d.sign(), e.sign()
	if ds != es || ds == 0 {
		return ds - es
	}
	return ds * compareDigits(d, e)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func compareDigits(d, e decimal) int {
	if dp, ep := len(d.digits)+d.exp, len(e.digits)+e.exp; dp != ep {
		if dp < ep {
			return -1
		}
		return 1
	}
	return strings.Compare(d.digits, e.digits) // same magnitude: as fractions, without trailing zeros
}

// multipleOf says whether d is an integer multiple of e. Numbers of absurd length or distance are none.
func (d decimal) multipleOf(e decimal) bool {
	const most = 1100 // digits of any double, and distance between any two
	if d.digits == "" {
		return true
	}
	shift := d.exp - e.exp
	if e.digits == "" || len(d.digits) > most || len(e.digits) > most || shift > 2*most || shift < -2*most {
		return false
	}
	a, b := d.big(max(shift, 0)), e.big(max(-shift, 0))
	return a.Rem(a, b).Sign() == 0
}

// big is the digits followed by zeros.
func (d decimal) big(zeros int) *big.Int {
	v, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", zeros), 10)
	return v
}

// String is the one spelling of the value.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	if d.exp == 0 {
		return sign + d.digits
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exp)
}

// double says whether the text is within the range of an IEEE double.
func double(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
