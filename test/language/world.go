package language

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aion/domain/awl/plan"
)

// Silent is what the names of signals begin with that the world may leave unsent.
const Silent = "quiet"

// World answers whatever a run asks. The same question gives the same answer, in whatever order questions come: that is
// what makes a run comparable with the direct interpreter.
type World struct {
	Seed    uint64
	Plan    *plan.Plan
	schemas map[string]map[string]any
	asked   map[string]int
}

// NewWorld gives a world for the runs of one plan.
func NewWorld(p *plan.Plan, seed uint64) *World {
	return &World{Seed: seed, Plan: p, schemas: map[string]map[string]any{}, asked: map[string]int{}}
}

// Answer is the end of an action or a child: a result, or the code of the failure that its step sees.
type Answer struct {
	Result any
	Failed string
}

// Input is the input of the run.
func (w *World) Input() map[string]any {
	return w.value("input", w.Plan.InputSchema).(map[string]any)
}

// Call answers an action.
func (w *World) Call(name string, input any) Answer {
	for _, worker := range w.Plan.Workers {
		for i := range worker.Actions {
			if worker.Actions[i].Name == name {
				return w.answer("action "+name, input, worker.Actions[i].OutputSchema, "activity_failed")
			}
		}
	}
	panic("no action " + name)
}

// Child answers a child workflow.
func (w *World) Child(name string, input any) Answer {
	for _, c := range w.Plan.Children {
		if c.Name == name {
			return w.answer("child "+name, input, c.OutputSchema, "child_failed")
		}
	}
	panic("no child " + name)
}

func (w *World) answer(what string, input any, schema json.RawMessage, code string) Answer {
	key := what + " " + Canonical(input)
	w.asked[key]++
	chances := uint64(16)
	if w.Seed%3 == 0 { // a world where much fails
		chances = 6
	}
	switch mix(w.Seed, "fails "+key) % chances {
	case 0:
		return Answer{Failed: code}
	case 1:
		return Answer{Failed: "result_invalid"}
	}
	return Answer{Result: w.value(key, schema)}
}

// Signal is the payload of a signal; sent is false for one that stays silent.
func (w *World) Signal(name string) (payload any, sent bool) {
	if strings.HasPrefix(name, Silent) && mix(w.Seed, "silent "+name)%2 == 0 {
		return nil, false
	}
	return w.value("signal "+name, w.Plan.Signal(name).Schema), true
}

// Effects tells how often each action and child was asked with each input.
func (w *World) Effects() map[string]int { return w.asked }

// value makes a value of a schema, always the same for one key.
func (w *World) value(key string, schema json.RawMessage) any {
	root, ok := w.schemas[string(schema)]
	if !ok {
		if err := json.Unmarshal(schema, &root); err != nil {
			panic(err)
		}
		w.schemas[string(schema)] = root
	}
	m := maker{state: mix(w.Seed, key), root: root}
	return m.make(root, 5)
}

// maker makes a value of a schema out of a number.
type maker struct {
	state uint64
	root  map[string]any
}

func (m *maker) below(n int) int {
	m.state = mix(m.state, "next")
	return int(m.state % uint64(n))
}

func (m *maker) make(s map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		to := m.root
		if defs, _ := m.root["$defs"].(map[string]any); ref != "#" {
			to, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		return m.make(to, depth-1)
	}
	if values, ok := s["enum"].([]any); ok {
		return values[m.below(len(values))]
	}
	switch typeOf(s) {
	case "boolean":
		return m.below(2) == 0
	case "integer":
		if m.below(20) == 0 {
			return []any{int64(9007199254740993), int64(-9223372036854775808), int64(9223372036854775807)}[m.below(3)]
		}
		return int64(m.below(6) - 1)
	case "number":
		return []any{0.5, int64(2), -0.00125, 1e300}[m.below(4)]
	case "string":
		return []any{"", "x", "good", "é → 日本", "a \"quoted\" \\ text\n", "</script>"}[m.below(6)]
	case "array":
		list := []any{}
		items, _ := s["items"].(map[string]any)
		for range m.below(max(1, min(4, depth+1))) {
			list = append(list, m.make(items, depth-1))
		}
		return list
	case "object":
		return m.object(s, depth)
	}
	return nil
}

// typeOf is the type of a schema, which may be left to its other keywords (awl 4.6).
func typeOf(s map[string]any) string {
	if t, ok := s["type"].(string); ok {
		return t
	}
	if s["items"] != nil {
		return "array"
	}
	if s["properties"] != nil {
		return "object"
	}
	return ""
}

func (m *maker) object(s map[string]any, depth int) any {
	required, _ := s["required"].([]any)
	props, _ := s["properties"].(map[string]any)
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if slices.Contains(required, any(name)) || depth > 0 && m.below(2) == 0 {
			out[name] = m.make(props[name].(map[string]any), depth-1)
		}
	}
	return out
}

// Decode reads JSON with exact integers: a whole number is an int64, as in the language.
func Decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode %.100s: %w", text, err)
	}
	return exact(v), nil
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			panic(err)
		}
		return whole(f)
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	}
	return v
}

// whole makes an int64 of a whole number that fits.
func whole(f float64) any {
	if i := int64(f); f == float64(i) && f > -9.2e18 && f < 9.2e18 {
		return i
	}
	return f
}

// Canonical is a value as a text: equal texts, equal values.
func Canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
