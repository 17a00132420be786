package schema_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"aion/domain/schema"
)

func TestMisfitNamesThePlace(t *testing.T) {
	t.Parallel()
	of := func(k schema.Kind) *schema.Type { return &schema.Type{Kind: k} }
	text, number, float := of(schema.String), of(schema.Int), of(schema.Float)
	opt := func(e *schema.Type) *schema.Type { return &schema.Type{Kind: schema.Optional, Elem: e} }
	list := func(e *schema.Type) *schema.Type { return &schema.Type{Kind: schema.List, Elem: e} }
	enum := func(v ...string) *schema.Type { return &schema.Type{Kind: schema.Enum, Variants: v} }
	rec := func(fields ...schema.Field) *schema.Type { return &schema.Type{Kind: schema.Record, Fields: fields} }
	field := func(name string, t *schema.Type) schema.Field { return schema.Field{Name: name, Type: t} }
	tree := func(leaf *schema.Type) *schema.Type {
		r := rec(field("leaf", leaf))
		r.Fields = append(r.Fields, field("next", opt(r)))
		return r
	}
	for _, c := range []struct {
		what     string
		from, to *schema.Type
		want     string
	}{
		{"the same", rec(field("a", text)), rec(field("a", text)), ""},
		{"an integer is a number", number, float, ""},
		{"a number is no integer", rec(field("a", list(float))), rec(field("a", list(number))), "`a[]`: Float where Int is expected"},
		{"a variant is a text", enum("x"), text, ""},
		{"a text is no variant", text, enum("x"), "String where an enum is expected"},
		{"fewer variants", enum("x"), enum("y", "x"), ""},
		{"more variants", enum("x", "z"), enum("y", "x"), `"z" is no value that is expected`},
		{"a member too few", rec(), rec(field("a", text)), "`a` is missing"},
		{"a member that may be missing", rec(), rec(field("a", opt(text))), ""},
		{"a member too many", rec(field("b", text)), rec(), "`b` is not expected"},
		{"maybe absent where it is needed", rec(field("a", opt(text))), rec(field("a", text)), "`a`: String? where String is expected"},
		{"maybe absent on both sides", rec(field("a", opt(text))), rec(field("a", opt(text))), ""},
		{"deep", rec(field("a", rec(field("b", text)))), rec(field("a", rec(field("b", number)))), "`a.b`: String where Int is expected"},
		{"recursive", tree(text), tree(text), ""},
		{"recursive, another leaf", tree(text), tree(number), "`leaf`: String where Int is expected"},
		{"unknown", of(schema.Unknown), number, ""},
	} {
		if got := schema.Misfit(c.from, c.to); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// What has no misfit is accepted: every value of the one type, by the schema of the other.
func TestWhatFitsIsAcceptedByTheOtherSchema(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		from, to := typeGen(2, &n).Draw(t, "from"), typeGen(2, &n).Draw(t, "to")
		if rapid.Bool().Draw(t, "same") {
			var ok bool
			if to, ok = schema.TypeOf(schema.Of(from)); !ok {
				t.Fatalf("no type: %s", schema.Of(from))
			}
			if wrong := schema.Misfit(from, to); wrong != "" {
				t.Fatalf("a type does not fit its own schema: %s\n%s", wrong, schema.Of(from))
			}
		}
		if schema.Misfit(from, to) != "" {
			return
		}
		text, err := json.Marshal(valueOf(t, from))
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Compile(schema.Of(to))
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Validate(text); v != nil {
			t.Fatalf("%s refuses %s: %v", schema.Of(to), text, v)
		}
	})
}
