package worker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aion/domain"
	"aion/domain/worker"
)

// schemas draws a JSON Schema of the kind that documents declare.
func schemas(t *rapid.T, depth int) any {
	kinds := []string{"string", "integer", "number", "boolean", "null", "enum"}
	if depth > 0 {
		kinds = append(kinds, "array", "object", "nullable")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "enum":
		return map[string]any{"enum": rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string]).Draw(t, "enum")}
	case "array":
		return map[string]any{"type": "array", "items": schemas(t, depth-1)}
	case "nullable":
		return map[string]any{"anyOf": []any{schemas(t, depth-1), map[string]any{"type": "null"}}}
	case "object":
		properties := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y/z", "w~"}), 0, 3, rapid.ID[string]).Draw(t, "names") {
			properties[name] = schemas(t, depth-1)
		}
		var required []string
		for name := range properties {
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	default:
		return map[string]any{"type": kind}
	}
}

// actions 8.2: whatever a document declares, a worker that says the same fits.
func TestAWorkerThatSaysWhatTheDocumentSaysFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(schemas(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		if found := worker.Misfits(text, text, worker.Action{InputSchema: text, OutputSchema: text}); len(found) > 0 {
			t.Fatalf("%s: %+v", text, found)
		}
	})
}

// laughs is a schema whose references double at each of n steps.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"},{"type":"object","properties":{"p":{"$ref":"#/$defs/a%d"},"q":{"$ref":"#/$defs/a%d"}}}]},`, i, i+1, i+1, i+1, i+1)
	}
	fmt.Fprintf(&b, `"a%d":{"type":"string"}}}`, n)
	return b.String()
}

// A schema that refers to itself, or to nothing, ends the comparison.
func TestAnySchemaIsCompared(t *testing.T) {
	t.Parallel()
	tree := `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}},"additionalProperties":false}}}`
	for _, text := range []string{
		`{"$ref":"#"}`, `{"$ref":"#/none"}`, `{"$ref":7}`, `{"anyOf":[{"$ref":"#"}]}`, `{"type":["string","null"]}`, `{"type":7}`, `true`, `{}`, tree,
		laughs(60), `{"properties":7}`, `{"type":"object","properties":{"a":7},"required":7}`, strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200),
	} {
		for _, other := range []string{text, tree, `{"type":"string"}`} {
			worker.Misfits(json.RawMessage(text), json.RawMessage(other), worker.Action{InputSchema: json.RawMessage(other), OutputSchema: json.RawMessage(text)})
		}
	}
}

// actions 8.9: the first reason that applies.
func TestTheFirstReasonIsTold(t *testing.T) {
	t.Parallel()
	one := func(change func(*worker.Worker)) worker.Worker {
		w := worker.Worker{ID: "w", Settings: worker.Settings{Namespaces: []domain.Namespace{"n"}, TaskQueue: "q", MaxConcurrency: 1, Actions: []worker.Action{{Name: "a"}}}}
		change(&w)
		return w
	}
	plain := one(func(*worker.Worker) {})
	d := worker.Demand{Namespace: "n", TaskQueue: "q", Action: "a"}
	fits, misfits := func(worker.Action) bool { return true }, func(worker.Action) bool { return false }
	for want, s := range map[worker.Reason]worker.Supply{
		worker.NoWorker:           {Fits: fits, Workers: []worker.Worker{one(func(w *worker.Worker) { w.TaskQueue = "other" }), one(func(w *worker.Worker) { w.Namespaces = nil })}},
		worker.NoWorkerForNode:    {Fits: fits, Workers: []worker.Worker{one(func(w *worker.Worker) { w.Node, w.PinnedOnly = "gpu", true })}},
		worker.NoWorkerForAction:  {Fits: fits, Workers: []worker.Worker{one(func(w *worker.Worker) { w.Actions[0].Name = "b" })}},
		worker.ContractIneligible: {Fits: misfits, Workers: []worker.Worker{plain}},
		worker.AllDraining:        {Fits: fits, Workers: []worker.Worker{one(func(w *worker.Worker) { w.Draining = true })}},
		worker.AtCapacity:         {Fits: fits, Workers: []worker.Worker{plain}, Held: map[string]int{"w": 1}},
		worker.Throttled:          {Fits: fits, Workers: []worker.Worker{plain}, Throttled: true},
		worker.Served:             {Fits: fits, Workers: []worker.Worker{plain}},
	} {
		d.Waits = 6e9
		if got := s.Unserved(d); got != want || (got == worker.Served) != (got.Hint(d) == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	d.Waits = 1e9
	if got := (worker.Supply{Fits: fits, Workers: []worker.Worker{plain}, Held: map[string]int{"w": 1}}).Unserved(d); got != worker.Served {
		t.Errorf("full for a moment is %q", got)
	}
}
