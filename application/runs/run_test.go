package runs_test

import (
	"testing"
	"testing/synctest"

	"aion/domain/history"

	"github.com/google/go-cmp/cmp"
)

// engine 1, engine 2
func TestThreeStepsCompleteWithOneCommitEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := threeSteps()
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("three")
		d := w.await(s)
		if d.Status != history.Completed || d.Outcome != "done" || string(d.Result) != `"three"` {
			t.Errorf("ended %s %s %s", d.Status, d.Outcome, d.Result)
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		want := []string{
			"WorkflowStarted", "TimerStarted", "StepEntered", "ActivityScheduled", "ActivityStarted",
			"ActivityCompleted", "StepEntered", "ActivityScheduled", "ActivityStarted",
			"ActivityCompleted", "StepEntered", "ActivityScheduled", "ActivityStarted",
			"ActivityCompleted", "OutcomeTaken", "WorkflowCompleted",
		}
		if diff := cmp.Diff(want, types(events)); diff != "" {
			t.Error(diff)
		}
	})
}
