package runs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// fleet is the servers of one store, each of which may die and be replaced.
type fleet struct {
	t       *testing.T
	backend fake.Backend
	run     executor
	plans   []*plan.Plan

	mu   sync.Mutex
	live []*world
}

func (p *fleet) start(i int) {
	w := startWorld(p.t, p.backend, together, p.run, p.plans...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[i] = w
}

func (p *fleet) server(i int) *world {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live[i]
}

// call calls any server until it has an answer, as a client behind a balancer does.
func (p *fleet) call(pick func() int, do func(w *world) error) error {
	for {
		err := do(p.server(pick()))
		if domain.CodeOf(err) != domain.CodeUnavailable || err == nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// client brings one run to its end.
func (p *fleet) client(seed uint64, n int) domain.WorkflowID {
	chance := rand.New(rand.NewPCG(seed, uint64(n)))
	pick := func() int { return chance.IntN(len(p.live)) }
	ctx, workflowType := context.Background(), []string{"crashy", "mother"}[n%2]
	var s runs.Started
	err := p.call(pick, func(w *world) (err error) {
		s, err = w.runs.Start(ctx, operator, runs.StartRequest{Namespace: "default", WorkflowType: workflowType, IdempotencyKey: fmt.Sprint(n)})
		return err
	})
	if err == nil && workflowType == "crashy" {
		time.Sleep(time.Duration(chance.IntN(3000)) * time.Millisecond)
		err = p.call(pick, func(w *world) error {
			_, err := w.runs.Signal(ctx, operator, runs.SignalRequest{Ref: refOf(s), Name: "go", Payload: raw(`"on"`), SignalID: "once"})
			if domain.CodeOf(err) == domain.CodeNotRunning {
				return nil // the answer to an earlier call got lost
			}
			return err
		})
	}
	if err == nil {
		err = p.call(pick, func(w *world) error {
			return w.runs.Follow(ctx, operator, runs.HistoryRequest{Namespace: "default", WorkflowID: string(s.Run.WorkflowID)},
				func(history.Recorded) error { return nil })
		})
	}
	if err != nil {
		p.t.Errorf("client %d: %v", n, err)
	}
	return s.Run.WorkflowID
}

// strike cuts one server off for a while, or ends it: at once, or with a call of the store that half happens, after which it
// goes on without a store.
func (p *fleet) strike(chance *rand.Rand) {
	i := chance.IntN(len(p.live))
	w := p.server(i)
	switch chance.IntN(4) {
	case 0:
		for !w.replicas.Others() { // who has seen no other server runs on
			time.Sleep(100 * time.Millisecond)
		}
		w.store.Cut()
		time.Sleep(time.Duration(chance.IntN(100_000)) * time.Millisecond)
		w.store.Heal()
		return
	case 1:
	default:
		when := []fake.Moment{fake.Inside, fake.After}[chance.IntN(2)]
		w.store.Script(fake.Fault{Op: "Append", Call: 1 + chance.IntN(3), When: when})
		time.Sleep(time.Duration(chance.IntN(4000)) * time.Millisecond)
	}
	w.kill()
	time.Sleep(time.Duration(chance.IntN(20_000)) * time.Millisecond)
	p.start(i)
}

// engine 20, actions 71: many runs over two or three servers, of which one dies at random points: all end as the model says, no
// attempt runs beside another one of its activity, and none is recorded twice.
func TestRunsEndAsTheModelSaysWhicheverServerDies(t *testing.T) {
	t.Parallel()
	seeds := uint64(24)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
		})
	}
}

func chaos(t *testing.T, seed uint64) {
	var d doing
	mother, kid := parentOf("mother", "three"), threeSteps()
	p := &fleet{t: t, backend: newStore(), plans: []*plan.Plan{crashy(), mother, kid}}
	p.run = func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) (v action.Verdict) {
		defer d.began(e.Dispatch.Key)()
		if e.Dispatch.Config.Retry != nil && e.Dispatch.Key.ActivityID == 0 && e.Dispatch.Key.Attempt == 1 {
			return flakyOnce(ctx, e, out)
		}
		takes := rand.New(rand.NewPCG(seed, uint64(e.Dispatch.Key.WorkflowID.Shard()))).IntN(3000)
		if takes%8 == 0 {
			takes = 90_000 // longer than a server that is cut off lets it run
		}
		select {
		case <-time.After(time.Duration(takes) * time.Millisecond):
			return instant(ctx, e, out)
		case <-ctx.Done():
			return untilStopped(ctx, e, out)
		}
	}
	p.live = make([]*world, 2+seed%2)
	for i := range p.live {
		p.start(i)
	}
	const many = 16
	ids := make([]domain.WorkflowID, many)
	var wait sync.WaitGroup
	for n := range many {
		wait.Go(func() { ids[n] = p.client(seed, n) })
	}
	chance := rand.New(rand.NewPCG(seed, 1000))
	for range 4 {
		time.Sleep(time.Duration(chance.IntN(2000)) * time.Millisecond)
		p.strike(chance)
	}
	wait.Wait()
	for _, w := range p.live {
		w.stop()
	}
	for n, id := range ids {
		events := p.live[0].history(id)
		if n%2 == 0 {
			verify(t, p.plans[0], events)
			converged(t, fmt.Sprintf("seed %d, run %d", seed, n), events)
			continue
		}
		verify(t, mother, events)
		started := decode(t, events[0])
		child := p.live[0].history(domain.WorkflowID(domain.DeriveUUID(string(events[0].RunID), "child:0")))
		verify(t, kid, child)
		if count(events, "ChildCompleted") != 1 || count(child, "ActivityCompleted") != 3 || count(child, "WorkflowCompleted") != 1 {
			t.Errorf("seed %d, run %d of %v: %v, child %v", seed, n, started["workflow_type"], types(events), types(child))
		}
	}
	if d.most != 1 {
		t.Errorf("seed %d: %d attempts of one activity ran side by side", seed, d.most)
	}
	if held, err := p.backend.Held(context.Background()); err != nil || len(held) > 0 {
		t.Errorf("tasks %v are left, %v", held, err)
	}
}
