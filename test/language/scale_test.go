package language_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"aion/application/runs"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/ports"
)

const wideFork = `//! One branch per item.
workflow wide
  input xs: [Int]
  outcome done: type [Int], route success

worker w
  action twice(x: Int) -> Int

step all
  fork x in xs
    twice(x: x) -> y
  join -> ys
  route done(ys)
`

const wideRegion = `//! One instance per item.
workflow wide
  input xs: [Int]
  outcome done: type [Int], route success

worker w
  action twice(x: Int) -> Int

step all
  distribute x in xs

step one
  twice(x: x) -> y

step gather
  collect y -> ys
  route done(ys)
`

const longLoop = `//! One pass per item.
workflow wide
  input xs: [Int]
  outcome done: type [Int], route success

worker w
  action twice(x: Int) -> Int

step all
  loop y = 0 counting n
    twice(x: n) -> y
    until false
    max xs |> count

  outcome over: otherwise, route done([y, n])
`

// twice doubles its argument at once.
func twice(_ context.Context, e ports.Execution) action.Verdict {
	var in struct{ X int64 }
	if err := json.Unmarshal(e.Dispatch.Input, &in); err != nil {
		return action.Fail(action.Terminal, "input", err.Error(), nil)
	}
	return action.Completed{Result: fmt.Appendf(nil, "%d", 2*in.X)}
}

// cost runs a document over n items through the whole application, and gives the bytes that were allocated for it.
func cost(t *testing.T, p *plan.Plan, n, inFlight int) (bytes uint64, result []int64, events []history.Recorded) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, newStore(), options{history: 10_000, inFlight: inFlight}, executor(twice), p)
		defer s.stop()
		xs := make([]int, n)
		for i := range xs {
			xs[i] = i
		}
		input, err := json.Marshal(map[string]any{"xs": xs})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: "wide", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.follow(started.Run.WorkflowID); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		d, err := s.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(started.Run.WorkflowID)})
		if err != nil || d.Status != history.Completed {
			t.Fatalf("%s %v %+v", d.Status, err, d.Failure)
		}
		if err := json.Unmarshal(d.Result, &result); err != nil {
			t.Fatal(err)
		}
		bytes = after.TotalAlloc - before.TotalAlloc
		events = s.history(started.Run.WorkflowID)
	})
	return bytes, result, events
}

// awl 2.1: 10,000 items of a fork or a region and 10,000 passes of a loop complete, results in the order of the items, and
// an item costs at 10,000 what it costs at 1,000. It measures what the process allocates, so nothing runs beside it.
func TestTenThousandItemsCostTenTimesAThousand(t *testing.T) { //nolint:paralleltest // it measures allocations
	for _, c := range []struct{ name, src string }{{"fork", wideFork}, {"region", wideRegion}, {"loop", longLoop}} { //nolint:paralleltest // as above
		t.Run(c.name, func(t *testing.T) {
			p := compiled(t, c.src)
			few, many := 1_000, 10_000
			if raceEnabled {
				few, many = 100, 1_000
			}
			// With a slot for each no task waits in the store: the memory store copies all that wait whenever it is read.
			small, _, _ := cost(t, p, few, 2*few)
			large, result, events := cost(t, p, many, 2*many)
			t.Logf("%d bytes per item of %d, %d of %d; %d events", small/uint64(few), few, large/uint64(many), many, len(events))
			if each, was := large/uint64(many), small/uint64(few); each > was*3/2 {
				t.Errorf("an item of %d costs %d bytes, one of %d costs %d", many, each, few, was)
			}
			if c.name == "loop" {
				if fmt.Sprint(result) != fmt.Sprint([]int64{int64(2 * (many - 1)), int64(many)}) {
					t.Errorf("the loop ends with %v", result)
				}
			} else {
				inOrder(t, result, many)
			}
			replays(t, p, machine.Options{HistoryLimit: 10_000}, events)
		})
	}
}

func inOrder(t *testing.T, result []int64, n int) {
	t.Helper()
	if len(result) != n {
		t.Fatalf("%d results", len(result))
	}
	for i, y := range result {
		if y != int64(2*i) {
			t.Fatalf("result %d is %d", i, y)
		}
	}
}

