package httpapi

import "strings"

// plain removes the control sequences of terminals from a text, and every other control character but tabs and line
// breaks.
func plain(text string) string {
	if !strings.ContainsFunc(text, control) {
		return text
	}
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == 0x1b:
			i = sequenceEnd(runes, i)
		case r == 0x9b:
			i = finalOf(runes, i+1)
		case !control(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

func control(r rune) bool { return r != '\t' && r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0) }

// sequenceEnd is the last rune of the sequence that an escape at i opens (ECMA-48): a control sequence ends with its final
// byte, a string with BEL or ST.
func sequenceEnd(runes []rune, i int) int {
	if i+1 >= len(runes) {
		return i
	}
	switch runes[i+1] {
	case '[':
		return finalOf(runes, i+2)
	case ']', 'P', 'X', '^', '_':
		for j := i + 2; j < len(runes); j++ {
			if runes[j] == 0x07 || runes[j] == 0x9c {
				return j
			}
			if runes[j] == 0x1b && j+1 < len(runes) && runes[j+1] == '\\' {
				return j + 1
			}
		}
		return len(runes) - 1
	}
	for j := i + 1; j < len(runes); j++ { // intermediates, then one final
		if runes[j] < 0x20 || runes[j] > 0x2f {
			return j
		}
	}
	return len(runes) - 1
}

// finalOf is the final byte of a control sequence whose parameters begin at i; a broken one ends before what does not
// belong to it.
func finalOf(runes []rune, i int) int {
	for ; i < len(runes); i++ {
		if runes[i] >= 0x40 && runes[i] <= 0x7e {
			return i
		}
		if runes[i] < 0x20 || runes[i] > 0x3f {
			return i - 1
		}
	}
	return i - 1
}
