package runs_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

// gated completes an attempt when its channel is closed.
func gated(open <-chan struct{}) executor {
	return func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
		select {
		case <-open:
			return instant(ctx, e, out)
		case <-ctx.Done():
			return untilStopped(ctx, e, out)
		}
	}
}

// wantRefusal holds a refusal to its code, its type and a part of its message.
func wantRefusal(t *testing.T, err error, code domain.Code, typ, part string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // the application gives refusals bare
	if !ok || e.Code != code || e.Type != typ || !strings.Contains(e.Message, part) {
		t.Errorf("got %v, want %s (%s) with %q", err, code, typ, part)
	}
}

// engine 8, report 34
func TestSignalBeforeTheWaitSatisfiesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		p := approval("ask", 0)
		w := newWorld(t, gated(open), p)
		defer w.stop()
		s := w.start("ask")
		if err := w.signal(s, `"early"`); err != nil {
			t.Fatal(err)
		}
		close(open)
		if d := w.await(s); string(d.Result) != `"early"` || d.Route != "success" {
			t.Errorf("ended with %s by %s", d.Result, d.Route)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// engine 8
func TestSignalDuringTheWaitSatisfiesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("ask")
		synctest.Wait()
		d := w.describe(s)
		if len(d.WaitingOn) != 1 || d.WaitingOn[0].Kind != "signal" || d.WaitingOn[0].Name != "go" || !d.WaitingOn[0].DueAt.IsZero() {
			t.Errorf("waits on %+v", d.WaitingOn)
		}
		if err := w.signal(s, `"now"`); err != nil {
			t.Fatal(err)
		}
		if d := w.await(s); string(d.Result) != `"now"` {
			t.Errorf("ended with %s", d.Result)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// engine 8
func TestSignalAfterTheEndIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		s := w.start("three")
		w.await(s)
		wantRefusal(t, w.signal(s, `"late"`), domain.CodeNotRunning, "WorkflowTerminal", "Completed")
	})
}

// engine 11
func TestWaitEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 120_000)
		w := newWorld(t, instant, p)
		defer w.stop()
		s := w.start("ask")
		synctest.Wait()
		if d := w.describe(s); len(d.WaitingOn) != 1 || d.WaitingOn[0].DueAt.Sub(d.WaitingOn[0].Since) != 2*time.Minute {
			t.Errorf("waits on %+v", d.WaitingOn)
		}
		d := w.await(s)
		if d.Status != history.Failed || d.Outcome != "lapsed" || d.Route != "failure" {
			t.Errorf("ended %s %s %s", d.Status, d.Outcome, d.Route)
		}
		if after := d.EndedAt.Sub(d.StartedAt); after < 2*time.Minute || after > 2*time.Minute+time.Second {
			t.Errorf("ended after %s", after)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// report 32
func TestSignalWithTheStartIsThereBeforeAnyStepActs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		w := newWorld(t, untilStopped, p)
		defer w.stop()
		s, err := w.runs.Start(context.Background(), operator, runs.StartRequest{
			Namespace: "default", WorkflowType: "ask",
			Signal: &runs.StartSignal{Name: "go", Payload: raw(`"with"`)},
		})
		if err != nil {
			t.Fatal(err)
		}
		events := w.history(s.Run.WorkflowID)
		at := map[string]int{}
		for i, e := range events {
			at[e.Type] = i
		}
		if at["SignalReceived"] == 0 || at["SignalReceived"] > at["ActivityStarted"] {
			t.Errorf("events %v", types(events))
		}
	})
}

// report 18, report 33
func TestManySignalsDisturbNoAttemptAndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := approval("ask", 0)
		open := make(chan struct{})
		w := newWorld(t, gated(open), p)
		defer w.stop()
		s := w.start("ask")
		for range 1000 {
			if err := w.signal(s, `"x"`); err != nil {
				t.Fatal(err)
			}
		}
		close(open)
		w.await(s)
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "ActivityStarted"); n != 1 {
			t.Errorf("%d attempts", n)
		}
		if n := count(events, "SignalReceived"); n != 1000 {
			t.Errorf("%d signals", n)
		}
	})
}

func TestSignalIDIsRecordedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, untilStopped, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		req := runs.SignalRequest{Ref: refOf(s), Name: "go", Payload: raw(`"a"`), SignalID: "mine"}
		first, err := w.runs.Signal(context.Background(), operator, req)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.runs.Signal(context.Background(), operator, req)
		if err != nil || again != first {
			t.Errorf("again %+v %v, first %+v", again, err, first)
		}
		if n := count(w.history(s.Run.WorkflowID), "SignalReceived"); n != 1 {
			t.Errorf("%d signals", n)
		}
	})
}

// report 35
func TestUndeclaredSignalListsTheDeclaredOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, untilStopped, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		_, err := w.runs.Signal(context.Background(), operator, runs.SignalRequest{Ref: refOf(s), Name: "goo", Payload: raw(`"a"`)})
		wantRefusal(t, err, domain.CodeInvalidInput, "UnknownSignal", "go")
		_, err = w.runs.Signal(context.Background(), operator, runs.SignalRequest{Ref: refOf(s), Name: "go", Payload: raw(`1`)})
		wantRefusal(t, err, domain.CodeInvalidInput, "SignalPayloadRejected", "expected")
		_, err = w.runs.Signal(context.Background(), operator, runs.SignalRequest{Ref: refOf(s), Name: "go"})
		wantRefusal(t, err, domain.CodeInvalidInput, "SignalPayloadRejected", "missing: expected string")
	})
}

func TestPendingSignalsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := startWorld(t, newStore(), settings{runs: runs.Limits{PendingSignals: 3}}, untilStopped, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		for range 3 {
			if err := w.signal(s, `"x"`); err != nil {
				t.Fatal(err)
			}
		}
		wantRefusal(t, w.signal(s, `"x"`), domain.CodeResourceExhausted, "PendingSignals", "3 signals")
	})
}

// server 8
func TestForeignAndMissingWorkflowsAnswerAlike(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, untilStopped, approval("ask", 0))
		defer w.stop()
		s, err := w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "theirs", WorkflowType: "ask"})
		if err != nil {
			t.Fatal(err)
		}
		who := access.Caller{Subject: "bo", Namespaces: []domain.Namespace{"default"}, Mode: "token"}
		ask := func(id string) []string {
			ref := runs.Ref{Namespace: "default", WorkflowID: id}
			var texts []string
			_, err := w.runs.Describe(context.Background(), who, ref)
			texts = append(texts, err.Error())
			_, err = w.runs.Cancel(context.Background(), who, runs.CancelRequest{Ref: ref})
			texts = append(texts, err.Error())
			_, err = w.runs.Query(context.Background(), who, runs.QueryRequest{Ref: ref, Name: "state"})
			texts = append(texts, err.Error())
			_, err = w.runs.Signal(context.Background(), who, runs.SignalRequest{Ref: ref, Name: "go", Payload: raw(`"x"`)})
			texts = append(texts, err.Error())
			_, err = w.runs.History(context.Background(), who, runs.HistoryRequest{Namespace: "default", WorkflowID: id})
			return append(texts, err.Error())
		}
		foreign := ask(string(s.Run.WorkflowID))
		missing := ask("00000000-0000-0000-0000-000000000000")
		for i := range foreign {
			if got := strings.ReplaceAll(foreign[i], string(s.Run.WorkflowID), "00000000-0000-0000-0000-000000000000"); got != missing[i] {
				t.Errorf("foreign %q, missing %q", foreign[i], missing[i])
			}
		}
		_, err = w.runs.Describe(context.Background(), who, runs.Ref{Namespace: "theirs", WorkflowID: string(s.Run.WorkflowID)})
		wantRefusal(t, err, domain.CodeNamespaceDenied, "NamespaceNotGranted", "theirs")
	})
}
