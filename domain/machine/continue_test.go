package machine_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
)

func limited(tb testing.TB, p *plan.Plan, limit int) *run {
	tb.Helper()
	r := newRun(tb, p)
	r.opts = machine.Options{HistoryLimit: limit}
	r.s = machine.NewWith(r.opts)
	return r
}

// play answers everything that a run waits for, the oldest first, always in the same way.
func (r *run) play(facts int) {
	r.t.Helper()
	for i := range facts {
		if r.s.Status() != history.Running || len(r.hist) > 1500 {
			return
		}
		r.after(time.Second)
		open, waits := r.s.OpenActivities(), r.s.Waits()
		switch {
		case i%3 == 0 && len(open) > 0 || len(waits) == 0 && len(open) > 0:
			r.started(open[0].ID)
			if open[0].Type == "b" && i%2 == 0 {
				r.fact(history.ActivityFailed{ActivityID: open[0].ID, Attempt: open[0].Attempt, Class: "terminal", Message: "m"})
				continue
			}
			r.fact(history.ActivityCompleted{ActivityID: open[0].ID, Attempt: open[0].Attempt, Result: []byte(`"r"`)})
		case len(waits) == 0:
			return
		case waits[0].Child >= 0:
			r.fact(history.ChildCompleted{Child: waits[0].Child, Result: []byte(`"k"`)})
		case waits[0].TimerID >= 0 && (waits[0].Kind == machine.WaitTimer || i%2 == 0):
			r.fact(history.TimerFired{TimerID: waits[0].TimerID})
		default:
			r.signal(fmt.Sprint("s", i), waits[0].Name, `"q"`)
		}
	}
}

var ordinals = regexp.MustCompile(`"(activity_id|child|timer_id)":\d+,?|"child_workflow_id":"[^"]*",|,"timer_id":\d+`)

// course is what a run did, without what a new generation counts anew.
func (r *run) course() []string {
	var course []string
	for _, e := range r.hist {
		workflow := strings.Contains(string(e.Data), `"purpose":"workflow"`)
		if e.Type != "WorkflowStarted" && e.Type != "WorkflowContinuedAsNew" && !workflow {
			course = append(course, e.Type+" "+ordinals.ReplaceAllString(string(e.Data), ""))
		}
	}
	return course
}

func (r *run) generations() int {
	n := 0
	for _, e := range r.hist {
		if e.Type == "WorkflowStarted" {
			n++
		}
	}
	return n
}

// engine 15: whatever the plan, a chain of short generations does what one long run does, and folds as a chain, run by run,
// and under another limit.
func TestChainDoesWhatOneRunDoes(t *testing.T) {
	t.Parallel()
	chains := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := randomPlan(rt)
		limit := rapid.IntRange(1, 30).Draw(rt, "limit")
		whole := newRun(t, p)
		whole.begin(`{"x":"p","xs":["p","q","p"]}`)
		whole.play(60)
		chain := limited(t, p, limit)
		chain.begin(`{"x":"p","xs":["p","q","p"]}`)
		chain.play(60)
		a, b := whole.course(), chain.course()
		if len(whole.hist) > 1500 || len(chain.hist) > 1500 { // cut at different places
			n := min(len(a), len(b))
			a, b = a[:n], b[:n]
		} else if whole.s.Status() != chain.s.Status() || whole.s.Outcome() != chain.s.Outcome() {
			rt.Fatalf("the run is %s, the chain %s", whole.s.Status(), chain.s.Status())
		}
		if diff := cmp.Diff(a, b); diff != "" {
			rt.Fatalf("the chain of %d did something else: %s", chain.generations(), diff)
		}
		if chain.generations() > 1 {
			chains++
		}
		chain.foldsInParts(rt)
	})
	if chains < 10 {
		t.Errorf("only %d chains", chains)
	}
}

func (r *run) foldsInParts(rt *rapid.T) {
	last := 0
	for i, e := range r.hist {
		if e.Type == "WorkflowStarted" {
			last = i
		}
	}
	for _, hist := range [][]history.Recorded{r.hist, r.hist[last:]} {
		s, err := replayedWith(r.p, r.opts, stored(hist))
		if err != nil {
			rt.Fatalf("%v\n%s", err, r.text.String())
		}
		if !reflect.DeepEqual(s, r.s) {
			rt.Fatalf("the folded state differs\n%s", r.text.String())
		}
	}
	if _, err := replayedWith(r.p, machine.Options{HistoryLimit: r.opts.HistoryLimit + 7}, stored(r.hist)); err != nil {
		rt.Fatal(err)
	}
}

