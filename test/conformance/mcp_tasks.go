package conformance

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

// MCPTasks is the port of the suite MCPTaskStore with the histories whose starts the tasks wait for.
type MCPTasks interface {
	ports.EventStore
	ports.MCPTaskStore
	ports.MCPTaskList
}

// MCPTaskStore runs the suite of ports.MCPTaskStore and ports.MCPTaskList.
func MCPTaskStore(t *testing.T, open func(testing.TB) MCPTasks) {
	run(t, open, map[string]func(*testing.T, MCPTasks){
		"a task that was never made is unknown":                      noMCPTask,
		"a task comes back whole, in every state":                    mcpTaskReturns,
		"an owner has at most so many working tasks":                 boundedMCPTasks,
		"a change is one step, and a refusal changes nothing":        changedMCPTask,
		"20 parallel settlements: one wins":                          oneSettlement,
		"working tasks are listed by id, by start and lease":         workingMCPTasks,
		"tasks are listed newest first, by owner and state":          mcpTaskList,
		"expired tasks are deleted, others stay":                     expiredMCPTasks,
		"a start tells its task in the same commit":                  linkedStart,
		"a start of an ended or unknown task is refused and no more": refusedStart,
		"of a start and a cancel exactly one wins":                   startAgainstCancel,
		"of several reasons to refuse, the first in order counts":    refusalsInOrder,
	})
}

func mcpTaskID(n int) task.ID { return task.ID(fmt.Sprintf("task-%032x", n)) }

func mcpTask(n int) task.Task {
	t := task.New(mcpTaskID(n), "token:ada", start.Add(time.Duration(n)*time.Second), 30*time.Second)
	t.Caller = task.Caller{Subject: "ada é\x00", Mode: "token", Source: "header", Issuer: "https://issuer.example"}
	t.Namespace, t.Tool, t.Arguments = namespace, "start_run", domain.Payload(`{"input": {"n":9007199254740993,"t":"<&>\u0000"}}`)
	return t
}

func makeTask(t testing.TB, s MCPTasks, tasks ...task.Task) {
	t.Helper()
	for _, k := range tasks {
		if err := s.CreateMCPTask(t.Context(), k, 1000); err != nil {
			t.Fatal(err)
		}
	}
}

// turn changes a task that can be changed.
func turn(t testing.TB, s MCPTasks, id task.ID, change func(task.Task) (task.Task, error)) task.Task {
	t.Helper()
	got, err := s.ChangeMCPTask(t.Context(), id, change)
	return must(t, got, err)
}

func ending() task.End { return task.End{At: start.Add(time.Minute), TTL: time.Hour} }

func begin(k task.Task) (task.Task, error) {
	return k.Begin(domain.WorkflowID(id(1)), domain.RunID(id(2)), start.Add(time.Second))
}

func cancel(k task.Task) (task.Task, error) { return k.Cancel(ending()), nil }

func noMCPTask(t *testing.T, s MCPTasks) {
	_, err := s.MCPTask(t.Context(), mcpTaskID(1))
	wantCode(t, err, domain.CodeNotFound, "TaskNotFound")
	_, err = s.ChangeMCPTask(t.Context(), mcpTaskID(1), begin)
	wantCode(t, err, domain.CodeNotFound, "TaskNotFound")
	list, err := s.WorkingMCPTasks(t.Context(), ports.WorkingMCPTasks{Limit: 10})
	same(t, "working", must(t, list, err), []task.ID(nil))
	n, err := s.DeleteMCPTasks(t.Context(), start, 10)
	same(t, "deleted", must(t, n, err), 0)
	counts, err := s.CountMCPTasks(t.Context())
	same(t, "counts", must(t, counts, err), map[task.State]int{})
}

func mcpTaskReturns(t *testing.T, s MCPTasks) {
	made := mcpTask(1)
	makeTask(t, s, made, mcpTask(2), mcpTask(3), mcpTask(4))
	got, err := s.MCPTask(t.Context(), made.ID)
	same(t, "working", must(t, got, err), made)
	begun, _ := begin(made)
	same(t, "begun", turn(t, s, made.ID, begin), begun)
	settled, _ := begun.Settle(task.Outcome{
		Value: domain.Payload(`{"a":[1.50,"<é>"]}`), Refusal: &task.Refusal{Code: domain.CodeRunFailed, Type: "RunFailed", Message: "<why>\x00"},
	}, domain.RunID(id(3)), "it failed", ending())
	for what, c := range map[string]struct {
		id   task.ID
		want func(task.Task) (task.Task, error)
	}{
		"settled with a refusal": {made.ID, func(task.Task) (task.Task, error) { return settled, nil }},
		"settled": {mcpTaskID(2), func(k task.Task) (task.Task, error) {
			return k.Settle(task.Outcome{Value: domain.Payload(`{}`)}, "", "done", ending())
		}},
		"failed":    {mcpTaskID(3), func(k task.Task) (task.Task, error) { return k.Fail("reference-1", ending()) }},
		"cancelled": {mcpTaskID(4), cancel},
	} {
		want := turn(t, s, c.id, c.want)
		got, err := s.MCPTask(t.Context(), c.id)
		same(t, what, must(t, got, err), want)
	}
	counts, err := s.CountMCPTasks(t.Context())
	same(t, "counts", must(t, counts, err), map[task.State]int{task.Completed: 2, task.Failed: 1, task.Cancelled: 1})
}

