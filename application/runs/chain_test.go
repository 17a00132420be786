package runs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
)

// listener takes signals, runs a command for each, and ends at the signal stop.
func listener() *plan.Plan {
	p := base("listen")
	p.Signals = []plan.Port{{Name: "go", Schema: raw(textSchema)}}
	p.Workers = []plan.Worker{worker("shell", command("work"))}
	a := step("a", plan.Stmt{Op: plan.OpWait, Name: "go", Bind: "x"}, call("shell", "work", "y"))
	a.Kind = plan.KindPlain
	a.Visits = lit(`9999`)
	stop := plan.Expr{Op: plan.ExprEq, Args: []plan.Expr{*ref("x"), *lit(`"stop"`)}}
	a.Clauses = []plan.Clause{
		{Name: "over", Guard: &stop, Target: plan.Target{Kind: plan.TargetOutcome, Name: "done", Payload: ref("x")}},
		{Name: "again", Target: plan.Target{Kind: plan.TargetStep, Name: "a"}},
	}
	p.Flow = plan.Flow{Steps: []plan.Step{a}}
	return p
}

// engine 6, engine 15, report 30: signals arrive across many generations; each is seen once, in order, and none is
// refused at the switch.
func TestSignalsCrossGenerationsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := listener()
		w := startWorld(t, newStore(), settings{history: 20, cache: 1}, instant, p)
		defer w.stop()
		s := w.start("listen")
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() {
				for i := range 100 {
					if err := w.signal(s, fmt.Sprintf(`"%d"`, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if err := w.signal(s, `"stop"`); err != nil {
			t.Fatal(err)
		}
		d := w.await(s)
		if d.Status != history.Completed || d.RunID == s.Run.RunID || d.PreviousRunID == "" || !d.IsLatestRun {
			t.Errorf("%s, run %s after %s", d.Status, d.RunID, d.PreviousRunID)
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "SignalReceived"); n != 1001 {
			t.Errorf("%d signals", n)
		}
		if n := count(events, "ActivityCompleted"); n != 1001 {
			t.Errorf("%d commands", n)
		}
		chained(t, w, s, events)
	})
}

// chained holds the generations of a workflow to each other and shows the first one.
func chained(t *testing.T, w *world, s runs.Started, events []history.Recorded) {
	t.Helper()
	generations := count(events, "WorkflowStarted")
	rows, err := w.backend.Runs(context.Background(), s.Run.WorkflowID)
	if err != nil || len(rows) != generations || generations < 20 {
		t.Fatalf("%d rows of %d generations, %v", len(rows), generations, err)
	}
	for i, r := range rows {
		if want := map[bool]history.Status{true: history.Completed, false: history.ContinuedAsNew}[i == len(rows)-1]; r.Status != want {
			t.Errorf("generation %d is %s", i+1, r.Status)
		}
		if i > 0 && (r.PreviousRunID != rows[i-1].RunID || r.Generation != i+1 || string(r.RunID) != domain.DeriveUUID(string(rows[i-1].RunID), "next")) {
			t.Errorf("generation %d: %+v", i+1, r)
		}
	}
	first, err := w.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(s.Run.WorkflowID), RunID: string(s.Run.RunID)})
	if err != nil || first.Status != history.ContinuedAsNew || first.IsLatestRun || first.EndedAt.IsZero() {
		t.Errorf("%+v %v", first.Summary, err)
	}
	_, err = w.runs.Signal(context.Background(), operator, runs.SignalRequest{
		Ref: runs.Ref{Namespace: "default", WorkflowID: string(s.Run.WorkflowID), RunID: string(s.Run.RunID)}, Name: "go", Payload: raw(`"x"`),
	})
	wantRefusal(t, err, domain.CodeNotRunning, "WorkflowTerminal", "ContinuedAsNew")
	page, err := w.read.Read(context.Background(), operator, transcripts.ReadRequest{
		Namespace: "default", WorkflowID: string(s.Run.WorkflowID),
		RunID: string(s.Run.RunID), Attempt: 1,
	})
	if err != nil || page.AttemptOpen || page.ActivityType != "work" {
		t.Errorf("%+v %v", page, err)
	}
}

// engine 1 (runs): a start or a signal behind the switch finds the new generation, also after a restart.
func TestChainGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, p := newStore(), listener()
		w := startWorld(t, backend, settings{history: 20}, instant, p)
		s := w.start("listen")
		for range 10 {
			if err := w.signal(s, `"x"`); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		w.stop()
		next := startWorld(t, backend, settings{history: 50}, instant, p) // another limit: where generations ended stays
		defer next.stop()
		if err := next.signal(s, `"stop"`); err != nil {
			t.Fatal(err)
		}
		if d := next.await(s); d.Status != history.Completed {
			t.Errorf("%s %q", d.Status, d.PausedReason)
		}
		verify(t, p, next.history(s.Run.WorkflowID))
	})
}
