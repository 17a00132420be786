package httpapi_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"aion/adapters/httpapi"
	"aion/domain"
)

// Whatever comes is read whole or refused: what is accepted is JSON whose numbers a program can keep.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `{"a":9223372036854775807,"b":-9223372036854775808}`, `{"a":9223372036854775808}`, `{"a":1e308}`, `{"a":1e309}`, `{"a":"\u0000"}`,
		`{"a":{"\u0000":1}}`, `{"a":{"\\u0000":1}}`, `{"a":[1,[2]],"a":1}`, `{"a":-}`, `{}`, "{\"a\"\t: \"x\\\"\"}", `{"b":{"c" : -0.0}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := httpapi.ReadBody(text, "a?", "b?")
		var refusal *domain.Error
		if err != nil && (!errors.As(err, &refusal) || refusal.Code != domain.CodeInvalidInput || refusal.Message == "") {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		var members map[string]any
		if fault := json.Unmarshal(text, &members); fault != nil {
			t.Fatalf("%q was accepted: %v", text, fault)
		}
		kept(members)
		if strings.Contains(names(members), "\x00") {
			t.Fatalf("%q has a name with NUL", text)
		}
	})
}

// kept panics for a number that no double holds.
func kept(v any) {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			panic("not finite")
		}
	case map[string]any:
		for _, inner := range v {
			kept(inner)
		}
	case []any:
		for _, inner := range v {
			kept(inner)
		}
	}
}

func names(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			b.WriteString(name + names(inner))
		}
	case []any:
		for _, inner := range v {
			b.WriteString(names(inner))
		}
	}
	return b.String()
}

// report 51: what is left of a text has no control character but tabs and line breaks, and clean text stays as it is.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"a\tb\n", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07x", "\x1b", "\x1b[", "\x9b31mx", "\x1bP\x1b", "\x1b(Bx", "\u009b1mx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := httpapi.Plain(text)
		for _, r := range got {
			if r != '\t' && r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
				t.Fatalf("%q keeps %q", text, r)
			}
		}
		if again := httpapi.Plain(got); again != got {
			t.Fatalf("%q became %q, then %q", text, got, again)
		}
	})
}
