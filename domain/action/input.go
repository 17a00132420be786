package action

import (
	"bytes"
	"encoding/json"
	"fmt"

	"aion/domain"
)

// Input is the input object of a dispatch by member; each value keeps its recorded spelling.
type Input map[string]json.RawMessage

// ParseInput reads the input of a dispatch, or tells why it cannot be bound to parameters (actions 1.2, rows 1 and 2).
func ParseInput(raw json.RawMessage) (Input, *Failed) {
	if !json.Valid(raw) {
		return nil, terminal(CodeInputNotJSON, "the input of the activity is not JSON: %q; start the run with a JSON object",
			domain.Quote(string(raw), quotedValue))
	}
	if kind := jsonKind(raw); kind != "an object" {
		return nil, terminal(CodeInputNotObject,
			"the input of the activity is %s, not an object with one member for each parameter", kind)
	}
	var in Input
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, terminal(CodeInputNotJSON, "the input of the activity cannot be read: %v", err)
	}
	return in, nil
}

// jsonKind names the kind of a valid JSON text.
func jsonKind(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "`null`"
	default:
		return "a number"
	}
}

// absent reports whether a member is missing or null.
func (in Input) absent(name string) bool {
	raw, there := in[name]
	return !there || jsonKind(raw) == "`null`"
}

// one gives the argument form of a single value: a string's characters, else the literal as it was recorded.
func one(name string, raw json.RawMessage) (string, *Failed) {
	switch kind := jsonKind(raw); kind {
	case "a string":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", terminal(CodeInputNotJSON, "parameter `%s` cannot be read: %v", name, err)
		}
		return s, checkNul(name, s)
	case "a boolean", "a number":
		return string(bytes.TrimSpace(raw)), nil
	default:
		return "", terminal(CodeShapeMismatch,
			"parameter `%s` takes a single value, but the input holds %s: %s; pass a string, a number or a boolean",
			name, kind, domain.Quote(string(raw), quotedValue))
	}
}

// many gives the argument form of each element of a list.
func many(name string, raw json.RawMessage) ([]string, *Failed) {
	if kind := jsonKind(raw); kind != "an array" {
		return nil, terminal(CodeShapeMismatch,
			"parameter `%s` takes a list, but the input holds %s: %s; pass an array of strings, numbers or booleans",
			name, kind, domain.Quote(string(raw), quotedValue))
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return nil, terminal(CodeInputNotJSON, "parameter `%s` cannot be read: %v", name, err)
	}
	args := make([]string, len(elements))
	for i, e := range elements {
		arg, f := one(fmt.Sprintf("%s[%d]", name, i), e)
		if f != nil {
			return nil, f
		}
		args[i] = arg
	}
	return args, nil
}

func checkNul(name, value string) *Failed {
	for i := range len(value) {
		if value[i] == 0 {
			return terminal(CodeNulInValue,
				"the value of parameter `%s` has the character U+0000 at byte %d, which no argument can hold; remove it", name, i)
		}
	}
	return nil
}
