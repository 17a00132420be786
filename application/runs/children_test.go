package runs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/test/fake"
)

// parentOf calls a child and ends with its result.
func parentOf(name, child string) *plan.Plan {
	p := base(name)
	p.Children = []plan.Child{{Name: child, InputSchema: raw(openInput), OutputSchema: raw(textSchema), Called: true}}
	p.Flow = chain(step("ask", plan.Stmt{
		Op: plan.OpChild, Name: child, Bind: "x",
		Args: []plan.Arg{{Name: "name", Value: *lit(`"<kid>"`)}},
	}, to("done", ref("x"))))
	return p
}

func spawnerOf(name, child string) *plan.Plan {
	p := base(name)
	p.Children = []plan.Child{{Name: child, InputSchema: raw(openInput), OutputSchema: raw(textSchema), Spawned: true}}
	p.Flow = chain(step("ask", plan.Stmt{Op: plan.OpSpawn, Name: child}, to("done", lit(`"left"`))))
	return p
}

// childOf finds the run that a parent started.
func childOf(t *testing.T, w *world, parent domain.WorkflowID) history.RunRow {
	t.Helper()
	page, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Runs {
		if r.Parent != nil && r.Parent.WorkflowID == parent {
			return r.RunRow
		}
	}
	t.Fatalf("no child of %s", parent)
	return history.RunRow{}
}

func TestChildIsStartedAndItsResultComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, kid := parentOf("mother", "kid"), oneStep("kid", nil)
		w := newWorld(t, instant, p, kid)
		defer w.stop()
		s := w.start("mother")
		d := w.await(s)
		if d.Status != history.Completed || string(d.Result) != `"work"` {
			t.Errorf("%s %s %+v", d.Status, d.Result, d.Failure)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
		row := childOf(t, w, s.Run.WorkflowID)
		if want := domain.DeriveUUID(string(s.Run.RunID), "child:0"); string(row.WorkflowID) != want {
			t.Errorf("child %s, want %s", row.WorkflowID, want)
		}
		events := w.history(row.WorkflowID)
		verify(t, kid, events)
		first := decode(t, events[0])
		if first["started_by"] != "workflow:"+string(s.Run.WorkflowID) || fmt.Sprint(first["input"]) != "map[name:<kid>]" {
			t.Errorf("%v", first)
		}
	})
}

func TestSpawnedChildOutlivesItsParent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, kid := spawnerOf("mother", "kid"), approval("kid", 0)
		w := newWorld(t, instant, p, kid)
		defer w.stop()
		s := w.start("mother")
		if d := w.await(s); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
		synctest.Wait()
		row := childOf(t, w, s.Run.WorkflowID)
		child := runs.Started{Run: runs.Summary{WorkflowID: row.WorkflowID}}
		if err := w.signal(child, `"bye"`); err != nil {
			t.Fatal(err)
		}
		if d := w.await(child); d.Status != history.Completed {
			t.Errorf("%s", d.Status)
		}
	})
}

// awl 8, engine 4: a child that cannot be started fails its step with the code of the refusal.
func TestChildThatCannotBeStartedFailsItsStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := parentOf("mother", "kid")
		w := newWorld(t, instant, p)
		defer w.stop()
		d := w.await(w.start("mother"))
		if d.Failure == nil || d.Failure.Code != "child_failed" || !strings.Contains(d.Failure.Message, "not_found") {
			t.Errorf("%s %+v", d.Status, d.Failure)
		}
		strict := oneStep("kid", nil)
		strict.InputSchema = raw(`{"type":"object","additionalProperties":false,"required":["other"],"properties":{"other":{"type":"string"}}}`)
		w.deploy(strict)
		time.Sleep(2 * time.Second)
		d = w.await(w.start("mother"))
		if d.Failure == nil || !strings.Contains(d.Failure.Message, "invalid_input") {
			t.Errorf("%s %+v", d.Status, d.Failure)
		}
	})
}

func TestChildEndsReachTheParentAsFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := parentOf("mother", "kid")
		kid := approval("kid", 60_000)
		w := newWorld(t, instant, p, kid)
		defer w.stop()
		lapsed := w.await(w.start("mother"))
		if lapsed.Failure == nil || !strings.Contains(lapsed.Failure.Message, "outcome lapsed") {
			t.Errorf("%+v", lapsed.Failure)
		}
		s := w.start("mother")
		synctest.Wait()
		if d := w.describe(s); len(d.WaitingOn) != 1 || d.WaitingOn[0].Kind != "child" || d.WaitingOn[0].Name != "kid" {
			t.Errorf("%+v", d.WaitingOn)
		}
		row := childOf(t, w, s.Run.WorkflowID)
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: runs.Ref{Namespace: "default", WorkflowID: string(row.WorkflowID)}}); err != nil {
			t.Fatal(err)
		}
		if d := w.await(s); d.Failure == nil || !strings.Contains(d.Failure.Message, "cancelled") {
			t.Errorf("%+v", d.Failure)
		}
	})
}

