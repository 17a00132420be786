package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/schema"
)

func TestOfWritesEachTypeAsTheTableSays(t *testing.T) {
	t.Parallel()
	severity := &schema.Type{Kind: schema.Enum, Name: "Severity", Doc: "How bad.", Variants: []string{"Major", "Minor"}}
	tree := &schema.Type{Kind: schema.Record, Name: "Tree"}
	tree.Fields = []schema.Field{{Name: "kids", Type: &schema.Type{Kind: schema.List, Elem: tree}}}
	ticket, problems := schema.Project([]byte(`{"$schema":"x","$id":"y","type":"object","required":["who"],` +
		`"properties":{"who":{"$ref":"#/$defs/Person","default":{"$ref":"#/$defs/Person"}}},` +
		`"$defs":{"Person":{"type":"object","properties":{"$ref":{"$ref":"#/$defs/Name"}}},"Name":{"type":"string"}}}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ticket.Name = "Ticket"
	cases := []struct {
		name string
		typ  *schema.Type
		want string
	}{
		{"bool", &schema.Type{Kind: schema.Bool}, `{"type":"boolean"}`},
		{"int", &schema.Type{Kind: schema.Int}, `{"type":"integer"}`},
		{"float", &schema.Type{Kind: schema.Float}, `{"type":"number"}`},
		{"string", &schema.Type{Kind: schema.String}, `{"type":"string"}`},
		{"nil", &schema.Type{Kind: schema.Nil}, `{"type":"null"}`},
		{"dir", &schema.Type{Kind: schema.Dir}, `{"type":"string","format":"aion-dir"}`},
		{"enum", severity, `{"type":"string","description":"How bad.","enum":["Major","Minor"]}`},
		{
			"list of a declared type", &schema.Type{Kind: schema.List, Elem: severity},
			`{"type":"array","items":{"$ref":"#/$defs/Severity"},` +
				`"$defs":{"Severity":{"type":"string","description":"How bad.","enum":["Major","Minor"]}}}`,
		},
		{"optional", &schema.Type{Kind: schema.Optional, Elem: &schema.Type{Kind: schema.Int}}, `{"type":"integer"}`},
		{"record", &schema.Type{Kind: schema.Record, Name: "Finding", Doc: "One <objection>.", Fields: []schema.Field{
			{Name: "file", Doc: "Where.", Type: &schema.Type{Kind: schema.String}},
			{Name: "severity", Doc: "Its grade.", Type: severity},
			{Name: "note", Type: &schema.Type{Kind: schema.Optional, Elem: &schema.Type{Kind: schema.String}}},
		}}, `{"type":"object","description":"One <objection>.","properties":{` +
			`"file":{"type":"string","description":"Where."},` +
			`"severity":{"$ref":"#/$defs/Severity","description":"Its grade."},"note":{"type":"string"}},` +
			`"required":["file","severity"],"additionalProperties":false,` +
			`"$defs":{"Severity":{"type":"string","description":"How bad.","enum":["Major","Minor"]}}}`},
		{"recursion at the root", tree, `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},` +
			`"required":["kids"],"additionalProperties":false}`},
		{
			"recursion below the root", &schema.Type{Kind: schema.List, Elem: tree},
			`{"type":"array","items":{"$ref":"#/$defs/Tree"},"$defs":{"Tree":{"type":"object","properties":{"kids":` +
				`{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["kids"],"additionalProperties":false}}}`,
		},
		{"own schema at the root", ticket, `{"$schema":"x","$id":"y","type":"object","required":["who"],` +
			`"properties":{"who":{"$ref":"#/$defs/Person","default":{"$ref":"#/$defs/Person"}}},` +
			`"$defs":{"Person":{"type":"object","properties":{"$ref":{"$ref":"#/$defs/Name"}}},"Name":{"type":"string"}}}`},
		{
			"own schema embedded", &schema.Type{Kind: schema.List, Elem: ticket},
			`{"type":"array","items":{"$ref":"#/$defs/Ticket"},"$defs":{` +
				`"Ticket":{"type":"object","required":["who"],` +
				`"properties":{"who":{"$ref":"#/$defs/Ticket.Person","default":{"$ref":"#/$defs/Person"}}}},` +
				`"Ticket.Person":{"type":"object","properties":{"$ref":{"$ref":"#/$defs/Ticket.Name"}}},` +
				`"Ticket.Name":{"type":"string"}}}`,
		},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, string(schema.Of(c.typ))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestObjectLeadsWithDialectTitleTypeAndDescription(t *testing.T) {
	t.Parallel()
	got := schema.Object([]schema.Field{{Name: "a", Doc: "One.", Type: &schema.Type{Kind: schema.Int}}},
		schema.ObjectOptions{Draft: true, Title: "flow", Description: "What it does."})
	want := `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"flow","type":"object",` +
		`"description":"What it does.","properties":{"a":{"type":"integer","description":"One."}},"required":["a"],` +
		`"additionalProperties":false}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if got := string(schema.Object(nil, schema.ObjectOptions{})); got !=
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}` {
		t.Error(got)
	}
}

func TestOutcomesHasOneArmPerOutcome(t *testing.T) {
	t.Parallel()
	done := &schema.Type{Kind: schema.Record, Name: "Done"}
	got := schema.Outcomes([]schema.Arm{{Name: "done", Type: done}, {Name: "empty", Type: &schema.Type{Kind: schema.Nil}}})
	want := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["outcome","payload"],` +
		`"oneOf":[{"properties":{"outcome":{"const":"done"},"payload":{"$ref":"#/$defs/Done"}}},` +
		`{"properties":{"outcome":{"const":"empty"},"payload":{"type":"null"}}}],` +
		`"$defs":{"Done":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