// engine 15, engine 8: a limit of 20 with 1,000 signals in flight: all are consumed, once and in order, and none is taken twice.
func TestSignalsSurviveTheSwitch(t *testing.T) {
	t.Parallel()
	p := compiled(t, head+`step s
  loop acc = "" counting n
    wait word -> w
    acc + w -> acc
    until n == 1000
    max 1000

  outcome fine: otherwise, route done(acc)
`)
	r := limited(t, p, 20)
	r.begin(xs3)
	want := ""
	for i := range 1000 {
		id := fmt.Sprint("id", i)
		r.signal(id, "word", fmt.Sprintf(`"%d,"`, i))
		want += fmt.Sprintf("%d,", i)
		if res, err := r.try(history.SignalReceived{SignalID: "id0", SignalName: "word", Payload: []byte(`"x"`)}); r.s.Status() == history.Running &&
			(err != nil || !res.Ignored) {
			t.Fatalf("signal 0 again after %d: %+v, %v", i, res, err)
		}
	}
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"`+want+`"` {
		t.Errorf("result %s", got)
	}
	if n := r.generations(); n < 90 {
		t.Errorf("%d generations", n)
	}
}

func TestBufferedSignalsAreCarried(t *testing.T) {
	t.Parallel()
	r := limited(t, compiled(t, head+`step one
  a(x: xs[0]) -> y

step two
  wait word -> w
  wait word -> v
  route done(w + v)
`), 20)
	r.begin(xs3)
	id := r.id("a").ID
	for i := range 30 {
		r.signal(fmt.Sprint(i), "word", fmt.Sprintf(`"%d"`, i))
	}
	if r.generations() != 1 {
		t.Error("the generation ended while an activity was open")
	}
	before := len(r.hist)
	r.doneID(id, `"y"`)
	if e := r.hist[before+2]; e.Type != "WorkflowContinuedAsNew" || e.RunID != runID {
		t.Errorf("%+v", e)
	}
	next, _ := r.hist[before+3].Event()
	started, _ := next.(history.WorkflowStarted)
	if !started.Deadline.Equal(r.s.Deadline()) || started.ParentRunID != runID || string(started.Input) != xs3 || started.StartedBy != "operator" {
		t.Errorf("started %+v", started)
	}
	if r.generations() != 2 || r.s.Outcome() != "done" || string(r.s.Result()) != `"01"` {
		t.Errorf("%d generations, %s", r.generations(), r.text.String())
	}
	r.refolds()
}

// A loop that never waits does not chain generations for ever.
func TestEndlessComputationEndsAcrossGenerations(t *testing.T) {
	t.Parallel()
	r := limited(t, compiled(t, head+`step s
  loop y = "" counting n
    loop z = y counting m
      z + "" -> z
      until false
      max 10000
    z -> y
    until false
    max 10000

  outcome fine: otherwise, route done(y)
`), 5000)
	r.begin(xs3)
	if f := r.s.Failure(); r.s.Status() != history.Failed || f.Code != "bound_out_of_range" {
		t.Errorf("%s %+v", r.s.Status(), f)
	}
}

func TestCarriedStateThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	r := limited(t, compiled(t, head+`step one
  a(x: xs[0]) -> y

step two
  distribute x in xs

step three
  wait word -> w

step four
  collect w -> ws
  route done(ws[0])
`), 10)
	r.begin(xs3)
	r.done("a", `"y"`)
	r.signal("1", "word", `"w"`)
	r.signal("2", "word", `"w"`)
	var carried []byte
	for _, e := range r.hist {
		if ev, err := e.Event(); err == nil {
			if s, ok := ev.(history.WorkflowStarted); ok && s.Carried != nil {
				carried = s.Carried
			}
		}
	}
	if carried == nil {
		t.Fatalf("no second generation\n%s", r.text.String())
	}
	attempt := func(text string) {
		fact := history.Record(1, r.at, workflowID, runID, history.WorkflowStarted{Input: []byte(xs3), Carried: []byte(text)})
		_, err := machine.Advance(r.p, machine.New(), fact)
		var illegal *machine.Illegal
		if err != nil && !errors.As(err, &illegal) {
			t.Errorf("%v", err)
		}
	}
	for i := range carried { // cut and bent at every place: a refusal or a run, never a panic
		attempt(string(carried[:i]))
		attempt(string(carried[:i]) + "9" + string(carried[i+1:]))
		attempt(string(carried[:i]) + "-" + string(carried[i+1:]))
	}
	for _, text := range []string{`null`, `{}`, `[]`, `{"envs":[],"flow":{}}`} {
		fact := history.Record(1, r.at, workflowID, runID, history.WorkflowStarted{Input: []byte(xs3), Carried: []byte(text)})
		if _, err := machine.Advance(r.p, machine.New(), fact); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
