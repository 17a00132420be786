package machine_test

import (
	"strings"
	"testing"
	"time"

	"aion/domain/history"
)

// awl 7.3: a step beyond its visits fails; the failure is the step's.
func TestVisitBeyondTheBoundFails(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()
  route s

  on failure
    route lost("too often")

  max 2 visits
`), xs3)
	r.done("c", `null`)
	wantTypes(t, r.done("c", `null`), "OutcomeTaken StepEntered StepFailed OutcomeTaken WorkflowFailed")
	r.ends(history.Failed, "lost")
	r.golden("visits")
}

// awl 7.3: a step that others wait for and that is routed to as well: the route waits until each named step has completed
// once, and its environment is theirs, overlaid by the route's.
func TestRouteIntoAStepWithAfterWaitsForItsNames(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step fan
  c()

step left after fan
  a(x: "l") -> y

step right after fan
  b(x: "r") -> z

step meet after left, right
  a(x: y + z) -> both

  outcome again: when both == "once", route meet
  outcome stop: otherwise, route done(both)
  max 5 visits
`), xs3)
	r.done("c", `null`)
	r.done("b", `"Z"`)
	r.done("a", `"Y"`)
	r.done("a", `"once"`)
	r.done("a", `"twice"`)
	r.ends(history.Completed, "done")
	r.golden("join_routed")
}

// awl 7.3: a second activation of an active step waits until the first has ended.
func TestSecondActivationWaits(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step fan
  c()

step left after fan
  a(x: "l") -> y
  route hold

step right after fan
  b(x: "r") -> z
  route hold

step hold
  wait word -> w

  outcome more: when w == "more", route rest
  outcome stop: otherwise, route done(w)

step rest
  sleep 1h
  route done("late")
`), xs3)
	r.done("c", `null`)
	r.done("a", `"Y"`)
	wantTypes(t, r.done("b", `"Z"`), "OutcomeTaken")
	wantTypes(t, r.signal("1", "word", `"more"`), "OutcomeTaken StepEntered StepEntered TimerStarted")
	r.signal("2", "word", `"stop"`)
	r.ends(history.Completed, "done")
	r.golden("second_activation")
}

// awl 7.2: nothing left to do, and a step that waits for ever.
func TestRunWithNothingLeftHasNoOutcome(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step fan
  c()

step left after fan
  a(x: "l") -> y
  route spare

  on failure
    route aside

step right after fan
  c()

step aside
  c()

step spare
  route done("ok")

step meet after left, right
  route done(y)

step never after left, aside
  route lost("never")
`), xs3)
	r.done("c", `null`)
	r.failed("a", "boom")
	r.done("c", `null`)
	wantTypes(t, r.done("c", `null`), "WorkflowFailed")
	if f := r.s.Failure(); f.Code != "no_outcome" || !strings.HasSuffix(f.Message, "still waiting: meet, never") || f.Step != "" {
		t.Errorf("failure %+v", f)
	}
	r.ends(history.Failed, "")
}

// awl 7.5: several waiters are served in activation order, each payload once, the oldest first.
func TestSignalsAreServedInOrder(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  fork x in xs
    wait word -> w
  join -> ws
  ws[0] + ws[1] + ws[2] |> route done
`), xs3)
	r.signal("1", "word", `"a"`)
	r.signal("2", "word", `"b"`)
	if res, err := r.try(history.SignalReceived{SignalID: "2", SignalName: "word", Payload: []byte(`"x"`)}); err != nil || !res.Ignored {
		t.Errorf("a repeated signal: %+v, %v", res, err)
	}
	r.signal("3", "word", `"c"`)
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"abc"` {
		t.Errorf("result %s", got)
	}
}

func TestBufferedSignalsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()
  wait word -> one
  wait word timeout 1s -> two
  wait word timeout 1s -> three
  route next

step next
  outcome late: when three is absent and two is present, route done(one + two)
  outcome odd: otherwise, route lost("odd")
`), xs3)
	r.signal("1", "word", `"a"`)
	r.signal("2", "word", `"b"`)
	wantTypes(t, r.done("c", `null`), "TimerStarted") // only the third wait has a timer
	r.after(time.Second).fires(1)
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"ab"` {
		t.Errorf("result %s", got)
	}
}

// engine 11: the workflow timeout ends the run, and no `on failure` block runs.
func TestWorkflowTimeoutEndsTheRun(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()

  on failure
    route lost("handled")

  outcome fine: otherwise, route done("ok")
`), xs3)
	if !r.s.Deadline().Equal(r.at.Add(time.Hour)) {
		t.Errorf("deadline %s", r.s.Deadline())
	}
	wantTypes(t, r.after(time.Hour).fires(0), "WorkflowTimedOut")
	r.ends(history.TimedOut, "")
}

// engine 9: cancel ends the run at once; reports of what was in flight are late.
func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()
  route done("ok")
`), xs3)
	r.started(0)
	wantTypes(t, r.fact(history.WorkflowCancelled{By: "operator", Reason: "enough"}), "")
	for _, e := range []history.Event{
		history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: []byte(`null`)},
		history.TimerFired{TimerID: 0},
		history.ActivityStarted{ActivityID: 0, Attempt: 1},
		history.ChildCompleted{Child: 0},
	} {
		if res, err := r.try(e); err != nil || !res.Ignored || len(res.Derived) > 0 {
			t.Errorf("%s after the end: %+v, %v", e.Type(), res, err)
		}
	}
	r.ends(history.Cancelled, "")
}

// awl 7.6: a pipe runs its stages left to right; a stage may call.
func TestPipeCallsInItsStages(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  xs[1] + "?" |> a |> b -> y
  y + "!" |> a |> route done
`), xs3)
	r.done("a", `"1"`)
	r.done("b", `"2"`)
	r.done("a", `"3"`)
	r.ends(history.Completed, "done")
	r.golden("pipe")
}

// awl 7.7: nested loops and forks have a scope each.
func TestNestedScopes(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  loop word_so_far = "" counting n
    fork
      a(x: word_so_far) -> l
      loop inner = "i"
        b(x: inner) -> inner
        until inner == "stop"
        max 2
    join
    l + inner -> word_so_far
    until n == 2
    max 3

  outcome fine: otherwise, route done(word_so_far)
`), xs3)
	r.done("a", `"A"`)
	r.done("b", `"go"`)
	r.done("b", `"stop"`)
	r.done("b", `"stop"`)
	r.done("a", `"B"`)
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"Bstop"` {
		t.Errorf("result %s", got)
	}
	r.golden("nested_scopes")
}
