package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/tasks"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
	"aion/test/fake"
)

// work starts a workflow of one event per task, in the store, as the engine does; it ends when the test says so.
type work struct {
	store  *memory.Store
	mu     sync.Mutex
	begun  map[task.ID]int
	end    *task.Outcome
	begin  func(n int, t task.Task) error // what the n-th try of a task meets; nil: nothing
	looked int
}

func newWork(store *memory.Store) *work { return &work{store: store, begun: map[task.ID]int{}} }

func (w *work) Admit(_ context.Context, who access.Caller, _ tasks.Call) (domain.Namespace, error) {
	return "default", who.Reach("default")
}

func (w *work) Begin(ctx context.Context, t task.Task) (tasks.Begun, error) {
	w.mu.Lock()
	w.begun[t.ID]++
	n, meets := w.begun[t.ID], w.begin
	w.mu.Unlock()
	if meets != nil {
		if err := meets(n, t); err != nil {
			return tasks.Begun{}, err
		}
	}
	id, run := domain.WorkflowID(fake.UUID(uint64(len(t.ID)))), domain.RunID(fake.UUID(2))
	id = domain.WorkflowID(domain.DeriveUUID(string(id), string(t.ID)))
	now := time.Now().UTC()
	e := history.Record(1, now, id, run, history.WorkflowStarted{WorkflowType: "w", Input: domain.Payload(`{}`)})
	err := w.store.Append(ctx, []history.Commit{{
		Namespace: "default", WorkflowID: id, Events: []history.Recorded{e},
		Started: &history.Idempotency{Scope: "s", Key: string(t.ID), WorkflowID: id, RunID: run, ExpiresAt: now.Add(24 * time.Hour), Task: string(t.ID)},
	}})[0]
	if domain.CodeOf(err) == domain.CodeIdempotencyConflict && !task.IsEnded(err) {
		return tasks.Begun{WorkflowID: id, RunID: run, At: now}, nil
	}
	return tasks.Begun{WorkflowID: id, RunID: run, At: now, Linked: true}, err
}

func (w *work) Look(_ context.Context, t task.Task) (tasks.Standing, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked++
	return tasks.Standing{RunID: t.RunID, Status: "looked at", Outcome: w.end}, nil
}

func (w *work) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = &task.Outcome{Value: domain.Payload(`{}`)}
}

func (w *work) tries(id task.ID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[id]
}

func service(store ports.MCPTaskStore, w tasks.Work, d tasks.Deps) *tasks.Service {
	n := byte(0)
	d.Store, d.Work, d.Clock, d.IDs, d.Log = store, w, system.Clock{}, fake.NewIDs(), slog.New(slog.DiscardHandler)
	if d.Random == nil {
		d.Random = func() [16]byte { n++; return [16]byte{n} }
	}
	return tasks.New(d)
}

// running runs a service until the bubble's test ends.
func running(t *testing.T, s *tasks.Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	over := errors.New("over")
	return func() {
		cancel(over)
		if err := <-done; !errors.Is(err, over) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

func operator() access.Caller { return access.Operator("") }

func create(t *testing.T, s *tasks.Service) task.Task {
	t.Helper()
	k, err := s.Create(t.Context(), operator(), tasks.Call{Tool: "start_run", Arguments: domain.Payload(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func get(t *testing.T, s *tasks.Service, id task.ID) task.Task {
	t.Helper()
	k, err := s.Get(t.Context(), operator(), string(id))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func bubble(t *testing.T, test func(*testing.T, *memory.Store, *work)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(system.Clock{})
		test(t, store, newWork(store))
	})
}

// mcp 76: with the default times, what a dead server has not started is started by another one within 40 s, once.
func TestDeadMakersTasksAreStartedWithin40Seconds(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		maker := service(store, w, tasks.Deps{}) // it never runs
		k := create(t, maker)
		defer running(t, service(store, w, tasks.Deps{}))()
		defer running(t, service(store, w, tasks.Deps{}))()
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if w.tries(k.ID) != 0 {
			t.Error("a lease was taken before it was over")
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got := get(t, maker, k.ID); !got.Started() || w.tries(k.ID) != 1 {
			t.Errorf("%+v after %d tries", got, w.tries(k.ID))
		}
	})
}

// mcp 75: a server that owns its store alone does not wait for leases of the process before it.
func TestSoleServerStartsAtOnceWhatItsPredecessorDidNot(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		k := create(t, service(store, w, tasks.Deps{}))
		sole := service(store, w, tasks.Deps{Sole: true})
		defer running(t, sole)()
		synctest.Wait()
		if got := get(t, sole, k.ID); !got.Started() {
			t.Errorf("%+v", got)
		}
	})
}

// mcp 68: what has ended is settled within 60 s although nobody asks.
func TestEndedWorkIsSettledWithin60Seconds(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		s := service(store, w, tasks.Deps{})
		defer running(t, s)()
		k := create(t, s)
		time.Sleep(42 * time.Second)
		w.finish()
		time.Sleep(60 * time.Second)
		synctest.Wait()
		got, err := store.MCPTask(t.Context(), k.ID)
		if err != nil || got.State != task.Completed || got.StatusMessage != "looked at" {
			t.Errorf("%+v, %v", got, err)
		}
		if ttl, _ := got.TTL(); ttl != got.UpdatedAt.Sub(got.CreatedAt)+24*time.Hour {
			t.Errorf("ttl %v", ttl)
		}
		time.Sleep(24*time.Hour + time.Minute)
		synctest.Wait()
		if counts, err := store.CountMCPTasks(t.Context()); err != nil || len(counts) != 0 {
			t.Errorf("an expired task stays: %v, %v", counts, err)
		}
	})
}

