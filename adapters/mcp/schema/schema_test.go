package schema_test

import (
	"strings"
	"testing"

	"aion/adapters/mcp/schema"
)

func compiled(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCompileRefusesWhatItWouldNotEnforce(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"oneOf":[{}]}`, `{"type":"object","title":"x"}`, `{"properties":{"a":{"x-mcp-header":"A"}}}`, `{"format":"email"}`, `{"type":"text"}`,
		`{"pattern":"("}`, `{"$ref":"#/$defs/none"}`, `{"$ref":"https://example.test"}`, `{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"minimum":0.5}`, `{"anyOf":[]}`, `{"enum":1}`, `[]`, `{`, `{"type":[]}`,
		`{"items":true}`, `{"properties":{"a":{"$defs":{}}}}`, `{"required":[1]}`,
	} {
		if _, err := schema.Compile([]byte(text)); err == nil {
			t.Errorf("%s was compiled", text)
		}
	}
}

func TestEveryKeywordIsEnforced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, good, bad string }{
		{`{"type":"object"}`, `{}`, `[]`},
		{`{"type":["string","null"]}`, `null`, `1`},
		{`{"type":"integer"}`, `3.0`, `3.5`},
		{`{"type":"number"}`, `3.5`, `"3.5"`},
		{`{"type":"boolean"}`, `true`, `0`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"","b":1}`, `{"a":1}`},
		{`{"required":["a"]}`, `{"a":null}`, `{"A":1}`},
		{`{"additionalProperties":false,"properties":{"a":{}}}`, `{"a":1}`, `{"b":1}`},
		{`{"additionalProperties":{"type":"integer"},"properties":{"a":{}}}`, `{"a":"x","b":1}`, `{"b":"x"}`},
		{`{"enum":["a","b"]}`, `"a"`, `"A"`},
		{`{"enum":["é"]}`, `"\u00e9"`, `"e"`},
		{`{"const":true}`, `true`, `false`},
		{`{"format":"uuid"}`, `"0198ABCD-1234-7abc-8def-0123456789ab"`, `"0198abcd12347abc8def0123456789ab"`},
		{`{"format":"uuid"}`, `1`, `"not-a-uuid"`},
		{`{"format":"date-time"}`, `"2026-07-28T10:00:00.5+02:00"`, `"2026-07-28T10:00:00"`},
		{`{"format":"date-time"}`, `"2026-07-28t10:00:00z"`, `"2026-02-30T10:00:00Z"`},
		{`{"format":"date-time"}`, `"2024-02-29T23:59:59Z"`, `"2026-07-28T10:00:00,5Z"`},
		{`{"pattern":"^[a-z]+$"}`, `"abc"`, `"abc\n"`},
		{`{"minLength":2,"maxLength":3}`, `"äöü"`, `"ä"`},
		{`{"minLength":2,"maxLength":3}`, `"\u00e4b"`, `"abcd"`},
		{`{"type":"integer","minimum":1,"maximum":500}`, `5e2`, `501`},
		{`{"type":"integer","minimum":1}`, `1`, `0`},
		{`{"type":"integer","maximum":9007199254740991}`, `9007199254740991`, `9007199254740992`},
		{`{"type":"integer","maximum":9007199254740991}`, `-1e400`, `1e400`},
		{`{"type":"number","minimum":1}`, `1.5`, `0.5`},
		{`{"minItems":1,"maxItems":2}`, `[1]`, `[]`},
		{`{"maxItems":2}`, `[1,2]`, `[1,2,3]`},
		{`{"uniqueItems":true}`, `[1,"1"]`, `[{"a":1,"b":2},{"b":2.0,"a":1}]`},
		{`{"items":{"type":"string"}}`, `["a"]`, `["a",1]`},
		{`{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}`, `null`, `{}`},
		{`{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s"}}}`, `{"a":"x"}`, `{"a":1}`},
		{`{"default":1,"description":"x"}`, `null`, ``},
	} {
		s := compiled(t, c.schema)
		if found := s.Validate([]byte(c.good)); len(found) != 0 {
			t.Errorf("%s refused %s: %v", c.schema, c.good, found)
		}
		if c.bad != "" && len(s.Validate([]byte(c.bad))) == 0 {
			t.Errorf("%s admitted %s", c.schema, c.bad)
		}
	}
}

func TestViolationsSayWhereAndWhatInstead(t *testing.T) {
	t.Parallel()
	s := compiled(t, `{"type":"object","additionalProperties":false,"required":["workflow_id"],"properties":{
		"workflow_id":{"type":"string","format":"uuid","description":"The id that start_run gave."},"run_id":{"type":"string"},"limit":{"type":"integer","maximum":5},
		"list":{"items":{"properties":{"a/b":{"type":"null"},"none":{"additionalProperties":false,"properties":{}}}}},
		"path":{"type":"string","pattern":"^[a-z]+\\.awl$"}}}`)
	for text, want := range map[string]schema.Violation{
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","runid":"x"}`: {Path: "/runid", Message: "unknown argument `runid`; did you mean `run_id`?"},
		`{"workflowId":"x"}`: {Path: "/workflowId", Message: "unknown argument `workflowId`; did you mean `workflow_id`?"},
		`{}`:                 {Path: "", Message: "`workflow_id` is missing: The id that start_run gave"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","limit":6}`:                         {Path: "/limit", Message: "must be at most 5, not `6`"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","limit":null}`:                      {Path: "/limit", Message: "must be an integer, not null"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","list":[{},{"a/b":0}]}`:             {Path: "/list/1/a~1b", Message: "must be null, not `0`"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","completely_different_name":0}`:     {Path: "/completely_different_name", Message: "unknown argument `completely_different_name`; known are `workflow_id`, `run_id`, `limit`, `list`, `path`"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","list":[{"none":{"namespace":0}}]}`: {Path: "/list/0/none/namespace", Message: "unknown member `namespace`; no member is taken here"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","path":"demo"}`:                     {Path: "/path", Message: "must end in `.awl`, not `demo`"},
		`{"workflow_id":"0198abcd-1234-7abc-8def-0123456789ab","path":"0.awl"}`:                    {Path: "/path", Message: "must match ^[a-z]+\\.awl$, not `0.awl`"},
	} {
		found := s.Validate([]byte(text))
		if len(found) == 0 || found[0] != want {
			t.Errorf("%s:\n got %v\nwant %v first", text, found, want)
		}
	}
}

func TestAtMostTenViolationsOfBoundedLength(t *testing.T) {
	t.Parallel()
	s := compiled(t, `{"type":"object","additionalProperties":false,"properties":{"list":{"items":{"type":"string","pattern":"^a$"}}}}`)
	long := strings.Repeat("x", 100_000)
	found := s.Validate([]byte(`{"` + long + `":0,"list":[` + strings.Repeat(`"`+long+`",`, 20) + `1]}`))
	if len(found) != schema.MaxViolations {
		t.Errorf("%d violations", len(found))
	}
	for _, v := range found {
		if len(v.Message) > 1000 || len(v.Path) > 1000 {
			t.Errorf("a violation repeats %d foreign bytes", len(v.Message)+len(v.Path))
		}
	}
}
