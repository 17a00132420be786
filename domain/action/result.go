package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"aion/domain"
)

// record is the result of capture `outcome`; the member order is part of the contract (actions 3.3).
type record struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// Result makes the result of a body whose last process exited 0 (actions 2.4, 3.2, 3.3). With isNil, the declared result
// is Nil: it is `null` whatever was printed. maxResult bounds the encoded bytes, 0: unbounded; text that would pass it is cut
// further, lines and JSON are refused. Whether JSON fits the declared type is decided by the caller.
func Result(c Capture, isNil bool, stdout, stderr *Output, maxResult int) (json.RawMessage, *Failed) {
	if isNil {
		return json.RawMessage("null"), nil
	}
	switch c {
	case CaptureLines:
		return linesResult(stdout, maxResult)
	case CaptureJSON:
		return jsonResult(stdout, maxResult)
	case CaptureText:
		return shrink(maxResult, func(by int) any { return stdout.Text("stdout", stdout.limit/by) })
	case CaptureOutcome:
		return shrink(maxResult, func(by int) any {
			return record{Stdout: stdout.Text("stdout", stdout.limit/by), Stderr: stderr.Text("stderr", stderr.limit/by)}
		})
	default:
		return nil, terminal(CodeBodyUnparsable, "the body has the unknown capture %q; deploy the document again", string(c))
	}
}

// shrink encodes what is kept under limits divided by 1, 2, 4, … until it fits.
func shrink(maxResult int, at func(by int) any) (json.RawMessage, *Failed) {
	var raw json.RawMessage
	for by := 1; by <= 1<<24; by *= 2 {
		raw = encode(at(by))
		if maxResult <= 0 || len(raw) <= maxResult {
			return raw, nil
		}
	}
	return nil, tooLarge("result", int64(len(raw)), maxResult)
}

func linesResult(stdout *Output, maxResult int) (json.RawMessage, *Failed) {
	if stdout.Cut() {
		return nil, tooLarge("standard output", stdout.Total(), stdout.limit)
	}
	lines := []string{}
	if text := stdout.Text("stdout", stdout.limit); text != "" {
		lines = strings.Split(text, "\n")
	}
	return fitting(encode(lines), maxResult)
}

func jsonResult(stdout *Output, maxResult int) (json.RawMessage, *Failed) {
	if stdout.Cut() {
		return nil, tooLarge("standard output", stdout.Total(), stdout.limit)
	}
	raw := append(append([]byte{}, stdout.head...), stdout.last()...)
	var value json.RawMessage
	// With a line break, so that a literal that is cut off is wrong there and not at its last byte.
	if err := json.Unmarshal(append(raw, '\n'), &value); err != nil {
		return nil, notJSON(raw, err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(Repair(raw))); err != nil {
		return nil, notJSON(raw, err)
	}
	return fitting(b.Bytes(), maxResult)
}

func fitting(raw json.RawMessage, maxResult int) (json.RawMessage, *Failed) {
	if maxResult > 0 && len(raw) > maxResult {
		return nil, tooLarge("result", int64(len(raw)), maxResult)
	}
	return raw, nil
}

func tooLarge(what string, have int64, limit int) *Failed {
	return terminal(CodeOutputTooLarge, "the %s has %d bytes, and at most %d are taken; print less, or write it to a file "+
		"and print its path", what, have, limit)
}

// notJSON names the byte offset of what is no JSON.
func notJSON(raw []byte, err error) *Failed {
	if len(bytes.TrimSpace(raw)) == 0 {
		return terminal(CodeOutputNotJSON, "standard output is empty, at byte offset 0: capture `json` needs one JSON value")
	}
	offset := int64(len(raw))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && !strings.Contains(syntax.Error(), "unexpected end") {
		offset = max(syntax.Offset-1, 0)
	}
	return terminal(CodeOutputNotJSON, "standard output is not one JSON value: %v, at byte offset %d", err, offset)
}

// encode writes JSON without HTML escaping; its arguments always have an encoding.
func encode(v any) json.RawMessage {
	text, err := domain.Encode(v)
	if err != nil {
		panic("action: a result without an encoding: " + err.Error())
	}
	return text
}
