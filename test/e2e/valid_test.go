package e2e_test

import "testing"

// Every test document that needs no remote worker runs to an outcome.
func TestTheRunnableDocumentsReachTheirOutcome(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	cases := []struct {
		name    string
		input   map[string]any
		outcome string
	}{
		{"minimal", map[string]any{}, "done"},
		{"hello", map[string]any{"name": "Ada"}, "greeted"},
		{"capture_lines", map[string]any{"words": []string{"a", "b c"}}, "read"},
		{"fan_out", map[string]any{"words": []string{"a", "bcd"}}, "measured"},
		{"fork_sequential", map[string]any{"lines": []string{"a", "b"}}, "written"},
		{"retry_flaky", map[string]any{}, "recovered"},
		{"loop_counting", map[string]any{"max_polls": 10}, "finished"},
		{"subflow_shout", map[string]any{"first": "a", "second": "b"}, "done"},
		{"distribute_tolerant", map[string]any{"hosts": []string{"a", "down", "b"}}, "surveyed"},
		{"compensation", map[string]any{"seat": "1A", "card": "expired"}, ""},
		{"dag", map[string]any{"target": "x"}, "built"},
		{"commands", map[string]any{"note": "first"}, "noted"},
	}
	for _, k := range cases {
		id := c.start(c.deploy(k.name+".awl", fixture(t, k.name+".awl")), k.input)
		d := c.untilEnded(id)
		if k.outcome != "" && d["outcome"] != k.outcome || d["status"] == "Failed" && d["failure"] != nil {
			t.Errorf("%s ended as %v, outcome %v, failure %v", k.name, d["status"], d["outcome"], d["failure"])
		}
	}
}
