package machine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/machine"
)

const callThenWait = head + `step s
  a(x: xs[0]) -> y
  wait word timeout 1h -> w
  route done(y)
`

// engine 5: orders that no history can hold are refused by name, and late reports are dropped.
func TestIllegalFactsAreRefused(t *testing.T) {
	t.Parallel()
	open := func(r *run) { r.started(0) }
	cases := []struct {
		name  string
		setup func(*run)
		fact  history.Event
		late  bool
	}{
		{"a second start", nil, history.WorkflowStarted{Input: []byte(`{}`)}, false},
		{"a derived event", nil, history.StepEntered{Step: "s", Visit: 1}, false},
		{"a start of nothing", nil, history.ActivityStarted{ActivityID: 1, Attempt: 1}, false},
		{"a negative activity", nil, history.ActivityStarted{ActivityID: -1, Attempt: 1}, false},
		{"a skipped attempt", nil, history.ActivityStarted{ActivityID: 0, Attempt: 2}, false},
		{"attempt 0", nil, history.ActivityStarted{ActivityID: 0, Attempt: 0}, true},
		{"a result before its start", nil, history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: []byte(`"x"`)}, false},
		{"a failure before its start", nil, history.ActivityFailed{ActivityID: 0, Attempt: 1}, false},
		{"an unknown timer", nil, history.TimerFired{TimerID: 9}, false},
		{"an unknown child", nil, history.ChildCompleted{Child: 0}, false},
		{"an undeclared signal", nil, history.SignalReceived{SignalID: "x", SignalName: "no", Payload: []byte(`1`)}, false},
		{"a payload that is no JSON", nil, history.SignalReceived{SignalID: "x", SignalName: "word", Payload: []byte(`{`)}, false},
		{"a resume of a running run", nil, history.WorkflowResumed{By: "x"}, false},
		{"a reopening of a running run", nil, history.WorkflowReopened{By: "x"}, false},
		{"a second result", func(r *run) { r.doneID(0, `"x"`) }, history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: []byte(`1`)}, true},
		{"a second pause", func(r *run) { r.fact(history.WorkflowPaused{By: "x"}) }, history.WorkflowPaused{By: "x"}, false},
		{"a parked attempt begins again", open, history.ActivityStarted{ActivityID: 0, Attempt: 1}, false},
		{"a result of an earlier attempt", func(r *run) {
			r.started(0)
			r.fact(history.ActivityFailed{ActivityID: 0, Attempt: 1, Class: "lost", RetryAt: r.at})
			r.started(0)
		}, history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: []byte(`"x"`)}, true},
		{"a cancel after the end", func(r *run) { r.fact(history.WorkflowCancelled{}) }, history.WorkflowCancelled{}, false},
		{"a pause after the end", func(r *run) { r.fact(history.WorkflowCancelled{}) }, history.WorkflowPaused{}, false},
		{
			"a signal after the end", func(r *run) { r.fact(history.WorkflowCancelled{}) },
			history.SignalReceived{SignalID: "x", SignalName: "word", Payload: []byte(`"x"`)},
			false,
		},
		{
			"a result after the end", func(r *run) { r.started(0); r.fact(history.WorkflowCancelled{}) },
			history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: []byte(`"x"`)},
			true,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, compiled(t, callThenWait), xs3)
			if c.setup != nil {
				c.setup(r)
			}
			res, err := r.try(c.fact)
			if c.name == "a parked attempt begins again" {
				if err != nil || res.Ignored {
					t.Errorf("%+v, %v", res, err)
				}
				return
			}
			if c.late {
				if err != nil || !res.Ignored || len(res.Derived) > 0 {
					t.Errorf("%+v, %v", res, err)
				}
				return
			}
			var illegal *machine.Illegal
			if !errors.As(err, &illegal) || illegal.Fact != c.fact.Type() || illegal.Seq != int64(len(r.hist))+1 {
				t.Errorf("%+v, %v", res, err)
			}
			if domain.CodeOf(err) != domain.CodeInvalidState {
				t.Errorf("code %s", domain.CodeOf(err))
			}
		})
	}
}

func TestRunBeginsWithItsStart(t *testing.T) {
	t.Parallel()
	p := compiled(t, callThenWait)
	var illegal *machine.Illegal
	if _, err := newRun(t, p).try(history.TimerFired{}); !errors.As(err, &illegal) {
		t.Errorf("a timer first: %v", err)
	}
	if _, err := newRun(t, p).try(history.WorkflowStarted{Input: []byte(`[]`)}); !errors.As(err, &illegal) {
		t.Errorf("an input that is no object: %v", err)
	}
	fact := history.Record(1, time.Time{}, workflowID, "no-uuid", history.WorkflowStarted{Input: []byte(`{}`)})
	if _, err := machine.Advance(p, machine.New(), fact); !errors.As(err, &illegal) {
		t.Errorf("a run id that is no UUID: %v", err)
	}
	r := start(t, p, xs3)
	other := history.Record(9, r.at, workflowID, "0198a000-0000-7000-8000-00000000000f", history.ActivityStarted{Attempt: 1})
	if _, err := machine.Advance(p, r.s, other); !errors.As(err, &illegal) || !strings.Contains(err.Error(), "0f") {
		t.Errorf("a fact of another run: %v", err)
	}
	unknown := history.Recorded{Seq: 9, At: r.at, WorkflowID: workflowID, RunID: runID, Type: "Nonsense", Data: []byte(`{}`)}
	if _, err := machine.Advance(p, r.s, unknown); domain.CodeOf(err) != domain.CodeBackend || !strings.Contains(err.Error(), "Nonsense") {
		t.Errorf("an unknown event: %v", err)
	}
}

