package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"aion/domain"
)

// MaxDepth bounds how deep an encoded plan nests. The compiler stays below it: an expression of 2,000 levels takes two
// brackets a level, and the 64 levels of blocks around it a handful each.
const MaxDepth = 5000

// Encode writes a plan. The same plan gives the same bytes: members in the order of their declaration, no insignificant
// space, no escapes but those that JSON needs.
func Encode(p *Plan) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if depth(text) > MaxDepth {
		return nil, invalid(fmt.Sprintf("it nests more than %d levels", MaxDepth), nil)
	}
	return text, nil
}

// Decode reads a plan that Encode wrote. A plan of another format is refused by name, and so is one with members that this
// program does not know: what is not understood must not be interpreted.
func Decode(text []byte) (*Plan, error) {
	if depth(text) > MaxDepth {
		return nil, invalid(fmt.Sprintf("it nests more than %d levels", MaxDepth), nil)
	}
	var head struct {
		Format *int `json:"plan_format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, invalid("it is not JSON of a plan", err)
	}
	if head.Format == nil {
		return nil, invalid("it has no `plan_format`", nil)
	}
	if *head.Format != Format {
		return nil, &domain.Error{
			Code: domain.CodeInvalidState, Type: "PlanFormatUnknown",
			Message: fmt.Sprintf("the plan has format %d; this version of aion reads format %d. "+
				"Run the version that wrote it, or deploy the document again.", *head.Format, Format),
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var p Plan
	if err := d.Decode(&p); err != nil {
		return nil, invalid("it is not a plan of format 1", err)
	}
	return &p, nil
}

func invalid(what string, cause error) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "PlanInvalid", Err: cause,
		Message: "the plan cannot be used: " + what + ". Deploy the document again.",
	}
}

// depth counts the open brackets of a JSON text at its deepest place.
func depth(text []byte) int {
	deepest, open, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if open++; open > deepest {
				deepest = open
			}
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}