func boundedMCPTasks(t *testing.T, s MCPTasks) {
	other := mcpTask(9)
	other.Owner = "token:bob"
	makeTask(t, s, other)
	for n := range 3 {
		if err := s.CreateMCPTask(t.Context(), mcpTask(n), 3); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, s.CreateMCPTask(t.Context(), mcpTask(4), 3), domain.CodeResourceExhausted, "TooManyTasks")
	_, err := s.MCPTask(t.Context(), mcpTaskID(4))
	wantCode(t, err, domain.CodeNotFound, "TaskNotFound")
	turn(t, s, mcpTaskID(1), cancel)
	if err := s.CreateMCPTask(t.Context(), mcpTask(4), 3); err != nil {
		t.Errorf("a settled task counts: %v", err)
	}
}

func changedMCPTask(t *testing.T, s MCPTasks) {
	made := mcpTask(1)
	makeTask(t, s, made)
	refusal := task.Ended(made.ID)
	_, err := s.ChangeMCPTask(t.Context(), made.ID, func(k task.Task) (task.Task, error) {
		k.StatusMessage = "changed"
		return k, refusal
	})
	if err != refusal { //nolint:errorlint // a port gives the refusal itself
		t.Errorf("got %v, want the refusal of the change", err)
	}
	got, err := s.MCPTask(t.Context(), made.ID)
	same(t, "after a refusal", must(t, got, err), made)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := s.ChangeMCPTask(t.Context(), made.ID, func(k task.Task) (task.Task, error) {
				k.StatusMessage += "."
				return k, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got, err = s.MCPTask(t.Context(), made.ID)
	same(t, "20 changes", must(t, got, err).StatusMessage, "starting....................")
}

func oneSettlement(t *testing.T, s MCPTasks) {
	makeTask(t, s, mcpTask(1))
	var mu sync.Mutex
	var group sync.WaitGroup
	won := 0
	for n := range 20 {
		group.Go(func() {
			_, err := s.ChangeMCPTask(t.Context(), mcpTaskID(1), func(k task.Task) (task.Task, error) {
				return k.Settle(task.Outcome{Value: domain.Payload(`{}`)}, "", fmt.Sprint(n), ending())
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !task.IsEnded(err) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	same(t, "settlements", won, 1)
}

func workingMCPTasks(t *testing.T, s MCPTasks) {
	for n := range 6 {
		makeTask(t, s, mcpTask(n)) // leased until 30 + n seconds
	}
	turn(t, s, mcpTaskID(1), begin)
	turn(t, s, mcpTaskID(4), begin)
	turn(t, s, mcpTaskID(5), cancel)
	list := func(which ports.WorkingMCPTasks) []task.ID {
		found, err := s.WorkingMCPTasks(t.Context(), which)
		return must(t, found, err)
	}
	same(t, "unstarted", list(ports.WorkingMCPTasks{Limit: 10}), []task.ID{mcpTaskID(0), mcpTaskID(2), mcpTaskID(3)})
	same(t, "started", list(ports.WorkingMCPTasks{Started: true, Limit: 10}), []task.ID{mcpTaskID(1), mcpTaskID(4)})
	same(t, "page", list(ports.WorkingMCPTasks{After: mcpTaskID(0), Limit: 1}), []task.ID{mcpTaskID(2)})
	same(t, "lease over", list(ports.WorkingMCPTasks{LeaseBy: start.Add(32 * time.Second), Limit: 10}), []task.ID{mcpTaskID(0), mcpTaskID(2)})
	same(t, "lease not over", list(ports.WorkingMCPTasks{LeaseBy: start.Add(30*time.Second - time.Microsecond), Limit: 10}), []task.ID(nil))
	same(t, "no limit is none", list(ports.WorkingMCPTasks{}), []task.ID(nil))
}

func expiredMCPTasks(t *testing.T, s MCPTasks) {
	for n := range 4 {
		makeTask(t, s, mcpTask(n))
	}
	for n := range 3 {
		turn(t, s, mcpTaskID(n), cancel)
	}
	end := ending()
	over := end.At.Add(end.TTL)
	n, err := s.DeleteMCPTasks(t.Context(), over.Add(-time.Microsecond), 10)
	same(t, "a moment before", must(t, n, err), 0)
	n, err = s.DeleteMCPTasks(t.Context(), over, 2)
	same(t, "at most two", must(t, n, err), 2)
	n, err = s.DeleteMCPTasks(t.Context(), over.Add(1000*time.Hour), 10)
	same(t, "the rest", must(t, n, err), 1)
	counts, err := s.CountMCPTasks(t.Context())
	same(t, "a working task is never deleted", must(t, counts, err), map[task.State]int{task.Working: 1})
}

// startFor is the commit that starts what a task waits for.
func startFor(n int, id task.ID) (*flow, history.Commit) {
	f := newFlow(n)
	c := f.started()
	c.Started = &history.Idempotency{Scope: "s", Key: string(id), Request: "r", WorkflowID: f.id, RunID: f.run, ExpiresAt: start.Add(10000 * time.Hour), Task: string(id)}
	return f, c
}

func linkedStart(t *testing.T, s MCPTasks) {
	made := mcpTask(1)
	makeTask(t, s, made)
	f, c := startFor(1, made.ID)
	mustAppend(t, s, c)
	want, err := made.Begin(f.id, f.run, c.Events[0].At)
	same(t, "rule", err, nil)
	got, err := s.MCPTask(t.Context(), made.ID)
	same(t, "the task", must(t, got, err), want)
	key, err := s.Idempotent(t.Context(), "s", string(made.ID))
	same(t, "the key names no task", must(t, key, err).Task, "")
	_, again := startFor(2, made.ID)
	wantCode(t, appendOne(t.Context(), s, again), domain.CodeIdempotencyConflict, "IdempotencyTaken")
	got, err = s.MCPTask(t.Context(), made.ID)
	same(t, "the task after a second start", must(t, got, err), want)
}

func refusedStart(t *testing.T, s MCPTasks) {
	makeTask(t, s, mcpTask(1), mcpTask(3))
	turn(t, s, mcpTaskID(1), cancel)
	_, ended := startFor(1, mcpTaskID(1))
	_, unknown := startFor(2, mcpTaskID(2))
	taken, good := startFor(3, mcpTaskID(3))
	plain := newFlow(4).started()
	errs := s.Append(t.Context(), []history.Commit{ended, unknown, good, plain})
	wantCode(t, errs[0], domain.CodeIdempotencyConflict, "TaskEnded")
	wantCode(t, errs[1], domain.CodeIdempotencyConflict, "TaskEnded")
	if errs[2] != nil || errs[3] != nil {
		t.Errorf("neighbours: %v, %v", errs[2], errs[3])
	}
	for _, c := range []history.Commit{ended, unknown} {
		head, err := s.Head(t.Context(), c.WorkflowID)
		same(t, "a refused start left events", must(t, head, err), history.Seq(0))
		_, err = s.Idempotent(t.Context(), "s", c.Started.Key)
		wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
	}
	// A start that loses for another reason leaves its task as it was.
	makeTask(t, s, mcpTask(5))
	_, late := startFor(3, mcpTaskID(5))
	wantCode(t, appendOne(t.Context(), s, late), domain.CodeSequenceConflict, "SequenceConflict")
	got, err := s.MCPTask(t.Context(), mcpTaskID(5))
	same(t, "workflow "+string(taken.id)+" existed", must(t, got, err), mcpTask(5))
}

func startAgainstCancel(t *testing.T, s MCPTasks) {
	for n := range 20 {
		k := mcpTask(n)
		makeTask(t, s, k)
		f, c := startFor(n, k.ID)
		var group sync.WaitGroup
		var started error
		group.Go(func() { started = appendOne(t.Context(), s, c) })
		group.Go(func() {
			if _, err := s.ChangeMCPTask(t.Context(), k.ID, cancel); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		got, err := s.MCPTask(t.Context(), k.ID)
		got = must(t, got, err)
		head, err := s.Head(t.Context(), f.id)
		if must(t, head, err); (started == nil) != (head > 0) || (started == nil) != got.Started() || got.State != task.Cancelled {
			t.Errorf("start %v, head %d, task %+v", started, head, got)
		}
	}
}

func refusalsInOrder(t *testing.T, s MCPTasks) {
	makeTask(t, s, mcpTask(1), mcpTask(2))
	f, first := startFor(1, mcpTaskID(1))
	mustAppend(t, s, first)
	turn(t, s, mcpTaskID(2), cancel)
	// Everything is wrong with it; then one reason after the other is taken away.
	_, c := startFor(1, mcpTaskID(2))
	c.Events[0].Seq, c.Started.Key, c.Claims = 7, first.Started.Key, []history.Claim{{Key: f.key(9, 1), Token: 4}}
	for _, step := range []struct {
		typ  string
		code domain.Code
		mend func()
	}{
		{"StoreFault", domain.CodeBackend, func() { c.Events[0].Seq = 1 }},
		{"IdempotencyTaken", domain.CodeIdempotencyConflict, func() { c.Started.Key = "free" }},
		{"TaskEnded", domain.CodeIdempotencyConflict, func() { c.Started.Task = "" }},
		{"ClaimLost", domain.CodeSequenceConflict, func() { c.Claims = nil }},
		{"SequenceConflict", domain.CodeSequenceConflict, func() { c = newFlow(3).started() }},
	} {
		wantCode(t, appendOne(t.Context(), s, c), step.code, step.typ)
		step.mend()
	}
	mustAppend(t, s, c)
}
