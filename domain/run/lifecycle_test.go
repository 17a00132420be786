package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/run"
)

// Every end but a success says why: also one that somebody else decided, and for the parent of a child in the same words.
func TestEachEndThatIsNoSuccessHasAFailureOrAnOutcome(t *testing.T) {
	t.Parallel()
	own := &history.Failure{Code: "c", Message: "m"}
	for name, c := range map[string]struct {
		end  history.Event
		want *history.Failure
	}{
		"completed":        {history.WorkflowCompleted{Outcome: "o", Result: []byte(`1`)}, nil},
		"failure route":    {history.WorkflowFailed{Outcome: "o", Result: []byte(`1`)}, nil},
		"failed":           {history.WorkflowFailed{Failure: own}, own},
		"cancelled":        {history.WorkflowCancelled{By: "bo", Reason: "no longer wanted"}, &history.Failure{Code: "cancelled", Message: "no longer wanted"}},
		"without a reason": {history.WorkflowCancelled{By: "bo"}, &history.Failure{Code: "cancelled", Message: "no reason was given"}},
		"timed out":        {history.WorkflowTimedOut{TimeoutMS: 90_000}, &history.Failure{Code: "timed_out", Message: "the run reached its timeout of 1m30s"}},
		"continued":        {history.WorkflowContinuedAsNew{}, nil},
	} {
		x := newTape()
		begin := started().(history.WorkflowStarted)
		begin.Parent = &history.Parent{WorkflowID: "p", RunID: "r", Child: 3}
		if err := x.add(begin, c.end); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, x.run.Failure()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, act := range x.acts.List {
			posted, ok := act.(history.Posted)
			if !ok {
				continue
			}
			end, err := run.DecodeMessage[run.ChildEnd](posted.Message)
			if err != nil {
				t.Fatal(err)
			}
			if end.Failed != nil {
				if diff := cmp.Diff(c.want, end.Failed.Failure); diff != "" {
					t.Errorf("%s, for the parent: %s", name, diff)
				}
			} else if name != "completed" {
				t.Errorf("%s: the parent is told %+v", name, end)
			}
		}
	}
}

func TestReopenedRunHasNoFailure(t *testing.T) {
	t.Parallel()
	for _, end := range []history.Event{history.WorkflowCancelled{Reason: "r"}, history.WorkflowTimedOut{}, history.WorkflowFailed{Failure: &history.Failure{Code: "c"}}} {
		x := newTape()
		if err := x.add(started(), end, history.WorkflowReopened{FromSeq: 2}); err != nil || x.run.Failure() != nil {
			t.Errorf("%s: %+v %v", end.Type(), x.run.Failure(), err)
		}
	}
}

// mcp 52: whoever repeats a cancel after a lost answer learns that the run is as it was wanted.
func TestEndedRunSaysHowItEndedAndThatNothingChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end   history.Event
		parts []string
	}{
		{history.WorkflowCancelled{}, []string{"cancelled already", "Cancelled", "nothing is left to do"}},
		{history.WorkflowCompleted{Outcome: "approved"}, []string{"already ended (Completed, outcome approved)", "changed nothing"}},
		{history.WorkflowFailed{Failure: &history.Failure{Code: "c"}}, []string{"already ended (Failed)"}},
		{history.WorkflowTimedOut{}, []string{"already ended (TimedOut)"}},
	} {
		x := newTape()
		if err := x.add(started(), c.end); err != nil {
			t.Fatal(err)
		}
		_, err := x.run.Cancel("bo", "again")
		wantTerminal(t, err, append(c.parts, string(x.run.WorkflowID()), "describe_run")...)
	}
	wantTerminal(t, run.Superseded("w", "r1"), "w", "r1", "ContinuedAsNew", "omit run_id", "describe_run")
}

func wantTerminal(t *testing.T, err error, parts ...string) {
	t.Helper()
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Code != domain.CodeNotRunning || refusal.Type != "WorkflowTerminal" {
		t.Errorf("got %v", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("%q lacks %q", refusal.Message, part)
		}
	}
}
