package check_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aion/domain"
	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/awl/value"
	"aion/domain/history"
	"aion/domain/machine"
)

// TestCheckedDocumentsNeverMissAName runs documents that the checker accepts with drawn results, signals and failures: no
// expression meets a name that is not bound, an absent value that was not tested, or an operand of another type.
func TestCheckedDocumentsNeverMissAName(t *testing.T) {
	t.Parallel()
	var seeds [][]byte
	for _, folder := range []string{fixtures + "/valid", fixtures + "/invalid", "testdata/flows"} {
		for _, name := range documents(t, folder) {
			seeds = append(seeds, readFile(t, name))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		src := mutate(t, rapid.SampledFrom(seeds).Draw(t, "seed"))
		p := accepted(t, src)
		if p == nil {
			return
		}
		r := &driver{t: t, p: p, s: machine.New(), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), src: src}
		r.drive()
	})
}

// accepted compiles a document without errors; nil for others.
func accepted(t *rapid.T, src []byte) *plan.Plan {
	doc, parsed := syntax.Parse(src)
	res, found := check.Check(doc, parsed, importer(filepath.Join(fixtures, "valid")))
	if diag.HasErrors(found) || len(doc.Steps) == 0 {
		return nil
	}
	p, err := compile.Compile(doc, res, strings.Repeat("ab", 32))
	if err != nil {
		t.Fatalf("a checked document does not compile: %v\n%s", err, src)
	}
	return p
}

// driver offers drawn facts to one run.
type driver struct {
	t   *rapid.T
	p   *plan.Plan
	s   *machine.State
	seq int64
	at  time.Time
	src []byte
}

func (d *driver) offer(e history.Event) {
	d.at = d.at.Add(time.Second)
	fact := history.Record(d.seq+1, d.at, "0198a000-0000-7000-8000-000000000001", "0198a000-0000-7000-8000-000000000002", e)
	res, err := machine.Advance(d.p, d.s, fact)
	if err != nil || res.Ignored {
		d.t.Fatalf("%s: ignored %v, %v\n%s", e.Type(), res.Ignored, err, d.src)
	}
	d.seq += 1 + int64(len(res.Derived))
	for _, e := range res.Derived {
		if f, ok := e.(history.StepFailed); ok && f.Failure.Code == value.Invalid {
			d.t.Fatalf("step %s: %s\n%s", f.Step, f.Failure.Message, d.src)
		}
	}
}

func (d *driver) drive() {
	d.offer(history.WorkflowStarted{
		WorkflowType: d.p.WorkflowType, PackageVersion: d.p.ContentHash, Input: d.drawn(d.p.InputSchema),
		Deadline: d.at.Add(1000 * time.Hour), StartedBy: "operator",
	})
	for range 60 {
		if d.s.Status() != history.Running || !d.step() {
			break
		}
	}
	if f := d.s.Failure(); f != nil && f.Code == value.Invalid {
		d.t.Fatalf("the run failed: %s\n%s", f.Message, d.src)
	}
}

// step offers one fact that is due; false when there is none.
func (d *driver) step() bool {
	open, waits := d.s.OpenActivities(), d.s.Waits()
	if len(open)+len(waits) == 0 {
		return false
	}
	i := rapid.IntRange(0, len(open)+len(waits)-1).Draw(d.t, "next")
	if i < len(open) {
		d.settle(open[i])
		return true
	}
	switch w := waits[i-len(open)]; {
	case w.Kind == machine.WaitSignal && (w.TimerID < 0 || d.chance(50)):
		d.offer(history.SignalReceived{
			SignalID: fmt.Sprint(d.seq), SignalName: w.Name, SentBy: "operator",
			Payload: d.drawn(d.p.Signal(w.Name).Schema),
		})
	case w.TimerID >= 0:
		d.offer(history.TimerFired{TimerID: w.TimerID})
	case d.chance(20):
		d.offer(history.ChildFailed{Child: w.Child, Failure: &history.Failure{Code: "x", Message: "y"}})
	default:
		for _, c := range d.p.Children {
			if c.Name == w.Name {
				d.offer(history.ChildCompleted{Child: w.Child, Result: d.drawn(c.OutputSchema)})
			}
		}
	}
	return true
}

// settle ends an activity.
func (d *driver) settle(a machine.OpenActivity) {
	if !a.Started {
		d.offer(history.ActivityStarted{ActivityID: a.ID, Attempt: a.Attempt, Executor: "server"})
	}
	if d.chance(15) {
		d.offer(history.ActivityFailed{ActivityID: a.ID, Attempt: a.Attempt, Class: "terminal", Code: "x", Message: "y"})
		return
	}
	d.offer(history.ActivityCompleted{ActivityID: a.ID, Attempt: a.Attempt, Result: d.drawn(d.p.Action(a.Queue, a.Type).OutputSchema)})
}

func (d *driver) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(d.t, "chance") <= percent
}

// drawn is a value of a schema, encoded.
func (d *driver) drawn(raw json.RawMessage) domain.Payload {
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		d.t.Fatal(err)
	}
	text, err := json.Marshal(d.value(root, root, 4))
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// value draws a value of the schema s in the document root. Lists end at the given depth.
func (d *driver) value(s, root map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		if ref == "#" {
			return d.value(root, root, depth-1)
		}
		defs, _ := root["$defs"].(map[string]any)
		to, _ := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		return d.value(to, root, depth-1)
	}
	if values, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(values).Draw(d.t, "variant")
	}
	switch s["type"] {
	case "boolean":
		return rapid.Bool().Draw(d.t, "bool")
	case "integer":
		return rapid.IntRange(0, 4).Draw(d.t, "int")
	case "number":
		return rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(d.t, "float")
	case "string":
		return rapid.SampledFrom([]string{"", "x", "good"}).Draw(d.t, "text")
	case "array":
		list := []any{}
		items, _ := s["items"].(map[string]any)
		for range rapid.IntRange(0, max(0, min(2, depth))).Draw(d.t, "items") {
			list = append(list, d.value(items, root, depth-1))
		}
		return list
	case "object":
		return d.object(s, root, depth)
	}
	return nil
}

func (d *driver) object(s, root map[string]any, depth int) any {
	required := map[string]bool{}
	names, _ := s["required"].([]any)
	for _, n := range names {
		required[n.(string)] = true
	}
	out := map[string]any{}
	props, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if required[name] || depth > 0 && d.chance(50) {
			out[name] = d.value(props[name].(map[string]any), root, depth-1)
		}
	}
	return out
}