// With the slots of a server, most of ten thousand branches wait for their turn.
func TestTenThousandBranchesShareTheSlots(t *testing.T) { //nolint:paralleltest // the one above measures allocations
	n := 10_000
	if raceEnabled {
		n = 1_000
	}
	_, result, _ := cost(t, compiled(t, wideFork), n, 0)
	inOrder(t, result, n)
}

// One item or pass more than 10,000 is a failure with its code, not a run that goes on (awl 2.1).
func TestOneMoreThanTheLimitFails(t *testing.T) {
	t.Parallel()
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 10_001), ",") + "]"
	for _, c := range []struct{ src, code string }{
		{wideFork, "fan_out_too_large"}, {wideRegion, "fan_out_too_large"}, {longLoop, "bound_out_of_range"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, newStore(), options{}, executor(twice), compiled(t, c.src))
			defer s.stop()
			started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{
				Namespace: "default", WorkflowType: "wide", Input: raw(`{"xs":` + list + `}`),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.follow(started.Run.WorkflowID); err != nil {
				t.Fatal(err)
			}
			d, err := s.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(started.Run.WorkflowID)})
			if err != nil || d.Failure == nil || d.Failure.Code != c.code {
				t.Errorf("%v %s %+v, want %s", err, d.Status, d.Failure, c.code)
			}
		})
	}
}

// nested writes a document whose regions, subflows and loops each stand twenty deep.
func nested(depth int) string {
	var b strings.Builder
	b.WriteString("//! Nests.\nworkflow nests\n  outcome done: type [Int], route success\n\nworker w\n  action twice(x: Int) -> Int\n\n")
	for i := range depth { // the last one first: each calls the one before
		fmt.Fprintf(&b, "subflow level%d(x: Int)\n  outcome out: type Int\n\n", i)
		if i == 0 {
			b.WriteString("  step only\n    twice(x: x) -> y\n    route out(y)\n\n")
			continue
		}
		fmt.Fprintf(&b, "  step open\n    distribute z in [x, x]\n\n  step in\n    level%d(x: z) -> y\n\n  step close\n    collect y -> ys\n    route out(ys[0])\n\n", i-1)
	}
	src := strings.ReplaceAll(b.String(), "distribute z in [x, x]", "distribute z in [x]")
	b.Reset()
	b.WriteString(strings.ReplaceAll(src, "step in\n", "step inner\n"))
	for i := range depth {
		fmt.Fprintf(&b, "step open%d\n  distribute x%d in [%d]\n\n", i, i, i)
	}
	fmt.Fprintf(&b, "step deep\n  level%d(x: x%d) -> y\n\n", depth-1, depth-1)
	for i := depth - 1; i >= 0; i-- {
		from := "y"
		if i < depth-1 {
			from = fmt.Sprintf("one%d", i+1)
		}
		fmt.Fprintf(&b, "step close%d\n  collect %s -> many%d\n  many%d[0] -> one%d\n\n", i, from, i, i, i)
	}
	b.WriteString("step loops\n")
	for i := range depth {
		fmt.Fprintf(&b, "%sloop v%d = %d counting n%d\n", strings.Repeat("  ", i+1), i, i, i)
	}
	fmt.Fprintf(&b, "%stwice(x: n%d) -> v%d\n", strings.Repeat("  ", depth+1), depth-1, depth-1)
	for i := depth - 1; i >= 0; i-- {
		pad := strings.Repeat("  ", i+2)
		if i < depth-1 {
			fmt.Fprintf(&b, "%sv%d -> v%d\n", pad, i+1, i)
		}
		fmt.Fprintf(&b, "%suntil true\n%smax 1\n", pad, pad)
	}
	b.WriteString("\n  outcome over: otherwise, route done([one0, v0])\n")
	return b.String()
}

func TestTwentyLevelsOfEachBlockRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := compiled(t, nested(20))
		s := serve(t, newStore(), options{}, executor(twice), p)
		defer s.stop()
		started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: "nests"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.follow(started.Run.WorkflowID); err != nil {
			t.Fatal(err)
		}
		d, err := s.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(started.Run.WorkflowID)})
		if err != nil || string(d.Result) != "[38,0]" {
			t.Errorf("%v %s %s %+v", err, d.Status, d.Result, d.Failure)
		}
		replays(t, p, machine.Options{}, s.history(started.Run.WorkflowID))
	})
}
