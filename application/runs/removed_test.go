package runs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/application/runs"
	"aion/domain"
	"aion/test/fake"
)

// engine 7, server 6: a workflow that retention has removed answers like one that never was, byte for byte, also while its
// state is still in memory; its id may be used again.
func TestARemovedWorkflowAnswersLikeOneThatNeverWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, instant, oneStep("ship", nil))
	id := fake.UUID(77)
	start := runs.StartRequest{Namespace: "default", WorkflowType: "ship", Input: raw(`{}`), WorkflowID: id}
	if _, err := w.runs.Start(t.Context(), operator, start); err != nil {
		t.Fatal(err)
	}
	ref := runs.Ref{Namespace: "default", WorkflowID: id}
	if _, err := w.runs.Outcome(t.Context(), operator, ref, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := w.runs.Signal(t.Context(), operator, runs.SignalRequest{Ref: ref, Name: "x"}); domain.CodeOf(err) == domain.CodeNotFound {
		t.Fatal(err)
	}
	closed, err := w.backend.Closed(t.Context(), "default", time.Now().Add(time.Hour), nil, 10)
	if err != nil || len(closed) != 1 {
		t.Fatal(closed, err)
	}
	if n, err := w.backend.RemoveClosed(t.Context(), closed); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	never := fake.UUID(78)
	if d := cmp.Diff(answers(t, w, never, never), answers(t, w, id, never)); d != "" {
		t.Errorf("a removed workflow is told apart (-never +removed):\n%s", d)
	}
	if _, err := w.runs.Start(t.Context(), operator, start); err != nil {
		t.Error(err)
	}
}

// answers are what every way of asking for a workflow gives, with another id in place of its own.
func answers(t *testing.T, w *world, id, as string) map[string]string {
	t.Helper()
	ctx, ref := t.Context(), runs.Ref{Namespace: "default", WorkflowID: id}
	hist := runs.HistoryRequest{Namespace: "default", WorkflowID: id}
	got := map[string]string{}
	say := func(what string) func(v any, err error) {
		return func(v any, err error) {
			if err == nil || domain.CodeOf(err) != domain.CodeNotFound {
				t.Errorf("%s answers %v, %v", what, v, err)
			}
			got[what] = strings.ReplaceAll(fmt.Sprintf("%v", err), id, as)
		}
	}
	say("describe")(w.runs.Describe(ctx, operator, ref))
	say("inspect")(w.runs.Inspect(ctx, operator, ref))
	say("latest")(w.runs.Latest(ctx, operator, ref))
	say("outcome")(w.runs.Outcome(ctx, operator, ref, 0))
	say("generations")(w.runs.Generations(ctx, operator, "default", id))
	say("activities")(w.runs.Activities(ctx, operator, ref))
	say("history")(w.runs.History(ctx, operator, hist))
	say("ahead")(w.runs.Ahead(ctx, operator, hist))
	say("event")(w.runs.Event(ctx, operator, ref, 1))
	say("signal")(w.runs.Signal(ctx, operator, runs.SignalRequest{Ref: ref, Name: "x"}))
	say("query")(w.runs.Query(ctx, operator, runs.QueryRequest{Ref: ref, Name: "state"}))
	say("cancel")(w.runs.Cancel(ctx, operator, runs.CancelRequest{Ref: ref}))
	say("pause")(w.runs.Pause(ctx, operator, runs.HoldRequest{Ref: ref}))
	return got
}
