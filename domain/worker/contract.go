package worker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The directions of a contract: input goes from the document to the worker, output comes back.
const (
	DirectionInput  = "input"
	DirectionOutput = "output"
)

// Misfit is one place where a worker's schema does not fit what a document declares. Expected is the document's side, Got
// the worker's.
type Misfit struct {
	Direction string
	Pointer   string // into the schema
	Expected  string
	Got       string
}

// Misfits compares the schemas of one action (actions 8.2): every input that the document can send must be accepted by the
// worker, and every output that the worker can return must be declared. A schema that the worker left out is not compared.
func Misfits(declaredInput, declaredOutput json.RawMessage, a Action) []Misfit {
	var found []Misfit
	if a.InputSchema != nil {
		c := comparison{from: parse(declaredInput), to: parse(a.InputSchema), direction: DirectionInput}
		found = c.run()
	}
	if a.OutputSchema != nil {
		c := comparison{from: parse(a.OutputSchema), to: parse(declaredOutput), direction: DirectionOutput}
		found = append(found, c.run()...)
	}
	return found
}

// node is a schema; nil accepts everything.
type node = map[string]any

// comparison tells where a value of the one schema may be none of the other.
type comparison struct {
	from, to  root
	direction string
	found     []Misfit
	met       map[[2]string]bool
	steps     *int // that are left, of all trials together
}

// root is a schema with the definitions that it refers to.
type root struct{ top node }

func parse(text json.RawMessage) root {
	var top node
	if json.Unmarshal(text, &top) != nil {
		top = nil // true, which accepts everything; nothing else gets here
	}
	return root{top}
}

// mostMisfits bounds the findings of one direction, and mostSteps the places that are compared: whoever registers chooses the
// schema.
const (
	mostMisfits = 50
	mostSteps   = 20_000
)

func (c *comparison) run() []Misfit {
	steps := mostSteps
	c.met, c.steps = map[[2]string]bool{}, &steps
	c.compare("", c.from.top, c.to.top)
	return c.found
}

// miss notes a misfit; sent is the side that values come from.
func (c *comparison) miss(pointer, sent, accepted string) {
	m := Misfit{Direction: c.direction, Pointer: pointer, Expected: sent, Got: accepted}
	if c.direction == DirectionOutput {
		m.Expected, m.Got = accepted, sent
	}
	if len(c.found) < mostMisfits {
		c.found = append(c.found, m)
	}
}

// compare holds every alternative of one schema against those of another.
func (c *comparison) compare(pointer string, from, to node) {
	if *c.steps--; *c.steps < 0 {
		return
	}
	pair := [2]string{fmt.Sprint(from), fmt.Sprint(to)}
	if c.met[pair] {
		return // also one that refers to itself: what was met fits as far as it goes
	}
	c.met[pair] = true
	sends, accepts := c.from.alternatives(from), c.to.alternatives(to)
	for _, s := range sends {
		var same []node
		fits := false
		for _, a := range accepts {
			if kind(a) == "any" || kind(a) == kind(s) || kind(s) == "integer" && kind(a) == "number" {
				same = append(same, a)
				fits = fits || c.tries(pointer, s, a)
			}
		}
		switch {
		case fits:
		case len(same) == 1:
			c.alternative(pointer, s, same[0])
		default:
			c.miss(pointer, shown(sends), shown(accepts))
			return
		}
	}
}

// tries compares without noting anything.
func (c *comparison) tries(pointer string, s, a node) bool {
	trial := comparison{from: c.from, to: c.to, direction: c.direction, met: maps.Clone(c.met), steps: c.steps}
	trial.alternative(pointer, s, a)
	return len(trial.found) == 0
}

// alternative compares two schemas of one type.
func (c *comparison) alternative(pointer string, s, a node) {
	c.values(pointer, s, a)
	c.bounds(pointer, s, a)
	switch kind(s) {
	case "object":
		c.members(pointer, s, a)
	case "array":
		if items, ok := a["items"].(node); ok {
			given, _ := s["items"].(node)
			c.compare(pointer+"/items", given, items)
		}
	}
}

func (c *comparison) members(pointer string, s, a node) {
	given, _ := s["properties"].(node)
	taken, declares := a["properties"].(node)
	open := a["additionalProperties"]
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := pointer + "/properties/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		one, _ := given[name].(node)
		if other, ok := taken[name]; ok {
			accepts, _ := other.(node)
			c.compare(at, one, accepts)
			continue
		}
		rest, schema := open.(node)
		switch {
		case schema:
			c.compare(at, one, rest)
		case open == true, !declares && open == nil, c.direction == DirectionOutput && open != false:
		default:
			c.miss(at, shown(c.from.alternatives(one)), "absent")
		}
	}
	always := texts(s["required"])
	for _, name := range texts(a["required"]) {
		at := pointer + "/properties/" + name
		if _, sent := given[name]; !sent {
			c.miss(at, "absent", "required")
		} else if !slices.Contains(always, name) {
			c.miss(at, "optional", "required")
		}
	}
	if s["additionalProperties"] != false && open == false && given != nil && c.direction == DirectionOutput && s["additionalProperties"] != nil {
		c.miss(pointer+"/additionalProperties", "open", "closed")
	}
}

// values compares enumerations.
func (c *comparison) values(pointer string, s, a node) {
	accepted, closed := enumeration(a)
	if !closed {
		return
	}
	sent, also := enumeration(s)
	if !also {
		c.miss(pointer, kind(s), "enum "+strings.Join(accepted, ", "))
		return
	}
	for _, v := range sent {
		if !slices.Contains(accepted, v) {
			c.miss(pointer, "enum "+strings.Join(sent, ", "), "enum "+strings.Join(accepted, ", "))
			return
		}
	}
}

// bounds compares what narrows a type.
func (c *comparison) bounds(pointer string, s, a node) {
	for _, word := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"} {
		c.bound(pointer, word, s, a, func(sent, accepted float64) bool { return sent >= accepted })
	}
	for _, word := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"} {
		c.bound(pointer, word, s, a, func(sent, accepted float64) bool { return sent <= accepted })
	}
	for _, word := range []string{"pattern", "multipleOf", "uniqueItems"} {
		if a[word] != nil && a[word] != false && fmt.Sprint(a[word]) != fmt.Sprint(s[word]) {
			c.miss(pointer+"/"+word, orAbsent(s[word]), orAbsent(a[word]))
		}
	}
}

func (c *comparison) bound(pointer, word string, s, a node, fits func(sent, accepted float64) bool) {
	accepted, bounded := a[word].(float64)
	if !bounded {
		return
	}
	if sent, ok := s[word].(float64); !ok || !fits(sent, accepted) {
		c.miss(pointer+"/"+word, orAbsent(s[word]), orAbsent(a[word]))
	}
}

func orAbsent(v any) string {
	if v == nil {
		return "absent"
	}
	return fmt.Sprint(v)
}
