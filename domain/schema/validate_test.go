package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/schema"
)

func TestValidateHoldsValuesAgainstEachKeyword(t *testing.T) {
	t.Parallel()
	cases := []struct{ schema, value, want string }{
		{`{"type":"boolean"}`, `true`, ""},
		{`{"type":"boolean"}`, `1`, "'' boolean/number"},
		{`{"type":"null"}`, `null`, ""},
		{`{"type":"null"}`, `{}`, "'' null/object"},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `12e1`, ""},
		{`{"type":"integer"}`, `-0`, ""},
		{`{"type":"integer"}`, `1.5`, "'' integer/1.5"},
		{`{"type":"integer"}`, `9223372036854775807`, ""},
		{`{"type":"integer"}`, `-9223372036854775808`, ""},
		{`{"type":"integer"}`, `9223372036854775808`, "'' integer of 64 bits/9223372036854775808"},
		{`{"type":"integer"}`, `1e999999999999999999999`, "'' integer of 64 bits/1e999999999999999999999"},
		{`{"type":"integer"}`, `1e-999999999999999999999`, "'' integer/1e-999999999999999999999"},
		{`{"type":"number"}`, `1e400`, "'' number within the range of a double/1e400"},
		{`{"type":"number"}`, `7`, ""},
		{`{"type":"string","format":"aion-dir"}`, `"x"`, ""},
		{`{"type":"string","format":"email"}`, `"no address"`, ""},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"é"`, "'' at least 2 characters/1"},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"éééé"`, "'' at most 3 characters/4"},
		{`{"type":"string","pattern":"^T-[0-9]+$"}`, `"X"`, `'' a string matching ^T-[0-9]+$/"X"`},
		{`{"type":"string","enum":["a","b"]}`, `"\u0061"`, ""},
		{`{"type":"string","enum":["a","b"]}`, `"c"`, `'' one of "a", "b"/"c"`},
		{`{"const":{"a":[1,2.0],"b":null}}`, `{"b":null,"a":[1.0,2]}`, ""},
		{`{"const":1}`, `2`, "'' 1/2"},
		{`{"minimum":1,"maximum":2}`, `0.99999999999999999999`, "'' at least 1/0.99999999999999999999"},
		{`{"minimum":1,"maximum":2}`, `2.00000000000000000001`, "'' at most 2/2.00000000000000000001"},
		{`{"exclusiveMinimum":-1,"exclusiveMaximum":1}`, `-1.0`, "'' more than -1/-1.0"},
		{`{"exclusiveMinimum":-1,"exclusiveMaximum":1}`, `1`, "'' less than 1/1"},
		{`{"multipleOf":0.1}`, `0.3`, ""},
		{`{"multipleOf":0.1}`, `0.35`, "'' a multiple of 0.1/0.35"},
		{`{"multipleOf":3}`, `1e999999999`, "'' a multiple of 3/1e999999999"},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,"x",2,null]`, "'/1' integer/string; '/3' integer/null"},
		{`{"minItems":1}`, `[]`, "'' at least 1 elements/0"},
		{`{"maxItems":1}`, `[1,2]`, "'' at most 1 elements/2"},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, "'/2' a value of its own/the same as element 0"},
		{`{"uniqueItems":false}`, `[1,1]`, ""},
		{`{"minProperties":1}`, `{}`, "'' at least 1 members/0"},
		{`{"maxProperties":0}`, `{"a":1}`, "'' at most 0 members/1"},
		{
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"b":1}`, `'/b' no member but a/number; '/a' string/absent`,
		},
		{`{"properties":{},"additionalProperties":false}`, `{"b":1}`, "'/b' no members/number"},
		{`{"additionalProperties":{"type":"integer"}}`, `{"a~/b":"x"}`, "'/a~0~1b' integer/string"},
		{`{"type":"object"}`, `{"anything":[{}]}`, ""},
		{`{"properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"string"}}}`, `{"t":1}`, "'/t' string/number"},
		{
			`{"properties":{"t":{"$ref":"#/$defs/T","maxLength":1}},"$defs":{"T":{"type":"string"}}}`, `{"t":"ab"}`,
			"'/t' at most 1 characters/2",
		},
		{
			`{"type":"object","properties":{"kid":{"$ref":"#"}},"additionalProperties":false}`, `{"kid":{"kid":{"kid":3}}}`,
			"'/kid/kid/kid' object/number",
		},
		{`{}`, `{"a":1,"a":2}`, `'' JSON/the member "a" occurs twice`},
		{`{}`, `[1,]`, "'' JSON/expected a value, found `]`"},
		{`{}`, `"\ud800"`, "'' JSON/this escape is half of a surrogate pair"},
		{`{}`, `"\ud83d\ude00"`, ""},
		{`{}`, `01`, "'' JSON/a number does not start with 0"},
		{`{}`, `1 2`, "'' JSON/expected the end, found `2`"},
		{`{}`, ``, "'' JSON/expected a value, found the end"},
		{`{}`, "\"\xff\"", "'' JSON/the text is not valid UTF-8"},
		{`{}`, "\"a\nb\"", "'' JSON/a string cannot hold the control character U+000A"},
		{`{}`, strings.Repeat("[", 513), "'' JSON/the nesting is too deep"},
	}
	for _, c := range cases {
		s, err := schema.Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		var got []string
		for _, v := range s.Validate([]byte(c.value)) {
			got = append(got, fmt.Sprintf("'%s' %s/%s", v.Pointer, v.Expected, v.Got))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s with %.60s: %s", c.schema, c.value, diff)
		}
	}
}

func TestValidateSaysInASentenceWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"object","required":["key","kind"],"additionalProperties":false,"properties":{
		"key":{"type":"string"},"kind":{"type":"string","enum":["a","b"]},"comment":{"type":"string"},"count":{"type":"integer"},
		"tags":{"type":"array","items":{"type":"string"}},"box":{"type":"object","properties":{"lid":{"type":"boolean"}}},
		"none":{"type":"object","additionalProperties":false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{"key":3,"kind":"a"}`:                      "/key: expected string, got number",
		`{"key":null,"kind":"a"}`:                   "/key: expected string, got null",
		`{"key":"k","kind":"a","comment":null}`:     "/comment: expected string, got null; leave the member out",
		`{"key":"k","kind":"a","box":{"lid":null}}`: "/box/lid: expected boolean, got null; leave the member out",
		`{"key":"k","kind":"a","tags":[null]}`:      "/tags/0: expected string, got null",
		`{"kind":"a"}`:                              "/key is missing; expected string",
		`{"key":"k"}`:                               `/kind is missing; expected one of "a", "b"`,
		`{"key":"k","kind":"a","kye":"k"}`:          "/kye is an unknown member; the members are: key, kind, comment, count, tags, box, none",
		`{"key":"k","kind":"a","none":{"x":1}}`:     "/none/x is an unknown member; there are none",
		`"{\"key\":\"k\",\"kind\":\"a\"}"`:          "the value: expected object, got string; pass the object itself, not its JSON text",
		`{"key":"k","kind":"a","tags":"[\"x\"]"}`:   "/tags: expected array, got string; pass the array itself, not its JSON text",
		`{"key":"k","kind":"a","count":"7"}`:        "/count: expected integer, got string; pass the number itself, not its JSON text",
		`{"key":"k","kind":"a","count":"seven"}`:    "/count: expected integer, got string",
		`{"key":"k","kind":"a","tags":"{}"}`:        "/tags: expected array, got string",
	} {
		var got []string
		for _, v := range s.Validate([]byte(value)) {
			got = append(got, v.Message)
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
	long := s.Validate([]byte(`{"key":"k","kind":"a","` + strings.Repeat("x", 10_000) + `":1}`))
	if len(long) != 1 || len(long[0].Message) > 400 {
		t.Errorf("the name of a member fills the message: %d violations", len(long))
	}
}

func TestValidateListsAtMostAHundredViolations(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"array","items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Validate([]byte("[" + strings.Repeat("1,", 5000) + "1]"))); n != schema.MaxViolations {
		t.Error(n)
	}
}

func TestCompileRefusesWhatItCannotEnforce(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"oneOf":[]}`, `{"properties":{"a":{"not":{}}}}`, `{"$ref":"#/$defs/A"}`, `{"$ref":"other.json"}`, `3`, `{`,
		`{"pattern":"("}`, `{"type":["string"]}`, `{"type":"text"}`, `{"minLength":1.5}`, `{"multipleOf":0}`,
		`{"$ref":"#"}`, `{"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A","minLength":1}}}`, `{"$defs":[]}`,
		`{"enum":3}`, `{"items":[]}`,
	} {
		_, err := schema.Compile([]byte(raw))
		var e *domain.Error
		if !errors.As(err, &e) || e.Type != "SchemaInvalid" {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"array","items":{"enum":["a"]},"uniqueItems":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v := s.Validate([]byte(`["a","b","a"]`)); len(v) != 2 {
				t.Error(v)
			}
		})
	}
	wg.Wait()
}

func TestValidateJSONPointsAtTheOffendingByte(t *testing.T) {
	t.Parallel()
	cases := map[string]int{`{"type": oops}`: 9, `{"a":1,}`: 7, `{"a" 1}`: 5, `[1 2]`: 3, `"x`: 0, `-`: 1, `1.`: 2, `1e`: 2, `{"a":"\x"}`: 6, `nul`: 0}
	for raw, want := range cases {
		off, detail, ok := schema.ValidateJSON([]byte(raw))
		if ok || off != want || detail == "" {
			t.Errorf("%s: %d %q %v, want %d", raw, off, detail, ok, want)
		}
	}
	if _, _, ok := schema.ValidateJSON([]byte(` {"a":[1,-2.5e+3,"\u00e9",true,false,null,{}]} `)); !ok {
		t.Error("refused")
	}
}

func FuzzValidate(f *testing.F) {
	for _, s := range [][2]string{
		{`{"type":"array","items":{"type":"integer","multipleOf":0.5},"uniqueItems":true}`, `[1,1.0,2.5e3]`},
		{`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"],"additionalProperties":false}`, `{"a":{"b":1}}`},
		{`{"type":"string","pattern":"^a+$","maxLength":3}`, `"\u0061aaa"`},
		{`{"enum":["a",1,{"b":null}]}`, `{"b":null}`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		s, err := schema.Compile(raw)
		if err != nil {
			return
		}
		found := s.Validate(value)
		if len(found) > schema.MaxViolations {
			t.Fatal(len(found))
		}
		for _, v := range found {
			if v.Pointer != "" && v.Pointer[0] != '/' || v.Message == "" {
				t.Fatalf("%+v", v)
			}
		}
	})
}
