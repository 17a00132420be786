package actions_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/actions"
	"aion/application/runs"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

func waits(t *testing.T, w *world, row runs.Summary) bool {
	t.Helper()
	tasks, err := w.store.Open(context.Background(), row.WorkflowID)
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks) == 1 && tasks[0].State == history.TaskQueued && w.count(row.WorkflowID, "ActivityStarted") == 0
}

// actions 1: the task of an action without a body stays in its queue as it was written, for whoever leases it.
func TestAnActionWithoutABodyIsLeftToTheWorkersOfItsQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{}, one("remote", ""))
		defer w.stop()
		row := w.start("remote")
		time.Sleep(time.Minute)
		if !waits(t, w, row) || w.x.executions() != 0 {
			t.Error("the task does not wait for a worker")
		}
		due, err := w.store.Due(context.Background(), time.Now(), 10)
		if err != nil || len(due) != 1 || due[0].Key.RunID != row.RunID || due[0].Name != "work" || due[0].Owner != "" {
			t.Errorf("due: %+v, %v", due, err)
		}
	})
}

// actions 2
func TestADeclaredBodyIsExecutedHereAndNoWorkerIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{}, one("own", "echo hello"))
		defer w.stop()
		row := w.start("own")
		synctest.Wait()
		if w.x.executions() != 1 || w.count(row.WorkflowID, "WorkflowCompleted") != 1 {
			t.Errorf("%d executions, %v", w.x.executions(), w.history(row.WorkflowID))
		}
		e := w.x.seen[0]
		if e.Dispatch.Key.WorkflowID != row.WorkflowID || e.Dispatch.Key.RunID != row.RunID || e.Body.Run.Command != "echo hello" {
			t.Errorf("execution %+v", e)
		}
	})
}

// actions 44, 46: the bound is the authored one; without one, none is invented.
func TestTheBoundOfAnAttemptIsTheAuthoredOne(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]time.Duration{0: 0, 1500: 1500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			p := one("bounded", "echo a")
			p.Flow.Steps[0].Body[0].TimeoutMS = ms
			w := newWorld(t, settings{}, p)
			defer w.stop()
			w.start("bounded")
			synctest.Wait()
			if w.x.executions() != 1 || w.x.seen[0].Bound != want {
				t.Errorf("%d ms: %+v", ms, w.x.seen)
			}
		})
	}
}

// actions 7: what cannot be told apart is refused, and nothing else is consulted.
func TestAmbiguousBodiesAreRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := one("w", "echo a"), one("w", "echo b")
		doubt := &answers{give: func(actions.Question) actions.Answer {
			return actions.Answer{Lookup: action.Select("", []action.DeclaringVersion{
				{ContentHash: a.ContentHash, WorkflowTypes: []string{"w"}, Body: a.Workers[0].Actions[0].Body},
				{ContentHash: b.ContentHash, WorkflowTypes: []string{"w"}, RouteActive: true, Body: b.Workers[0].Actions[0].Body},
			})}
		}}
		w := newWorld(t, settings{catalogue: doubt}, b)
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		got := w.failure(row.WorkflowID)
		for _, want := range []string{"ambiguous_body terminal:", "`work`", "`shell`", "2 different bodies", "`aion unload w " + a.ContentHash + "`"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in %q", want, got)
			}
		}
		if w.x.executions() != 0 {
			t.Error("something was executed")
		}
	})
}

// actions 13, 15: an unreadable catalogue strands nothing, says so once, and was asked with the run's own ids.
func TestAnUnreadableCatalogueLeavesTheTaskToWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := one("w", "echo a")
		broken := true
		double := &answers{}
		w := newWorld(t, settings{bodies: actions.BodiesOn, catalogue: double}, p)
		contract, err := w.catalogue.Contract(context.Background(), p.ContentHash)
		if err != nil {
			t.Fatal(err)
		}
		double.give = func(actions.Question) actions.Answer {
			if broken {
				return actions.Answer{Lookup: action.Unreadable{Reason: "the disk is on fire"}}
			}
			return actions.Answer{Lookup: action.Declared{Body: *p.Workers[0].Actions[0].Body}, Contract: contract}
		}
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Minute)
		if w.x.executions() != 0 || w.failure(row.WorkflowID) != "" {
			t.Errorf("it was executed, or failed: %q", w.failure(row.WorkflowID))
		}
		double.mu.Lock()
		broken = false
		double.mu.Unlock()
		time.Sleep(time.Minute)
		if w.count(row.WorkflowID, "WorkflowCompleted") != 1 || w.count(row.WorkflowID, "ActivityStarted") > 2 {
			t.Errorf("afterwards: %d starts", w.count(row.WorkflowID, "ActivityStarted"))
		}
		for _, q := range double.asked {
			if q.Key.WorkflowID != row.WorkflowID || q.Key.RunID != row.RunID || q.TaskQueue != "shell" || q.Name != "work" || q.Version != p.ContentHash {
				t.Errorf("asked %+v", q)
			}
		}
		if len(double.asked) == 0 {
			t.Error("the catalogue was not asked")
		}
	})
}

