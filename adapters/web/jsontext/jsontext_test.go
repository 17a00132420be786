package jsontext_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

func TestCheckNamesTheFault(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]jsontext.Fault{
		`{}`: 0, ` [1, -0.5e+3, "ä\u00e4", true, false, null] `: 0, `0`: 0, `""`: 0, deep(512): 0,
		``: jsontext.Malformed, ` `: jsontext.Malformed, `{`: jsontext.Malformed, `{"a"}`: jsontext.Malformed,
		`{"a":1,}`: jsontext.Malformed, `[1,]`: jsontext.Malformed, `01`: jsontext.Malformed, `1.`: jsontext.Malformed,
		`1e`: jsontext.Malformed, `+1`: jsontext.Malformed, `NaN`: jsontext.Malformed, `"\x"`: jsontext.Malformed,
		`"\u12g4"`: jsontext.Malformed, "\"\x01\"": jsontext.Malformed, `"a`: jsontext.Malformed, `{} {}`: jsontext.Malformed,
		"\"\xff\"": jsontext.Malformed, "\xef\xbb\xbf{}": jsontext.Malformed, `truE`: jsontext.Malformed, `{1:2}`: jsontext.Malformed,
		deep(513): jsontext.TooDeep, strings.Repeat("[", 100000): jsontext.TooDeep,
		`{"a":1,"a":2}`: jsontext.Repeated, `{"a":1,"\u0061":2}`: jsontext.Repeated, `[{"x":{"a":[],"b":{},"a":0}}]`: jsontext.Repeated,
		`{"a":{"b":1},"b":2}`: 0,
	} {
		var fault jsontext.Fault
		var e *jsontext.Error
		if err := jsontext.Check([]byte(text), 512); errors.As(err, &e) {
			fault = e.Fault
		}
		if fault != want {
			t.Errorf("%.60s: fault %d, want %d", text, fault, want)
		}
	}
}

func TestCheckFindsARepeatedNameAmongMany(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100 {
		b.WriteString(`"k` + strings.Repeat("x", i) + `":0,`)
	}
	if err := jsontext.Check([]byte(`{`+b.String()+`"z":0}`), 4); err != nil {
		t.Errorf("distinct names: %v", err)
	}
	if err := jsontext.Check([]byte(`{`+b.String()+`"kxx":0}`), 4); err == nil {
		t.Error("a name repeated after 100 others was not found")
	}
}

func TestMembersKeepOrderAndBytes(t *testing.T) {
	t.Parallel()
	got, ok := jsontext.Members([]byte(` { "a" : 1.0 , "\u0062":{"c":"}"} ,"d":[ ] ,"e":"x,\"}" , "f":null} `))
	if !ok {
		t.Fatal("an object was not split")
	}
	want := []jsontext.Member{
		{Name: "a", Value: []byte("1.0")},
		{Name: "b", Value: []byte(`{"c":"}"}`)},
		{Name: "d", Value: []byte("[ ]")},
		{Name: "e", Value: []byte(`"x,\"}"`)},
		{Name: "f", Value: []byte("null")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := jsontext.Members([]byte(`[]`)); ok {
		t.Error("an array was split into members")
	}
}

func TestIntegerReadsEverySpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "3": 3, "3.0": 3, "30e-1": 3, "0.3e1": 3, "-12E2": -1200, "9007199254740991": 9007199254740991,
		"1e400": math.MaxInt64, "-1e99999999999999999999": math.MinInt64, "0e99999999999999999999": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9223372036854775808": math.MaxInt64,
	} {
		if got, ok := jsontext.Integer([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"1.5", "1e-1", "1e-99999999999999999999", `"1"`, "null", "", "[]"} {
		if got, ok := jsontext.Integer([]byte(text)); ok {
			t.Errorf("%s was read as %d", text, got)
		}
	}
}

func TestTextSurvivesTheRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		token := domain.AppendText(nil, s)
		if err := jsontext.Check(token, 1); err != nil {
			t.Fatal(err)
		}
		if got, ok := jsontext.Text(token); !ok || got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// FuzzCheck holds Check against the standard library, which admits repeated names and repairs UTF-8 but has the same
// grammar, and Members against Check.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{}}}`, `[1,2,{"a":"\ud800"}]`, `{"a":1,"a":2}`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := jsontext.Check(text, 64)
		var e *jsontext.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("error of another type: %v", err)
		}
		if err == nil && !json.Valid(text) {
			t.Fatalf("accepted %q", text)
		}
		if err != nil {
			return
		}
		if members, ok := jsontext.Members(text); ok {
			var reference map[string]json.RawMessage
			if err := json.Unmarshal(text, &reference); err != nil || len(reference) != len(members) {
				t.Fatalf("%q has %d members, split into %d", text, len(reference), len(members))
			}
		}
		if elements, ok := jsontext.Elements(text); ok {
			var reference []json.RawMessage
			if err := json.Unmarshal(text, &reference); err != nil || len(reference) != len(elements) {
				t.Fatalf("%q has %d elements, split into %d", text, len(reference), len(elements))
			}
		}
	})
}
