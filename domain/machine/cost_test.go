package machine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
)

const forkDoc = head + `step s
  fork x in xs
    a(x: x)
  join -> ys
  ys |> count -> n
  route done(ys[0])
`

func items(n int) string {
	return `{"xs":["` + strings.Repeat(`i","`, n-1) + `i"]}`
}

// drive runs a document to its end without keeping its history.
func drive(tb testing.TB, p *plan.Plan, input string) *machine.State {
	tb.Helper()
	s := machine.New()
	at := time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)
	seq := int64(1)
	fact := func(e history.Event) []history.Event {
		res, err := machine.Advance(p, s, history.Record(seq, at, workflowID, runID, e))
		if err != nil || res.Ignored {
			tb.Fatalf("%s: %+v, %v", e.Type(), res, err)
		}
		seq += int64(len(res.Derived)) + 1
		return res.Derived
	}
	todo := fact(history.WorkflowStarted{Input: []byte(input)})
	for len(todo) > 0 && !s.Status().Terminal() {
		e := todo[0]
		todo = todo[1:]
		if a, ok := e.(history.ActivityScheduled); ok {
			fact(history.ActivityStarted{ActivityID: a.ActivityID, Attempt: 1})
			todo = append(todo, fact(history.ActivityCompleted{ActivityID: a.ActivityID, Attempt: 1, Result: []byte(`"r"`)})...)
		}
	}
	return s
}

// allocated measures what fn allocates. Tests that use it run alone.
func allocated(fn func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// linear fails when ten times the size needs much more than ten times the memory.
func linear(t *testing.T, what string, run func(n int)) {
	t.Helper()
	run(100)
	small := allocated(func() { run(1_000) })
	large := allocated(func() { run(10_000) })
	t.Logf("%s: %d KiB for 1,000, %d KiB for 10,000", what, small>>10, large>>10)
	if large > 14*small {
		t.Errorf("%s is not linear: %d bytes for 1,000, %d for 10,000", what, small, large)
	}
}

//nolint:paralleltest // measures memory
func TestLargeForksRegionsAndLoopsAreLinear(t *testing.T) {
	fork := compiled(t, forkDoc)
	linear(t, "a fork", func(n int) {
		if s := drive(t, fork, items(n)); s.Outcome() != "done" {
			t.Fatalf("%s", s.Status())
		}
	})
	distribute := compiled(t, region(""))
	linear(t, "a region", func(n int) {
		if s := drive(t, distribute, items(n)); s.Outcome() != "done" {
			t.Fatalf("%s", s.Status())
		}
	})
	for what, body := range map[string]string{"a pure loop": `acc + "" -> acc`, "a loop that calls": `a(x: "1") -> acc`} {
		loop := compiled(t, head+`step s
  loop acc = "" counting n
    `+body+`
    until n == 10000
    max 10000

  outcome fine: otherwise, route done(acc)
`)
		linear(t, what, func(n int) {
			loop.Flow.Steps[0].Body[0].Max = lit(fmt.Sprint(n))
			if s := drive(t, loop, items(1)); s.Outcome() != "done" {
				t.Fatalf("%s %+v", s.Status(), s.Failure())
			}
		})
	}
}

// A parked run of three steps is small: what a server keeps of it beside its rows.
//
//nolint:paralleltest // measures memory
func TestParkedRunIsSmall(t *testing.T) {
	p := compiled(t, head+`step one
  a(x: xs[0]) -> y

step two
  b(x: y) -> z

step three
  wait word timeout 1h -> w
  route done(z)
`)
	const n = 2_000
	parked := make([]*machine.State, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range parked {
		parked[i] = drive(t, p, xs3)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d bytes for each parked run", each)
	if each > 2048 {
		t.Errorf("a parked run keeps %d bytes", each)
	}
	if len(parked[n-1].Waits()) != 1 {
		t.Error("the run is not parked")
	}
}

func BenchmarkThreeSteps(b *testing.B) {
	p := compiled(b, head+`step one
  a(x: xs[0]) -> y

step two
  a(x: y) -> z

step three
  a(x: z) -> u
  route done(u)
`)
	b.ReportAllocs()
	for b.Loop() {
		drive(b, p, xs3)
	}
}

func BenchmarkFork10000(b *testing.B) {
	p := compiled(b, forkDoc)
	input := items(10_000)
	b.ReportAllocs()
	for b.Loop() {
		drive(b, p, input)
	}
}

// Whatever the order in which activities end, what is open stays known.
func TestActivitiesEndInAnyOrder(t *testing.T) {
	t.Parallel()
	const n = 500
	r := start(t, compiled(t, forkDoc), items(n))
	for i := range n {
		id := int64(i * 7 % n) // every activity once
		r.doneID(id, `"r"`)
		open := r.s.OpenActivities()
		if i+1 < n && (len(open) != n-i-1 || open[0].ID > open[len(open)-1].ID) {
			t.Fatalf("%d are open after %d have ended", len(open), i+1)
		}
		late := history.ActivityCompleted{ActivityID: id, Attempt: 1, Result: []byte(`"r"`)}
		if res, err := r.try(late); err != nil || !res.Ignored {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	r.ends(history.Completed, "done")
}