// mcp 75: a store that does not answer is asked until it does.
func TestUnavailableStoreIsAskedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		s := service(store, w, tasks.Deps{})
		defer running(t, s)()
		away := time.Now().Add(10 * time.Minute)
		w.begin = func(int, task.Task) error {
			if time.Now().Before(away) {
				return domain.Unavailable("StoreUnavailable", "the store is away", nil)
			}
			return nil
		}
		k := create(t, s)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if got := get(t, s, k.ID); got.State != task.Working || got.Started() || got.StatusMessage != "starting" {
			t.Errorf("%+v", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := get(t, s, k.ID); !got.Started() {
			t.Errorf("%+v", got)
		}
		if n := w.tries(k.ID); n < 60 || n > 400 {
			t.Errorf("%d tries in ten minutes", n)
		}
	})
}

// mcp 71: a cancel stops the tries of a start, and none of them can still begin it.
func TestCancelStopsAStartThatIsTriedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		s := service(store, w, tasks.Deps{})
		defer running(t, s)()
		w.begin = func(n int, _ task.Task) error {
			if n < 20 {
				return domain.Unavailable("StoreUnavailable", "the store is away", nil)
			}
			return nil
		}
		k := create(t, s)
		time.Sleep(time.Second)
		if _, err := s.Cancel(t.Context(), operator(), string(k.ID)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := get(t, s, k.ID); got.State != task.Cancelled || got.Started() || w.tries(k.ID) >= 20 {
			t.Errorf("%+v after %d tries", got, w.tries(k.ID))
		}
	})
}

// mcp 67, mcp 78: refusals are results, what only an operator can read has a reference, and a panic fails the task.
func TestFailedStartsSettleTheTask(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		meets func(int, task.Task) error
		want  task.State
		code  domain.Code
	}{
		"refusal": {func(int, task.Task) error {
			return &domain.Error{Code: domain.CodeNotFound, Type: "WorkflowTypeNotFound", Message: "m"}
		}, task.Completed, domain.CodeNotFound},
		"store fault": {func(int, task.Task) error {
			return &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: "SELECT secret"}
		}, task.Completed, domain.CodeBackend},
		"no refusal": {func(int, task.Task) error { return fmt.Errorf("secret") }, task.Completed, domain.CodeBackend},
		"panic":      {func(int, task.Task) error { panic("secret") }, task.Failed, ""},
	} {
		bubble(t, func(t *testing.T, store *memory.Store, w *work) {
			s := service(store, w, tasks.Deps{})
			defer running(t, s)()
			w.begin = c.meets
			k := create(t, s)
			synctest.Wait()
			got := get(t, s, k.ID)
			if got.State != c.want || (got.Reference != "") != (c.want == task.Failed) {
				t.Errorf("%s: %+v", what, got)
			}
			if c.code == "" {
				return
			}
			if r := got.Outcome.Refusal; r == nil || r.Code != c.code || c.code == domain.CodeBackend && (r.Message == "secret" || r.Message == "SELECT secret") {
				t.Errorf("%s: %+v", what, r)
			}
		})
	}
}

// mcp 74: the owner is who made it, by mode; a label does not matter in mode off.
func TestOwnersSeeTheirTasksOnly(t *testing.T) {
	t.Parallel()
	store := memory.New(system.Clock{})
	s := service(store, newWork(store), tasks.Deps{})
	all := []access.Caller{
		access.Operator(""),
		{Subject: "ada", Mode: "token", AllNamespaces: true},
		{Subject: "bob", Mode: "token", AllNamespaces: true},
		{Subject: "ada", Mode: "jwks", Issuer: "https://a", AllNamespaces: true},
		{Subject: "ada", Mode: "jwks", Issuer: "https://b", AllNamespaces: true},
	}
	for i, maker := range all {
		k, err := s.Create(t.Context(), maker, tasks.Call{Tool: "x", Arguments: domain.Payload(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		for j, other := range all {
			_, err := s.Get(t.Context(), other, string(k.ID))
			if (err == nil) != (i == j) {
				t.Errorf("task of %s: %s reads %v", maker.Owner(), other.Owner(), err)
			}
			if i != j && err.Error() != task.Unknown().Error() {
				t.Errorf("%v", err)
			}
		}
	}
	labelled := access.Operator("night shift")
	if k := create(t, s); true {
		if _, err := s.Get(t.Context(), labelled, string(k.ID)); err != nil {
			t.Errorf("a label changes the owner: %v", err)
		}
	}
}

// A burst of tasks over what may wait for a starter is started whole.
func TestBurstsAreStartedWhole(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, store *memory.Store, w *work) {
		n := uint16(0)
		s := service(store, w, tasks.Deps{MaxWorking: 10_000, Random: func() [16]byte { n++; return [16]byte{byte(n >> 8), byte(n)} }})
		for range 4200 {
			create(t, s)
		}
		defer running(t, s)()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		left, err := store.WorkingMCPTasks(t.Context(), ports.WorkingMCPTasks{Limit: 10_000})
		if err != nil || len(left) != 0 {
			t.Errorf("%d are not started, %v", len(left), err)
		}
	})
}
