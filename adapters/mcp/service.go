package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"aion/adapters/web/jsontext"
	"aion/domain"
	"aion/domain/access"
)

// Service runs the tools of a catalogue. It is safe for concurrent use.
type Service interface {
	// Call runs one tool whose arguments fit its input schema. A *domain.Error is the refusal that the caller reads; any
	// other error is a defect that only the log explains. The context ends when the client leaves or the time is over.
	Call(ctx context.Context, call Call) (Result, error)
}

// Call is one use of a tool.
type Call struct {
	Tool      string
	Caller    access.Caller
	Arguments Arguments
	// Progress reports done of total steps; calls that do not rise are dropped. It is never nil.
	Progress func(done, total int)
}

// Result is the success of a call: a value that encodes to a JSON object of the tool's output schema, or plain text for a
// tool that has none. A value that cannot be encoded is a defect.
type Result struct {
	Value any
	Text  string // only when Value is nil
}

// Arguments are the validated arguments of a call by name; defaults are not filled in.
type Arguments map[string]json.RawMessage

// ArgumentsOf takes the object of validated arguments apart.
func ArgumentsOf(object []byte) Arguments { return split(object) }

// Has reports whether an argument was given.
func (a Arguments) Has(name string) bool { return a[name] != nil }

// Text is a string argument; empty when it is absent.
func (a Arguments) Text(name string) string {
	text, _ := jsontext.Text(a[name])
	return text
}

// Int is an integer argument in any spelling; 0 when it is absent.
func (a Arguments) Int(name string) int64 {
	n, _ := jsontext.Integer(a[name])
	return n
}

// True reports whether a boolean argument is given and true.
func (a Arguments) True(name string) bool { return string(bytes.TrimSpace(a[name])) == "true" }

// Time is a date-time argument; the zero time when it is absent.
func (a Arguments) Time(name string) time.Time {
	at, err := time.Parse(time.RFC3339, string(bytes.ToUpper([]byte(a.Text(name)))))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// Encode writes a value as results are written: compact JSON without the escapes that only HTML needs.
func Encode(value any) (json.RawMessage, error) {
	text, err := domain.Encode(value)
	return text, err
}

// compact drops the white space of checked JSON text.
func compact(text []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text // cannot be: the text was checked
	}
	return out.Bytes()
}