// actions 17: the operator's switch comes behind the input and before everything else.
func TestTheSwitchIsCheckedInItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{bodies: actions.BodiesOff}, one("w", "echo 'never closed"))
		defer w.stop()
		row := w.start("w")
		synctest.Wait()
		if got := w.failure(row.WorkflowID); !strings.HasPrefix(got, "bodies_off policy_refused:") || w.x.executions() != 0 {
			t.Errorf("got %q", got)
		}
		unreadable := w.dispatcher.Refused(action.Dispatch{Name: "touch", TaskQueue: "shell", Input: []byte(`[1]`)})
		if unreadable == nil || unreadable.Code == action.CodeBodiesOff {
			t.Errorf("unreadable input with bodies off: %+v", unreadable)
		}
	})
}

// actions 78
func TestDelegatedBodiesAreNotEvenLookedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		never := &answers{give: func(actions.Question) actions.Answer { return actions.Answer{Lookup: action.NoBody{}} }}
		w := newWorld(t, settings{bodies: actions.BodiesDelegate, catalogue: never}, one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Minute)
		if !waits(t, w, row) || len(never.asked) != 0 || w.x.executions() != 0 {
			t.Errorf("%d lookups, %d executions", len(never.asked), w.x.executions())
		}
	})
}

// actions 57: a panic of the executor loses the attempt, not the server.
func TestAPanicLosesTheAttemptOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := true
		w := newWorld(t, settings{do: func(context.Context, ports.Execution) action.Verdict {
			if first {
				first = false
				panic("boom")
			}
			return action.Completed{Result: raw(`"ran"`)}
		}}, one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		if got := w.failure(row.WorkflowID); !strings.HasPrefix(got, "server_died lost:") || w.count(row.WorkflowID, "WorkflowCompleted") != 1 {
			t.Errorf("got %q", got)
		}
		if w.dispatcher.Running() != 0 {
			t.Error("the registry holds the attempt")
		}
	})
}

// actions 77, 78: what this server will not run is said to whoever deploys it.
func TestADeployIsWarnedOfWhatThisServerRefuses(t *testing.T) {
	t.Parallel()
	p := one("w", "git clone x")
	admit := func(program, path string) bool { return program == "make" && path == "/bin" }
	for name, c := range map[string]struct {
		policy actions.Policy
		want   string
	}{
		"refused":  {actions.Policy{Bodies: actions.BodiesOn, Path: "/bin", Admits: admit}, "action `work` of task queue `shell`: program `git` is not admitted by `actions.allowed_programs`"},
		"off":      {actions.Policy{Bodies: actions.BodiesOff, Path: "/bin", Admits: admit}, "`actions.declared_bodies` is `off` on this server"},
		"delegate": {actions.Policy{Bodies: actions.BodiesDelegate, Path: "/bin", Admits: admit}, ""},
		"admitted": {actions.Policy{Bodies: actions.BodiesOn, Admits: func(string, string) bool { return true }}, ""},
	} {
		got := c.policy.Warnings(p)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := (actions.Policy{Bodies: actions.BodiesOn, Admits: admit}).Warnings(one("w", "")); len(got) != 0 {
		t.Error(got)
	}
}

// actions 53: a store that is away for 90 s neither stops a command nor makes it run again; its verdict is kept.
func TestAVerdictOutlivesAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{do: func(context.Context, ports.Execution) action.Verdict {
			time.Sleep(10 * time.Second)
			return action.Completed{Result: raw(`"ran"`)}
		}}, one("w", "echo a"))
		defer w.stop()
		row := w.start("w")
		time.Sleep(time.Second)
		away := make([]fake.Fault, 0, 1000)
		for n := range 1000 {
			away = append(away, fake.Fault{Op: "Append", Call: n + 1, When: fake.Before})
		}
		w.faulty.Script(away...)
		time.Sleep(90 * time.Second)
		if w.x.executions() != 1 || w.count(row.WorkflowID, "ActivityCompleted") != 0 || w.faulty.Struck() == 0 {
			t.Errorf("%d executions, %d refused commits", w.x.executions(), w.faulty.Struck())
		}
		w.faulty.Script()
		time.Sleep(10 * time.Second)
		if w.x.executions() != 1 || w.count(row.WorkflowID, "WorkflowCompleted") != 1 || w.count(row.WorkflowID, "ActivityFailed") != 0 {
			t.Errorf("%d executions, history %d", w.x.executions(), len(w.history(row.WorkflowID)))
		}
	})
}
