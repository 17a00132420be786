package runs_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"aion/adapters/memory"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/test/fake"
)

func newStore() fake.Backend { return memory.New(realtime{}) }

// engine 7, report 8
func TestIdempotentStartUnderParallelRepeatsGivesOneWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		var mu sync.Mutex
		ids, existing := map[domain.WorkflowID]bool{}, 0
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				s, err := w.runs.Start(context.Background(), operator, runs.StartRequest{
					Namespace: "default", WorkflowType: "three",
					IdempotencyKey: "k", Input: raw(`{"name": "x"}`),
				})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				ids[s.Run.WorkflowID] = true
				if s.Existing {
					existing++
				}
			})
		}
		wait.Wait()
		if len(ids) != 1 || existing != 19 {
			t.Errorf("%d workflows, %d of 20 answers from the first start", len(ids), existing)
		}
		page, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default"})
		if err != nil || len(page.Runs) != 1 {
			t.Errorf("%d runs listed, %v", len(page.Runs), err)
		}
	})
}

func TestIdempotencyKeyWithOtherArgumentsNamesTheWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		req := runs.StartRequest{Namespace: "default", WorkflowType: "three", IdempotencyKey: "k", Input: raw(`{"name":"x"}`)}
		s, err := w.runs.Start(context.Background(), operator, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Input = raw(` { "name" : "x" } `)
		same, err := w.runs.Start(context.Background(), operator, req)
		if err != nil || !same.Existing || same.Run.WorkflowID != s.Run.WorkflowID {
			t.Errorf("same request in another spelling: %+v %v", same, err)
		}
		req.Input = raw(`{"name":"y"}`)
		_, err = w.runs.Start(context.Background(), operator, req)
		wantRefusal(t, err, domain.CodeIdempotencyConflict, "IdempotencyConflict", string(s.Run.WorkflowID))
		req.Namespace = "other"
		if other, err := w.runs.Start(context.Background(), operator, req); err != nil || other.Existing {
			t.Errorf("the key of another namespace: %+v %v", other, err)
		}
	})
}

func TestStartRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := startWorld(t, newStore(), settings{runs: runs.Limits{PayloadBytes: 100}}, instant, threeSteps())
		defer w.stop()
		given := "0198aaaa-0000-7000-8000-00000000abcd"
		for _, c := range []struct {
			req  runs.StartRequest
			code domain.Code
			typ  string
			part string
		}{
			{runs.StartRequest{Namespace: "default", WorkflowType: "nope"}, domain.CodeNotFound, "WorkflowTypeNotFound", "deploy_document"},
			{runs.StartRequest{Namespace: "No Such", WorkflowType: "three"}, domain.CodeNotFound, "NamespaceNotFound", "No Such"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", Input: raw(`null`)}, domain.CodeInvalidInput, "InputRejected", "expected"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", Input: raw(`{"name":1}`)}, domain.CodeInvalidInput, "InputRejected", "/name"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", Input: raw(`{"nam":"x"}`)}, domain.CodeInvalidInput, "InputRejected", "nam"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", Input: make([]byte, 101)}, domain.CodeInvalidInput, "PayloadTooLarge", "100"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", WorkflowID: "x"}, domain.CodeInvalidInput, "SchemaViolation", "UUID"},
			{runs.StartRequest{Namespace: "default", WorkflowType: "three", Labels: map[string]string{"A B": ""}}, domain.CodeInvalidInput, "SchemaViolation", "A B"},
		} {
			_, err := w.runs.Start(context.Background(), operator, c.req)
			wantRefusal(t, err, c.code, c.typ, c.part)
		}
		_, err := w.runs.Start(context.Background(), operator, runs.StartRequest{Namespace: "default", WorkflowType: "nope"})
		wantRefusal(t, err, domain.CodeNotFound, "WorkflowTypeNotFound", "deployed are three;")
		req := runs.StartRequest{Namespace: "default", WorkflowType: "three", WorkflowID: given}
		if _, err := w.runs.Start(context.Background(), operator, req); err != nil {
			t.Fatal(err)
		}
		_, err = w.runs.Start(context.Background(), operator, req)
		wantRefusal(t, err, domain.CodeInvalidState, "WorkflowExists", given)
		page, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default"})
		if err != nil || len(page.Runs) != 1 {
			t.Errorf("%d runs listed, %v", len(page.Runs), err)
		}
	})
}

// report 37
func TestRunningRunsKeepTheirPlanWhenTheRouteMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		v1 := approval("ask", 0)
		w := newWorld(t, gated(open), v1)
		defer w.stop()
		first := w.start("ask")
		v2 := threeSteps()
		v2.WorkflowType, v2.ContentHash = "ask", hash("ask v2")
		w.deploy(v2)
		second := w.start("ask")
		if _, err := w.catalogue.Route(context.Background(), operator, "ask", v1.ContentHash); err != nil {
			t.Fatal(err)
		}
		third := w.start("ask")
		close(open)
		for _, s := range []runs.Started{first, third} {
			if err := w.signal(s, `"go"`); err != nil {
				t.Fatal(err)
			}
		}
		for s, p := range map[*runs.Started]*plan.Plan{&first: v1, &second: v2, &third: v1} {
			if d := w.await(*s); d.Status != history.Completed || d.PackageID != p.ContentHash {
				t.Errorf("%s under %s", d.Status, d.PackageID)
			}
			verify(t, p, w.history(s.Run.WorkflowID))
		}
	})
}

// engine 16
func TestPinnedAndRoutedVersionsAreNotUnloaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v1 := approval("ask", 0)
		w := newWorld(t, untilStopped, v1)
		defer w.stop()
		s := w.start("ask")
		err := w.catalogue.Unload(context.Background(), operator, "ask", v1.ContentHash)
		wantRefusal(t, err, domain.CodeVersionPinned, "RouteActive", v1.ContentHash)
		v2 := threeSteps()
		v2.WorkflowType, v2.ContentHash = "ask", hash("ask v2")
		w.deploy(v2)
		err = w.catalogue.Unload(context.Background(), operator, "ask", v1.ContentHash)
		wantRefusal(t, err, domain.CodeVersionPinned, "VersionPinned", string(s.Run.WorkflowID))
		if _, err := w.runs.Cancel(context.Background(), operator, runs.CancelRequest{Ref: refOf(s)}); err != nil {
			t.Fatal(err)
		}
		if err := w.catalogue.Unload(context.Background(), operator, "ask", v1.ContentHash); err != nil {
			t.Error(err)
		}
		if d := w.describe(s); d.Status != history.Cancelled {
			t.Errorf("a run of an unloaded version is shown %s", d.Status)
		}
	})
}