func TestChildResultIsHeldAgainstWhatTheParentDeclares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := parentOf("mother", "kid")
		p.Children[0].OutputSchema = raw(`{"type":"integer"}`)
		w := newWorld(t, instant, p, oneStep("kid", nil))
		defer w.stop()
		s := w.start("mother")
		if d := w.await(s); d.Failure == nil || d.Failure.Code != "result_invalid" {
			t.Errorf("%+v", d.Failure)
		}
		verify(t, p, w.history(s.Run.WorkflowID))
	})
}

// engine 14, report 28: a cancellation crosses five levels, and nothing starts behind it.
func TestCancelCrossesFiveLevels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plans := []*plan.Plan{approval("l5", 0)}
		for i := 4; i >= 0; i-- {
			plans = append(plans, parentOf(fmt.Sprintf("l%d", i), fmt.Sprintf("l%d", i+1)))
		}
		w := newWorld(t, untilStopped, plans...)
		defer w.stop()
		s := w.start("l0")
		synctest.Wait()
		if n := w.dispatcher.Running(); n != 1 {
			t.Fatalf("%d attempts run", n)
		}
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.dispatcher.Running(); n != 0 {
			t.Errorf("%d attempts run", n)
		}
		page, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default"})
		if err != nil || len(page.Runs) != 6 {
			t.Fatalf("%d runs, %v", len(page.Runs), err)
		}
		for _, r := range page.Runs {
			if r.Status != history.Cancelled {
				t.Errorf("%s is %s", r.WorkflowType, r.Status)
			}
		}
		if pending, err := w.backend.Pending(context.Background(), nil, 10); err != nil || len(pending) != 0 {
			t.Errorf("%d messages are left, %v", len(pending), err)
		}
	})
}

// engine 21: whatever call the server dies at, there is one child, and its end reaches the parent once.
func TestCrashAroundAChildConverges(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Append", "Delivered", "Pending"} {
		for _, when := range []fake.Moment{fake.Before, fake.After} {
			t.Run(fmt.Sprintf("%s %d", op, when), func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					over := false
					synctest.Test(t, func(t *testing.T) {
						over = !childLife(t, fake.Fault{Op: op, Call: n, When: when})
					})
					if over || t.Failed() {
						return
					}
				}
			})
		}
	}
}

// childLife runs a parent with a child over a store with a fault; false when the fault did not strike.
func childLife(t *testing.T, fault fake.Fault) (struck bool) {
	t.Helper()
	backend := newStore()
	p, kid := parentOf("mother", "kid"), oneStep("kid", nil)
	for life := range 10 {
		w := startWorld(t, backend, settings{}, instant, p, kid)
		if life == 0 {
			w.store.Script(fault)
		}
		var s runs.Started
		err := persist(w, func() (err error) {
			s, err = w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: "mother", IdempotencyKey: "k"})
			return err
		})
		if err == nil {
			err = persist(w, func() error {
				return w.runs.Follow(context.Background(), operator, runs.HistoryRequest{Namespace: "default", WorkflowID: string(s.Run.WorkflowID)},
					func(history.Recorded) error { return nil })
			})
		}
		struck = struck || w.store.Struck() > 0
		if err == nil {
			time.Sleep(2 * time.Minute)
		}
		w.stop()
		if err != nil {
			continue
		}
		events := w.history(s.Run.WorkflowID)
		verify(t, p, events)
		if n := count(events, "ChildCompleted"); n != 1 || events[len(events)-1].Type != "WorkflowCompleted" {
			t.Errorf("fault %+v: %v", fault, types(events))
		}
		if pending, err := backend.Pending(context.Background(), nil, 10); err != nil || len(pending) != 0 && !w.store.Dead() {
			t.Errorf("fault %+v: messages %v are left, %v", fault, pending, err)
		}
		verify(t, kid, w.history(domain.WorkflowID(domain.DeriveUUID(string(s.Run.RunID), "child:0"))))
		return struck
	}
	t.Fatal("the run does not end")
	return false
}

// report 28: a child whose parent was cancelled before it was started is not started.
func TestChildOfACancelledParentIsNotStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, parentOf("mother", "kid"), oneStep("kid", nil))
		defer w.stop()
		synctest.Wait()
		hold := make(chan struct{})
		w.store.Script(fake.Fault{Op: "Pending", Call: 1, Hold: hold})
		s := w.start("mother")
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		close(hold)
		time.Sleep(time.Minute)
		page, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default"})
		if err != nil || len(page.Runs) != 1 {
			t.Errorf("%d runs, %v", len(page.Runs), err)
		}
		if left, err := w.backend.Pending(context.Background(), nil, 10); err != nil || len(left) != 0 {
			t.Errorf("messages %v are left, %v", left, err)
		}
	})
}
