package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/schema"
)

// inputFlags are -i and --input.
type inputFlags struct {
	members []string
	whole   string
}

const maxInput = 4 << 20 // bytes

// build makes the input object: --input first, then each -i over it, typed by the plan's inputs.
func (f inputFlags) build(p *Program, pl *plan.Plan) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if f.whole != "" {
		text, err := f.wholeText(p)
		if err != nil {
			return nil, err
		}
		if len(f.members) == 0 {
			return text, nil
		}
		if err := json.Unmarshal(text, &members); err != nil || members == nil {
			return nil, &usage{message: "--input is not a JSON object, so -i cannot add to it"}
		}
	}
	given, appended := map[string]bool{}, map[string][]json.RawMessage{}
	for _, m := range f.members {
		member, err := parseMember(m, pl)
		if err != nil {
			return nil, err
		}
		if given[member.name] && (!member.element || appended[member.name] == nil) {
			return nil, &usage{message: fmt.Sprintf("-i %s is given twice; only elements of a list are", member.name)}
		}
		given[member.name] = true
		if member.element {
			appended[member.name] = append(appended[member.name], member.value)
			member.value = joinList(appended[member.name])
		}
		members[member.name] = member.value
	}
	var b bytes.Buffer
	err := printJSON(&b, members)
	return bytes.TrimSpace(b.Bytes()), err
}

func (f inputFlags) wholeText(p *Program) (json.RawMessage, error) {
	text := []byte(f.whole)
	var err error
	switch {
	case f.whole == "-":
		text, err = readBounded(p.In, "standard input", "an input", maxInput)
	case strings.HasPrefix(f.whole, "@"):
		text, err = readFile(f.whole[1:], "an input", maxInput)
	}
	if err != nil {
		return nil, err
	}
	if offset, detail, ok := schema.ValidateJSON(text); !ok {
		return nil, &usage{message: fmt.Sprintf("--input is not JSON: %s at byte %d", detail, offset)}
	}
	return text, nil
}

// member is one -i; element says that the value is one element of a list input.
type member struct {
	name    string
	value   json.RawMessage
	element bool
}

// parseMember reads `key=value`, `key:=JSON` or `key=@FILE`.
func parseMember(m string, pl *plan.Plan) (member, error) {
	name, text, ok := strings.Cut(m, "=")
	if !ok {
		return member{}, &usage{message: fmt.Sprintf("-i %s: write -i name=value", m)}
	}
	name, forced := strings.CutSuffix(name, ":")
	typ, err := inputType(pl, name)
	if err != nil {
		return member{}, err
	}
	if forced {
		if offset, detail, ok := schema.ValidateJSON([]byte(text)); !ok {
			return member{}, &usage{message: fmt.Sprintf("-i %s is not JSON: %s at byte %d", name, detail, offset)}
		}
		return member{name: name, value: json.RawMessage(text)}, nil
	}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		content, err := readFile(file, "an input", maxInput)
		if err != nil {
			return member{}, err
		}
		text = string(content)
	}
	if typ.Kind == schema.List && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		value, err := typed(name, text, unwrap(typ.Elem))
		return member{name: name, value: value, element: true}, err
	}
	value, err := typed(name, text, typ)
	return member{name: name, value: value}, err
}

// inputType finds the declared type of an input; optionals count as their value's type.
func inputType(pl *plan.Plan, name string) (*schema.Type, error) {
	root, problems := schema.Project(pl.InputSchema)
	if len(problems) > 0 || root == nil {
		return &schema.Type{Kind: schema.Unknown}, nil
	}
	var names []string
	for _, field := range root.Fields {
		if field.Name == name {
			return unwrap(field.Type), nil
		}
		names = append(names, field.Name)
	}
	wrong := &usage{message: fmt.Sprintf("workflow %s has no input %q", pl.WorkflowType, name), hint: "its inputs are: " + strings.Join(names, ", ")}
	if near := diag.Closest(name, names); near != "" {
		wrong.hint = "did you mean " + near + "?"
	}
	if len(names) == 0 {
		wrong.hint = "it takes no input"
	}
	return nil, wrong
}

func unwrap(t *schema.Type) *schema.Type {
	if t != nil && t.Kind == schema.Optional {
		return t.Elem
	}
	return t
}

// typed turns the text of one value into JSON: text as it is, numbers and booleans parsed, everything else as JSON.
func typed(name, text string, t *schema.Type) (json.RawMessage, error) {
	switch t.Kind { //nolint:exhaustive // every other kind is written as JSON
	case schema.String, schema.Dir, schema.Enum:
		if !utf8.ValidString(text) {
			return nil, &usage{message: fmt.Sprintf("-i %s is not valid UTF-8 at byte %d", name, validBytes(text))}
		}
		return json.Marshal(text)
	case schema.Int:
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, &usage{message: fmt.Sprintf("-i %s: %q is not an integer of 64 bits", name, cut(text, 64))}
		}
	case schema.Bool:
		if text != "true" && text != "false" {
			return nil, &usage{message: fmt.Sprintf("-i %s: %q is neither true nor false", name, cut(text, 64))}
		}
	}
	if _, detail, ok := schema.ValidateJSON([]byte(text)); !ok {
		return nil, &usage{message: fmt.Sprintf("-i %s: %q does not fit its type: %s", name, cut(text, 64), detail)}
	}
	return json.RawMessage(text), nil
}

// validBytes is the offset of the first byte that is no UTF-8.
func validBytes(text string) int {
	rest := text
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			break
		}
		rest = rest[size:]
	}
	return len(text) - len(rest)
}

func joinList(items []json.RawMessage) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(rawBytes(items), []byte{','})...), ']')
}

func rawBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i := range items {
		out[i] = items[i]
	}
	return out
}
