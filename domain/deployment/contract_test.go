package deployment_test

import (
	"testing"

	"aion/domain/awl/plan"
	"aion/domain/deployment"
)

// actions 2.4: only a declared `Nil` records null whatever was printed.
func TestOnlyTheTypeNilTakesNull(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{
		"nil": `{"type":"null"}`, "text": `{"type":"string"}`, "list": `{"type":"array","items":{"type":"string"}}`,
		"record": `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	}
	w := plan.Worker{Name: "q"}
	for name, schema := range schemas {
		w.Actions = append(w.Actions, plan.Action{Name: name, OutputSchema: []byte(schema)})
	}
	text, err := plan.Encode(&plan.Plan{
		Format: plan.Format, WorkflowType: "w", ContentHash: "h", InputSchema: []byte(`{"type":"object"}`),
		OutcomeSchema: []byte(`{}`), Workers: []plan.Worker{w},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := deployment.Load(deployment.Version{WorkflowType: "w", ContentHash: "h", Plan: text})
	if err != nil {
		t.Fatal(err)
	}
	for name := range schemas {
		if got := c.ResultIsNil("q", name); got != (name == "nil") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
