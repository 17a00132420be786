package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aion/adapters/web/jsontext"
)

// numbersAndNames looks over checked JSON text for what the grammar admits and no program keeps: integers outside 64 bits,
// numbers outside IEEE double, and member names with a NUL.
func numbersAndNames(text []byte) error {
	for at := 0; at < len(text); {
		switch b := text[at]; {
		case b == '"':
			end := past(text, at)
			if named(text, end) && holdsNUL(text[at:end]) {
				return fmt.Errorf("a member name holds a NUL at byte %d", at)
			}
			at = end
		case b == '-' || b >= '0' && b <= '9':
			end := at + 1
			for end < len(text) && strings.IndexByte("0123456789+-.eE", text[end]) >= 0 {
				end++
			}
			if err := representable(string(text[at:end])); err != nil {
				return fmt.Errorf("%w at byte %d", err, at)
			}
			at = end
		default:
			at++
		}
	}
	return nil
}

// holdsNUL reports whether a string token holds a NUL; unescaped ones are no JSON.
func holdsNUL(token []byte) bool {
	if !bytes.Contains(token, []byte(`u0000`)) {
		return false
	}
	name, _ := jsontext.Text(token)
	return strings.ContainsRune(name, 0)
}

// past is the place behind the string that begins at a quote.
func past(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at+1, len(text))
}

// named reports whether the string that ends here is a member name.
func named(text []byte, at int) bool {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at < len(text) && text[at] == ':'
}

func representable(number string) error {
	if !strings.ContainsAny(number, ".eE") {
		if _, err := strconv.ParseInt(number, 10, 64); err != nil {
			return errors.New("an integer is outside 64 bits")
		}
		return nil
	}
	if _, err := strconv.ParseFloat(number, 64); err != nil {
		return errors.New("a number is outside IEEE double")
	}
	return nil
}