// engine 10: a paused run records facts and derives nothing until it is resumed.
func TestPauseHoldsAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  fork x in xs
    a(x: x) -> y
    wait word timeout 1h -> w
    b(x: y)
  join -> ys
  route done(ys[0])
`), xs3)
	r.doneID(0, `"P"`)
	r.started(1)
	wantTypes(t, r.fact(history.WorkflowPaused{By: "operator"}), "")
	if r.s.Status() != history.Paused {
		t.Errorf("status %s", r.s.Status())
	}
	wantTypes(t, r.doneID(1, `"Q"`), "")
	wantTypes(t, r.signal("s1", "word", `"one"`), "")
	if res, err := r.try(history.TimerFired{TimerID: 1}); err != nil || !res.Ignored {
		t.Errorf("the timer that lost against the signal: %+v, %v", res, err)
	}
	wantTypes(t, r.signal("s2", "word", `"two"`), "")
	r.refolds()
	// The strands go on in the order in which they became ready.
	wantTypes(t, r.fact(history.WorkflowResumed{By: "operator"}), "ActivityScheduled TimerCancelled ActivityScheduled")
	r.refolds()
	r.golden("pause")
}

func TestTimeoutDuringAPauseEndsTheRunAtItsResume(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, callThenWait), xs3)
	r.fact(history.WorkflowPaused{By: "operator"})
	wantTypes(t, r.after(time.Hour).fires(0), "")
	if res, err := r.try(history.TimerFired{TimerID: 0}); err != nil || !res.Ignored {
		t.Errorf("%+v, %v", res, err)
	}
	wantTypes(t, r.fact(history.WorkflowResumed{By: "operator"}), "WorkflowTimedOut")
	r.ends(history.TimedOut, "")
}

// engine 10: a reopened run dispatches again what failed; what is done stays done.
func TestReopenRunsTheFailedStatementAgain(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  c()
  fork x in xs
    a(x: x)
  join -> ys
  route done(ys[0] + ys[1] + ys[2])
`), xs3)
	r.done("c", `null`)
	r.doneID(1, `"P"`)
	r.failed("a", "boom")
	from := int64(len(r.hist))
	if r.s.Status() != history.Failed {
		t.Fatalf("status %s", r.s.Status())
	}
	var illegal *machine.Illegal
	wrong := newRun(t, r.p)
	wrong.s, _ = replayed(r.p, r.hist)
	wrong.hist = r.hist
	if _, err := wrong.try(history.WorkflowReopened{By: "x", FromSeq: 3}); !errors.As(err, &illegal) {
		t.Errorf("a reopening from another event: %v", err)
	}
	wantTypes(t, r.after(time.Minute).fact(history.WorkflowReopened{By: "x", Reason: "again", FromSeq: from}),
		"TimerStarted ActivityScheduled ActivityScheduled")
	if !r.s.Deadline().Equal(r.at.Add(time.Hour)) {
		t.Errorf("deadline %s", r.s.Deadline())
	}
	r.doneID(4, `"R"`)
	r.doneID(5, `"Q"`)
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"PQR"` {
		t.Errorf("result %s", got)
	}
	r.golden("reopen_failed")
}

func TestReopenAfterAFailureRouteEntersTheStepAgain(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step first
  c()

step s
  a(x: xs[0]) -> y

  on failure
    route lost("handled")

  outcome fine: otherwise, route done(y)
`), xs3)
	r.done("c", `null`)
	r.failed("a", "boom")
	wantTypes(t, r.fact(history.WorkflowReopened{FromSeq: int64(len(r.hist))}), "TimerStarted StepEntered ActivityScheduled")
	r.done("a", `"A"`)
	r.ends(history.Completed, "done")
	r.golden("reopen_routed")
}

func TestReopenAfterCancelAndTimeoutWaitsAgain(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step s
  fork
    sleep 1m
    wait word timeout 2m -> w
    a(x: xs[0]) -> y
  join
  route done(y)
`), xs3)
	r.started(0)
	r.fact(history.WorkflowCancelled{})
	wantTypes(t, r.fact(history.WorkflowReopened{FromSeq: int64(len(r.hist))}),
		"TimerStarted TimerStarted TimerStarted ActivityScheduled")
	r.refolds()
	wantTypes(t, r.fires(3), "WorkflowTimedOut")
	r.fact(history.WorkflowReopened{FromSeq: int64(len(r.hist))})
	if res, err := r.try(history.ActivityCompleted{ActivityID: 1, Attempt: 1, Result: []byte(`"x"`)}); err != nil || !res.Ignored {
		t.Errorf("a result of the stopped attempt: %+v, %v", res, err)
	}
	r.done("a", `"A"`)
	r.signal("1", "word", `"w"`)
	r.fires(7)
	r.ends(history.Completed, "done")
	r.golden("reopen_waits")
}

func TestReopenOfARunWithNothingLeftFailsAgain(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, head+`step open
  distribute x in xs

step work
  a(x: x) -> y
  route shut

  on failure
    route idle

step idle
  c()

step never after work, idle
  route shut

step shut
  collect y -> ys
  route done(ys[0])
`), `{"xs":["p"]}`)
	r.failed("a", "boom")
	wantTypes(t, r.done("c", `null`), "RegionSlot RegionClosed StepEntered StepFailed WorkflowFailed")
	if f := r.s.Failure(); f.Code != "no_outcome" || *f.Scope != "open[0]" {
		t.Errorf("%+v", f)
	}
	wantTypes(t, r.fact(history.WorkflowReopened{FromSeq: int64(len(r.hist))}), "TimerStarted StepEntered ActivityScheduled")
	r.done("a", `"A"`)
	r.ends(history.Completed, "done")
	r.golden("reopen_instance")
}
