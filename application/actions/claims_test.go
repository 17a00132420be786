package actions_test

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
	"aion/test/fake"
)

// task is the only stored task of a workflow.
func (w *world) task(id domain.WorkflowID) history.Task {
	w.t.Helper()
	tasks, err := w.store.Open(context.Background(), id)
	if err != nil || len(tasks) != 1 {
		w.t.Fatalf("tasks %v, %v", tasks, err)
	}
	return tasks[0]
}

// steal lets somebody else hold the task of a workflow, behind the back of the server.
func (w *world) steal(id domain.WorkflowID) {
	w.t.Helper()
	k := w.task(id)
	head, err := w.store.Head(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.store.Append(context.Background(), []history.Commit{{
		Namespace: k.Namespace, WorkflowID: id, ExpectedSeq: head,
		Acts: []history.Act{history.TaskMoved{Key: k.Key, State: history.TaskStarted, Owner: "another", Token: k.Token + 100}},
	}})[0]
	if err != nil {
		w.t.Fatal(err)
	}
}

// sleeping runs until it is stopped, or for so long.
func sleeping(d time.Duration, stopped *error) settings {
	return settings{do: func(ctx context.Context, _ ports.Execution) action.Verdict {
		select {
		case <-ctx.Done():
			*stopped = context.Cause(ctx)
			return action.Dropped{}
		case <-time.After(d):
			return action.Completed{Result: raw(`"ran"`)}
		}
	}}
}

// actions 5.4
func TestTheClaimOfARunningAttemptIsRenewedAndItsTokenIsItsStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stopped error
		w := newWorld(t, sleeping(5*time.Minute, &stopped), one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		var start history.Seq
		for _, e := range w.history(row.WorkflowID) {
			if e.Type == "ActivityStarted" {
				start = e.Seq
			}
		}
		if k := w.task(row.WorkflowID); k.Owner != "server" || k.Token != start || start == 0 || !k.ClaimUntil.After(time.Now()) {
			t.Errorf("task %+v, started at %d", k, start)
		}
		for range 8 {
			time.Sleep(30 * time.Second)
			if left := time.Until(w.task(row.WorkflowID).ClaimUntil); left < 45*time.Second || left > time.Minute {
				t.Errorf("the claim holds for %s", left)
			}
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if w.count(row.WorkflowID, "WorkflowCompleted") != 1 || stopped != nil || strings.Contains(w.log.String(), "claim") {
			t.Errorf("stopped: %v\n%s", stopped, w.log)
		}
	})
}

// actions 5.4: an attempt that somebody else has taken over is stopped, and says nothing.
func TestAnAttemptThatLostItsClaimIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stopped error
		w := newWorld(t, sleeping(time.Hour, &stopped), one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		w.steal(row.WorkflowID)
		events := len(w.history(row.WorkflowID))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if stopped != ports.StopClaimLost { //nolint:errorlint // a cause is the value itself
			t.Errorf("stopped: %v", stopped)
		}
		if n := w.dispatcher.Running(); n != 0 || len(w.history(row.WorkflowID)) != events || w.task(row.WorkflowID).Owner != "another" {
			t.Errorf("%d run, history %d, task %+v", n, len(w.history(row.WorkflowID)), w.task(row.WorkflowID))
		}
		if !strings.Contains(w.log.String(), "lost its claim") {
			t.Errorf("log:\n%s", w.log)
		}
	})
}

// actions 5.4: the store refuses the verdict of a stale claim, and the log says so.
func TestAVerdictWithAStaleClaimIsRefusedAndLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stopped error
		w := newWorld(t, sleeping(5*time.Second, &stopped), one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		w.steal(row.WorkflowID)
		events := len(w.history(row.WorkflowID))
		time.Sleep(6 * time.Second) // before the next renewal
		synctest.Wait()
		if len(w.history(row.WorkflowID)) != events || w.task(row.WorkflowID).Owner != "another" || stopped != nil {
			t.Errorf("history %d, stopped: %v", len(w.history(row.WorkflowID)), stopped)
		}
		if !strings.Contains(w.log.String(), "a verdict was refused, because the claim of its attempt is lost") {
			t.Errorf("log:\n%s", w.log)
		}
	})
}

// actions 53: a claim that ended while the store was away is still its owner's; nothing is stopped and nothing runs twice.
func TestAttemptsOutliveTheirClaimsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stopped error
		w := newWorld(t, sleeping(3*time.Minute, &stopped), one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		away := make([]fake.Fault, 0, 100)
		for n := range 100 {
			away = append(away, fake.Fault{Op: "Renew", Call: n + 1, When: fake.Before})
		}
		w.faulty.Script(away...)
		time.Sleep(90 * time.Second)
		if left := time.Until(w.task(row.WorkflowID).ClaimUntil); left > 0 || w.dispatcher.Running() != 1 || w.faulty.Struck() < 8 {
			t.Errorf("the claim holds for %s, %d run, %d refused", left, w.dispatcher.Running(), w.faulty.Struck())
		}
		w.faulty.Script()
		time.Sleep(10 * time.Second)
		if left := time.Until(w.task(row.WorkflowID).ClaimUntil); left < 45*time.Second {
			t.Errorf("the claim holds for %s", left)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if w.x.executions() != 1 || w.count(row.WorkflowID, "WorkflowCompleted") != 1 || stopped != nil {
			t.Errorf("%d executions, stopped: %v", w.x.executions(), stopped)
		}
		if n := strings.Count(w.log.String(), "cannot be renewed"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

// An attempt whose run was cancelled has no task any more: that is no lost claim.
func TestACancelledAttemptHasNotLostItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cause error
		w := newWorld(t, settings{do: func(ctx context.Context, _ ports.Execution) action.Verdict {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Minute) // it is slow to end
			return action.Dropped{}
		}}, one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		ref := runs.Ref{Namespace: "default", WorkflowID: string(row.WorkflowID)}
		if _, err := w.runs.Cancel(context.Background(), access.Operator(""), runs.CancelRequest{Ref: ref}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if cause != ports.StopRunClosed || strings.Contains(w.log.String(), "lost its claim") { //nolint:errorlint // as above
			t.Errorf("stopped: %v\n%s", cause, w.log)
		}
	})
}
