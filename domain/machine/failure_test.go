package machine_test

import (
	"strings"
	"testing"

	"aion/domain/history"
)

const head = `//! A test document.
workflow case
  input xs: [String]
  signal word: String
  outcome done: type String, route success
  outcome lost: type String, route failure

worker w
  action a(x: String) -> String
  action b(x: String) -> String
  action c() -> Nil

`

const xs3 = `{"xs":["p","q","r"]}`

func types(events []history.Event) string {
	names := make([]string, 0, len(events))
	for _, e := range events {
		names = append(names, e.Type())
	}
	return strings.Join(names, " ")
}

func wantTypes(t *testing.T, got []history.Event, want string) {
	t.Helper()
	if types(got) != want {
		t.Errorf("derived %s\nwant    %s", types(got), want)
	}
}

// awl 7.7: a failing branch cancels the others and fails the step, which handles it.
func TestFailedBranchCancelsItsSiblings(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  fork x in xs
    a(x: x) -> y
    sleep 1s
    b(x: y)
  join -> ys
  route done("ok")

  on failure
    wait word -> why
    route lost(why)
`), xs3)
	r.doneID(0, `"P"`)
	wantTypes(t, r.failed("a", "boom"), "TimerCancelled ActivityCancelled StepFailed")
	late := history.ActivityCompleted{ActivityID: 2, Attempt: 1, Result: []byte(`"R"`)}
	if res, err := r.try(late); err != nil || !res.Ignored {
		t.Errorf("a late result: %+v, %v", res, err)
	}
	r.signal("s", "word", `"why"`)
	r.ends(history.Failed, "lost")
	r.golden("fork_failed")
}

// awl 7.2: the run that fails records nothing about what is in flight.
func TestUnhandledFailureFailsTheRun(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  fork x in xs
    a(x: x)
  join -> ys
  route done("ok")
`), xs3)
	wantTypes(t, r.failed("a", "boom"), "StepFailed WorkflowFailed")
	f := r.s.Failure()
	if f == nil || f.Code != "activity_failed" || f.Message != "retryable:boom" || f.Step != "s" || *f.Scope != "s.fork1[0]" || *f.ActivityID != 0 {
		t.Errorf("failure %+v", f)
	}
	if len(r.s.OpenActivities()) != 0 || len(r.s.Waits()) != 0 {
		t.Error("an ended run has open parts")
	}
	r.ends(history.Failed, "")
}

func TestFailureInAHandlerFailsTheFlow(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()

  on failure
    xs[7] -> x
    route lost(x)

  outcome fine: otherwise, route done("ok")
`), xs3)
	wantTypes(t, r.failed("c", "boom"), "StepFailed StepFailed WorkflowFailed")
	if f := r.s.Failure(); f.Code != "index_out_of_range" || !strings.Contains(f.Message, "7") {
		t.Errorf("failure %+v", f)
	}
	r.ends(history.Failed, "")
}

// awl 7.9: guards and payloads of clauses belong to the step.
func TestFailureInAClauseGoesToTheHandler(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()

  on failure
    route lost("no such item")

  outcome fine: otherwise, route done(xs[9])
`), xs3)
	wantTypes(t, r.done("c", `null`), "StepFailed OutcomeTaken WorkflowFailed")
	r.ends(history.Failed, "lost")
}

// The invalid result of an action has its own code.
func TestInvalidResultKeepsItsCode(t *testing.T) {
	t.Parallel()
	p := compiled(t, head+`step s
  c()
  route done("ok")
`)
	r := start(t, p, xs3)
	r.started(0)
	r.fact(history.ActivityFailed{ActivityID: 0, Attempt: 1, Class: "terminal", Code: "result_invalid", Message: "/x is missing"})
	if f := r.s.Failure(); f.Code != "result_invalid" || f.Message != "terminal:/x is missing" {
		t.Errorf("failure %+v", f)
	}
	r = start(t, p, xs3)
	r.done("c", `{"a":`)
	if f := r.s.Failure(); f.Code != "result_invalid" || *f.ActivityID != 0 {
		t.Errorf("failure %+v", f)
	}
}

