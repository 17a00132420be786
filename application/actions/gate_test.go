package actions_test

import (
	"context"
	"math/rand"
	"sync"
	"testing"
	"testing/synctest"

	"aion/adapters/system"
	"aion/application/actions"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/ports"
)

// crowd holds every attempt until it is let go, and counts by namespace what runs.
type crowd struct {
	mu      sync.Mutex
	running map[domain.Namespace]int
	most    map[domain.Namespace]int
	held    []chan struct{}
}

func newCrowd() *crowd {
	return &crowd{running: map[domain.Namespace]int{}, most: map[domain.Namespace]int{}}
}

func (c *crowd) do(ctx context.Context, e ports.Execution) action.Verdict {
	id, gone := e.Dispatch.Key.WorkflowID, make(chan struct{})
	c.mu.Lock()
	ns := namespaceOf(id)
	c.running[ns]++
	c.most[ns] = max(c.most[ns], c.running[ns])
	c.held = append(c.held, gone)
	c.mu.Unlock()
	select {
	case <-gone:
	case <-ctx.Done():
		return action.Parked{}
	}
	c.mu.Lock()
	c.running[ns]--
	c.mu.Unlock()
	return action.Completed{Result: raw(`"ran"`)}
}

// letGo ends one attempt, any of them; false when none runs.
func (c *crowd) letGo(draw *rand.Rand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		return false
	}
	i := draw.Intn(len(c.held))
	close(c.held[i])
	c.held = append(c.held[:i], c.held[i+1:]...)
	return true
}

func (c *crowd) wantRunning(t *testing.T, ns domain.Namespace, n int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[ns] != n {
		t.Errorf("%d attempts of %s run, want %d", c.running[ns], ns, n)
	}
}

// The workflow ids of these tests say which namespace they are of.
const (
	small = domain.Namespace("small")
	large = domain.Namespace("large")
)

func namespaceOf(id domain.WorkflowID) domain.Namespace {
	if id[0] == 'a' {
		return small
	}
	return large
}

func (w *world) startIn(ns domain.Namespace, n int) {
	w.t.Helper()
	first := map[domain.Namespace]string{small: "a", large: "b"}[ns]
	for range n {
		id := first + system.IDs{}.UUIDv7()[1:]
		if _, err := w.runs.Start(context.Background(), access.Operator(""), runs.StartRequest{Namespace: string(ns), WorkflowType: "own", WorkflowID: id}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// report 26, engine 10: a namespace never runs more than its bound, whatever ends in which order; what one of them may not
// use is for the others, and a higher bound is used at once.
func TestNamespaceRunsNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	for seed := range int64(20) {
		synctest.Test(t, func(t *testing.T) {
			c, draw := newCrowd(), rand.New(rand.NewSource(seed))
			w := newWorld(t, settings{do: c.do}, one("own", "echo hello"))
			defer w.stop()
			var mu sync.Mutex
			own := map[domain.Namespace]int{small: 1}
			w.gate.Change(actions.Limits{InFlight: 5, PerNamespace: 3, Own: func(ns domain.Namespace) int {
				mu.Lock()
				defer mu.Unlock()
				return own[ns]
			}})
			w.startIn(small, 6)
			w.startIn(large, 6)
			synctest.Wait()
			c.wantRunning(t, small, 1)
			c.wantRunning(t, large, 3)
			for range 4 {
				c.letGo(draw)
				synctest.Wait()
				c.wantRunning(t, small, 1)
			}
			mu.Lock()
			own[small] = 2
			mu.Unlock()
			w.gate.Widened()
			synctest.Wait()
			c.wantRunning(t, small, 2)
			for c.letGo(draw) {
				synctest.Wait()
			}
			if c.most[small] != 2 || c.most[large] != 3 || w.x.executions() != 12 {
				t.Errorf("at most %v ran at once, %d in all", c.most, w.x.executions())
			}
			// A lower bound of the server holds for what begins from now on.
			w.gate.Change(actions.Limits{InFlight: 1})
			w.startIn(small, 2)
			w.startIn(large, 2)
			synctest.Wait()
			for n := 0; ; n++ {
				if !c.letGo(draw) {
					if n != 4 {
						t.Errorf("%d of 4 ran", n)
					}
					break
				}
				synctest.Wait()
				if all := c.running[small] + c.running[large]; all > 1 {
					t.Errorf("%d run", all)
				}
			}
		})
	}
}
