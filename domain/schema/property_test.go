package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"aion/domain/schema"
)

// typeGen draws a type; records and enums are declared, so that derived schemas refer to them.
func typeGen(depth int, n *int) *rapid.Generator[*schema.Type] {
	return rapid.Custom(func(t *rapid.T) *schema.Type {
		kinds := []schema.Kind{schema.Bool, schema.Int, schema.Float, schema.String, schema.Dir, schema.Enum}
		if depth > 0 {
			kinds = append(kinds, schema.List, schema.Record, schema.Record)
		}
		typ := &schema.Type{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch typ.Kind {
		case schema.List:
			typ.Elem = typeGen(depth-1, n).Draw(t, "elem")
		case schema.Enum:
			*n++
			typ.Name, typ.Variants = fmt.Sprintf("E%d", *n), []string{"A", "B"}
		case schema.Record:
			*n++
			typ.Name = fmt.Sprintf("R%d", *n)
			for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
				f := schema.Field{Name: fmt.Sprintf("f%d", i), Type: typeGen(depth-1, n).Draw(t, "field")}
				if rapid.Bool().Draw(t, "optional") {
					f.Type = &schema.Type{Kind: schema.Optional, Elem: f.Type}
				}
				typ.Fields = append(typ.Fields, f)
			}
		case schema.Unknown, schema.Bool, schema.Int, schema.Float, schema.String, schema.Dir, schema.Nil, schema.Optional:
		}
		return typ
	})
}

// valueOf draws a value of the type.
func valueOf(t *rapid.T, typ *schema.Type) any {
	switch typ.Kind {
	case schema.Bool:
		return rapid.Bool().Draw(t, "bool")
	case schema.Int:
		return rapid.Int64().Draw(t, "int")
	case schema.Float:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
	case schema.String, schema.Dir:
		return rapid.String().Draw(t, "string")
	case schema.Enum:
		return rapid.SampledFrom(typ.Variants).Draw(t, "variant")
	case schema.List:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, valueOf(t, typ.Elem))
		}
		return list
	case schema.Record:
		m := map[string]any{}
		for _, f := range typ.Fields {
			if f.Type.Kind == schema.Optional {
				if rapid.Bool().Draw(t, "present") {
					m[f.Name] = valueOf(t, f.Type.Elem)
				}
				continue
			}
			m[f.Name] = valueOf(t, f.Type)
		}
		return m
	case schema.Unknown, schema.Nil, schema.Optional:
	}
	return nil
}

func TestADerivedSchemaAcceptsExactlyTheValuesOfItsType(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		typ := &schema.Type{Kind: schema.Record, Name: "Root"}
		typ.Fields = []schema.Field{{Name: "x", Type: typeGen(3, &n).Draw(t, "type")}}
		s, err := schema.Compile(schema.Of(typ))
		if err != nil {
			t.Fatal(err)
		}
		value := valueOf(t, typ)
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Validate(text); v != nil {
			t.Fatalf("%s refuses %s: %v", schema.Of(typ), text, v)
		}
		wrong, pointer := spoil(t, value, typ, "")
		text, err = json.Marshal(wrong)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Validate(text); len(v) != 1 || v[0].Pointer != pointer {
			t.Fatalf("%s with %s: %v, want one at %s", schema.Of(typ), text, v, pointer)
		}
	})
}

// spoil makes one place of a value unfit, and names it.
func spoil(t *rapid.T, v any, typ *schema.Type, at string) (any, string) {
	switch val := v.(type) {
	case map[string]any:
		if len(typ.Fields) == 0 || rapid.IntRange(0, 3).Draw(t, "here") == 0 {
			return spoilRecord(t, val, typ, at)
		}
		f := rapid.SampledFrom(typ.Fields).Draw(t, "at")
		inner := f.Type
		if inner.Kind == schema.Optional {
			inner = inner.Elem
		}
		if _, ok := val[f.Name]; !ok {
			val[f.Name] = nil
			return val, at + "/" + f.Name
		}
		var p string
		val[f.Name], p = spoil(t, val[f.Name], inner, at+"/"+f.Name)
		return val, p
	case []any:
		if len(val) > 0 {
			i := rapid.IntRange(0, len(val)-1).Draw(t, "index")
			var p string
			val[i], p = spoil(t, val[i], typ.Elem, fmt.Sprintf("%s/%d", at, i))
			return val, p
		}
	case int64:
		return json.Number("0.5"), at
	}
	return nil, at
}

func spoilRecord(t *rapid.T, val map[string]any, typ *schema.Type, at string) (any, string) {
	for _, f := range typ.Fields {
		if f.Type.Kind != schema.Optional && rapid.Bool().Draw(t, "drop") {
			delete(val, f.Name)
			return val, at + "/" + f.Name
		}
	}
	val["extra"] = 1
	return val, at + "/extra"
}
