package domain

import (
	"bytes"
	"encoding/json"
)

// Encode writes a value as compact JSON without the escapes that only HTML needs. It fails for what has no encoding, such
// as a number that is not finite or a payload that is no JSON.
func Encode(v any) (Payload, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