const regionDoc = head + `step open
  distribute x in xs

step work
  a(x: x) -> y

step more
  b(x: y) -> z

step shut
  collect z -> zs
%s
  outcome fine: otherwise, route done(zs[0])
`

func region(handler string) string { return strings.Replace(regionDoc, "%s", handler, 1) }

// awl 7.8: a strict region fails with its first instance; the collect step handles it.
func TestStrictRegionFailsItsCollect(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, region("\n  on failure\n    route lost(\"region\")\n")), xs3)
	r.doneID(0, `"P"`)
	r.done("b", `"PP"`)
	wantTypes(t, r.failed("a", "boom"),
		"StepFailed RegionSlot ActivityCancelled RegionClosed StepEntered StepFailed OutcomeTaken WorkflowFailed")
	r.ends(history.Failed, "lost")
	r.golden("region_strict")
}

func TestStrictRegionWithoutAHandlerFailsTheRun(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, region("")), xs3)
	wantTypes(t, r.failed("a", "boom"), "StepFailed RegionSlot RegionClosed StepEntered StepFailed WorkflowFailed")
	r.ends(history.Failed, "")
	r.golden("region_unhandled")
}

func TestEmptyRegionGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, strings.Replace(region(""), "zs[0]", `"none"`, 1)), `{"xs":[]}`)
	r.ends(history.Completed, "done")
	r.golden("region_empty")
}

// awl 7.8: what is left of an instance that reached the collect is cancelled; regions nest like brackets.
func TestInstanceEndsAtItsCollect(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step outer
  distribute x in xs

step one after outer
  a(x: x) -> y

step two after outer
  b(x: x) -> z
  route unused

step unused
  x -> first
  route shut

step inner after one
  distribute v in [y, y]

step deep
  a(x: v) -> w

step shut_inner
  collect w -> ws
  ws[0] -> first

step shut
  collect first -> firsts
  route done(firsts[0])
`), `{"xs":["p"]}`)
	r.done("a", `"P"`)
	r.doneID(3, `"W1"`)
	wantTypes(t, r.done("a", `"W0"`),
		"RegionSlot RegionClosed StepEntered ActivityCancelled RegionSlot RegionClosed StepEntered OutcomeTaken WorkflowCompleted")
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"W0"` {
		t.Errorf("result %s", got)
	}
	r.golden("region_nested")
}

// awl 7.8: an instance with nothing left to do fails as no_outcome.
func TestInstanceWithoutAnEndFails(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step outer
  distribute x in xs

step one
  a(x: x) -> y
  route two

  on failure
    route idle

step idle
  c()

step never after two, idle
  route shut

step two
  route shut

step shut
  collect y? -> ys
  ys |> filter(is present) -> here

  outcome some: when here is empty, route lost("none")
  outcome all: otherwise, route done(here[0])
`), `{"xs":["p","q"]}`)
	r.failed("a", "boom")
	r.done("a", `"Q"`)
	r.done("c", `null`)
	r.ends(history.Completed, "done")
	r.golden("region_no_outcome")
}

// A failure inside a subflow call ends the rest of it and fails the calling step.
func TestFailedSubflowFailsItsCaller(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`subflow sub(x: String)
  outcome out: type String

  step first
    c()

  step left after first
    a(x: x) -> y

  step right after first
    b(x: x) -> z

  step both after left, right
    route out(y + z)

step s
  sub(x: xs[0]) -> got

  on failure
    route lost("sub")

  outcome fine: otherwise, route done(got)
`), xs3)
	r.done("c", `null`)
	wantTypes(t, r.failed("a", "boom"),
		"StepFailed ActivityCancelled SubflowLeft StepFailed OutcomeTaken WorkflowFailed")
	r.ends(history.Failed, "lost")
	r.golden("subflow_failed")
}

// A failure in a substep is the outer step's.
func TestFailedSubstepFailsTheOuterStep(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  step first
    a(x: "1") -> y

  step second
    b(x: y) -> z

  on failure
    route lost("group")

  outcome fine: otherwise, route done(z)
`), xs3)
	r.done("a", `"1"`)
	wantTypes(t, r.failed("b", "boom"), "StepFailed StepFailed OutcomeTaken WorkflowFailed")
	r.ends(history.Failed, "lost")
	r.golden("group_failed")
}
