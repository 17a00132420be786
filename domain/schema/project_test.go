package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/schema"
)

func TestProjectGivesTheTypeOfASharedSchema(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "awl", "testdata", "valid", "schemas", "ticket.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, problems := schema.Project(raw)
	if len(problems) != 0 {
		t.Fatalf("problems: %v", problems)
	}
	str := &schema.Type{Kind: schema.String}
	opt := func(e *schema.Type) *schema.Type { return &schema.Type{Kind: schema.Optional, Elem: e} }
	want := &schema.Type{Kind: schema.Record, Doc: "One incoming ticket.", Raw: raw, Fields: []schema.Field{
		{Name: "id", Type: str},
		{Name: "kind", Type: &schema.Type{Kind: schema.Enum, Variants: []string{"incident", "question", "spam"}}},
		{Name: "labels", Type: &schema.Type{Kind: schema.List, Elem: str}},
		{Name: "assignee", Type: opt(&schema.Type{Kind: schema.Record, Name: "Person", Fields: []schema.Field{
			{Name: "name", Type: str}, {Name: "email", Type: opt(str)},
		}})},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProjectReadsEachForm(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`{"properties":{"a":{"type":"boolean"}},"required":["a"]}`: "{a: Bool}",
		`{"type":"object"}`:      "{}",
		`{"enum":["A","B","A"]}`: "A|B",
		`{"type":"object","properties":{"d":{"type":"string","format":"aion-dir"}}}`:                         "{d: Dir?}",
		`{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"}}}`:                      "{n: Float?, i: Int?}",
		`{"type":"object","properties":{"x":{"items":{"type":"string"},"$comment":"why"}}}`:                  "{x: [String]?}",
		`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"enum":["x"]}}}`:                         "x",
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/q%20~1r"}},"$defs":{"q /r":{"type":"string"}}}`: "{a: String?}",
		`{"type":"object","additionalProperties":{"minLength":1},"x-note":{"oneOf":[]}}`:                     "{}",
	}
	for raw, want := range cases {
		got, problems := schema.Project([]byte(raw))
		if len(problems) != 0 {
			t.Errorf("%s: %v", raw, problems)
		}
		if s := spell(got, 0); s != want {
			t.Errorf("%s: %s, want %s", raw, s, want)
		}
		if _, err := schema.Compile([]byte(raw)); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestProjectTiesARecursiveTypeToItself(t *testing.T) {
	t.Parallel()
	got, problems := schema.Project([]byte(`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","required":["kids"],` +
		`"properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	kid := got.Fields[0].Type.Elem
	if kid.Fields[0].Type.Elem != kid {
		t.Error("the inner reference does not lead back")
	}
}

func TestProjectNamesWhatItCannotType(t *testing.T) {
	t.Parallel()
	cases := []struct{ raw, want string }{
		{`{"type": oops}`, "AWL7001 9 '' detail=expected a value, found `o`"},
		{`{"type":"object"`, "AWL7001 16 '' detail=expected `,` or `}`, found the end"},
		{`{"type":"object","type":"object"}`, `AWL7001 17 '' detail=the member "type" occurs twice`},
		{`{"properties":{"id":{"oneOf":[{"type":"string"}]}}}`, "AWL7005 21 '/properties/id/oneOf' keyword=oneOf"},
		{`{"properties":{"id":{"type":"null"}}}`, "AWL7006 21 '/properties/id/type'"},
		{`{"properties":{"id":{"type":["string","null"]}}}`, "AWL7006 21 '/properties/id/type'"},
		{`{"properties":{"id":{"enum":["a",null]}}}`, "AWL7006 21 '/properties/id/enum'"},
		{`{"properties":{"id":{"type":["string"]}}}`, "AWL7008 21 '/properties/id/type' what=`type` names several types; a value has one"},
		{`{"properties":{"id":{"$ref":"https://x.invalid/y"}}}`, "AWL7007 21 '/properties/id/$ref' ref=https://x.invalid/y"},
		{`{"properties":{"id":{"$ref":"#/$defs/Gone"}}}`, "AWL7007 21 '/properties/id/$ref' ref=#/$defs/Gone"},
		{`{"properties":{"id":{"$ref":"#"}}}`, "AWL7007 21 '/properties/id/$ref' ref=#"},
		{`{"properties":{"id":{"minLength":1}}}`, "AWL7008 20 '/properties/id' what=the schema has no `type`, and nothing to infer one from"},
		{`{"properties":{"id":true}}`, "AWL7008 15 '/properties/id' what=a schema is a JSON object, found boolean"},
		{`{"properties":{"id":{"type":"array"}}}`, "AWL7008 20 '/properties/id' what=an array schema needs `items`"},
		{`{"properties":{"id":{"enum":[1]}}}`, "AWL7008 21 '/properties/id/enum' what=`enum` is a list of strings"},
		{`{"required":["x"],"type":"object"}`, "AWL7009 1 '/required' name=x"},
		{`{"type":"string"}`, "AWL7008 1 '/type' what=the root of a schema is an object or an enum of strings"},
		{`[]`, "AWL7008 0 '' what=a schema is a JSON object, found array"},
		{
			`{"type":"object","properties":{"s":{"type":"string","pattern":"(?=x)"}}}`,
			"AWL7008 52 '/properties/s/pattern' what=`pattern` holds \"(?=x)\", which is not a regular expression of the RE2 syntax",
		},
		{`{"type":"object","minProperties":-1}`, "AWL7008 17 '/minProperties' what=`minProperties` needs a whole number from 0"},
		{`{"type":"object","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, "AWL7007 31 '/$defs/A/$ref' ref=#/$defs/B"},
		{`{"type":"object","$defs":{"A":{"anyOf":[]}}}`, "AWL7005 31 '/$defs/A/anyOf' keyword=anyOf"},
		{strings.Repeat(`{"items":`, 65), "AWL7010 576 '' what=nesting limit=64"},
		{`{"title":"` + strings.Repeat("x", 1<<18) + `"}`, "AWL7010 0 '' what=size limit=262144 bytes"},
	}
	for _, c := range cases {
		_, problems := schema.Project([]byte(c.raw))
		if len(problems) != 1 {
			t.Errorf("%.80s: %v", c.raw, problems)
			continue
		}
		p := problems[0]
		got := fmt.Sprintf("%s %d '%s'", p.Code, p.Offset, p.Pointer)
		for i := 0; i < len(p.Pairs); i += 2 {
			got += " " + p.Pairs[i] + "=" + p.Pairs[i+1]
		}
		if got != c.want {
			t.Errorf("%.80s:\n got %s\nwant %s", c.raw, got, c.want)
		}
	}
}

func TestProjectReportsEverythingInOnePass(t *testing.T) {
	t.Parallel()
	_, problems := schema.Project([]byte(`{"allOf":[],"properties":{"a":{"not":{}},"b":{"type":"null"}},"required":["c"]}`))
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	if diff := cmp.Diff([]string{"AWL7005", "AWL7005", "AWL7006", "AWL7009"}, codes); diff != "" {
		t.Error(diff)
	}
}

// A chain of definitions that each use the next one twice describes 2^n values in n lines.
func TestProjectIsLinearInHostileSchemas(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
	const n = 2500
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	got, problems := schema.Project([]byte(b.String()))
	if len(problems) != 0 || got.Kind != schema.Record {
		t.Fatalf("%v %v", got.Kind, problems)
	}
	if _, err := schema.Compile([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	got.Name = "X"
	holder := &schema.Type{Kind: schema.List, Elem: got}
	if s := schema.Of(holder); len(s) > 2*b.Len() {
		t.Errorf("the derived schema has %d bytes, from %d", len(s), b.Len())
	}
}

func FuzzProject(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"enum":["x"]}}}`,
		`{"items":{"type":"integer"}}`, `{"type":["string","null"]}`, `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		`{"additionalProperties":{"$ref":"#/$defs/A"},"type":"object","$defs":{"A":{"type":"object","additionalProperties":false}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		typ, problems := schema.Project(raw)
		for _, p := range problems {
			if p.Offset < 0 || p.Offset > len(raw) {
				t.Fatalf("offset %d of %d", p.Offset, len(raw))
			}
		}
		if len(problems) > 0 {
			return
		}
		// What has a type can be enforced, derived and embedded.
		if _, err := schema.Compile(raw); err != nil {
			t.Fatalf("projected but not compiled: %v", err)
		}
		typ.Name = "X"
		for _, text := range [][]byte{schema.Of(typ), schema.Of(&schema.Type{Kind: schema.List, Elem: typ})} {
			if _, err := schema.Compile(text); err != nil {
				t.Fatalf("derived %s: %v", text, err)
			}
		}
	})
}

// spell writes a type down; deep types end in an ellipsis.
func spell(t *schema.Type, deep int) string {
	if deep > 8 {
		return "…"
	}
	switch t.Kind {
	case schema.Bool:
		return "Bool"
	case schema.Int:
		return "Int"
	case schema.Float:
		return "Float"
	case schema.String:
		return "String"
	case schema.Dir:
		return "Dir"
	case schema.Nil:
		return "Nil"
	case schema.List:
		return "[" + spell(t.Elem, deep+1) + "]"
	case schema.Optional:
		return spell(t.Elem, deep+1) + "?"
	case schema.Enum:
		return strings.Join(t.Variants, "|")
	case schema.Record:
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, f.Name+": "+spell(f.Type, deep+1))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case schema.Unknown:
	}
	return "?"
}
