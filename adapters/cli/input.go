package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/schema"
)

// inputFlags are -i and --input.
type inputFlags struct {
	members []string
	whole   string
}

const maxInputFile = 4 << 20

// build makes the input object: --input first, then each -i over it, typed by the plan's inputs.
func (f inputFlags) build(p *Program, pl *plan.Plan) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	var order []string
	put := func(name string, v json.RawMessage) {
		if _, ok := members[name]; !ok {
			order = append(order, name)
		}
		members[name] = v
	}
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
		for name := range members {
			order = append(order, name)
		}
	}
	appended := map[string][]json.RawMessage{}
	for _, m := range f.members {
		member, err := parseMember(m, pl)
		if err != nil {
			return nil, err
		}
		if member.element {
			appended[member.name] = append(appended[member.name], member.value)
			member.value = joinList(appended[member.name])
		}
		put(member.name, member.value)
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":")
		b.Write(members[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (f inputFlags) wholeText(p *Program) (json.RawMessage, error) {
	text := []byte(f.whole)
	var err error
	switch {
	case f.whole == "-":
		text, err = io.ReadAll(io.LimitReader(p.In, maxInputFile))
	case strings.HasPrefix(f.whole, "@"):
		text, err = readBounded(f.whole[1:])
	}
	if err != nil {
		return nil, fileRefusal("read", f.whole, err)
	}
	if offset, detail, ok := schema.ValidateJSON(text); !ok {
		return nil, &usage{message: fmt.Sprintf("--input is not JSON: %s at byte %d", detail, offset)}
	}
	return text, nil
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, maxInputFile))
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
		if _, detail, ok := schema.ValidateJSON([]byte(text)); !ok {
			return member{}, &usage{message: fmt.Sprintf("-i %s: not JSON: %s", name, detail)}
		}
		return member{name: name, value: json.RawMessage(text)}, nil
	}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		content, err := readBounded(file)
		if err != nil {
			return member{}, fileRefusal("read", file, err)
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
		quoted, err := json.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
		return quoted, err
	case schema.Int:
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, &usage{message: fmt.Sprintf("-i %s: %q is not an integer of 64 bits", name, text)}
		}
	case schema.Bool:
		if text != "true" && text != "false" {
			return nil, &usage{message: fmt.Sprintf("-i %s: %q is neither true nor false", name, text)}
		}
	}
	if _, detail, ok := schema.ValidateJSON([]byte(text)); !ok {
		return nil, &usage{message: fmt.Sprintf("-i %s: %q does not fit its type: %s", name, text, detail)}
	}
	return json.RawMessage(text), nil
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
