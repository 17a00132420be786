package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/application/engine"
	"aion/domain"
	"aion/domain/history"
	"aion/test/fake"
)

// distant is a store on another machine: every call takes its time, and commits wait for each other.
type distant struct {
	fake.Backend
	mu     *sync.Mutex
	chance *rand.Rand
	turn   chan struct{}
}

func newDistant() distant {
	return distant{memory.New(realtime{}), new(sync.Mutex), rand.New(rand.NewPCG(1, 2)), make(chan struct{}, 1)}
}

func (s distant) takes(d time.Duration) {
	s.mu.Lock()
	d = time.Duration(float64(d) * (0.6 + 0.8*s.chance.Float64()))
	s.mu.Unlock()
	time.Sleep(d)
}

func (s distant) Append(ctx context.Context, commits []history.Commit) []error {
	s.takes(time.Millisecond)
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.takes(2 * time.Millisecond)
	return s.Backend.Append(ctx, commits)
}

func (s distant) Head(ctx context.Context, id domain.WorkflowID) (history.Seq, error) {
	s.takes(500 * time.Microsecond)
	return s.Backend.Head(ctx, id)
}

func (s distant) History(ctx context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error) {
	events, err := s.Backend.History(ctx, id, from, limit)
	s.takes(500*time.Microsecond + time.Duration(len(events))*3*time.Microsecond)
	return events, err
}

func (s distant) Runs(ctx context.Context, id domain.WorkflowID) ([]history.RunRow, error) {
	s.takes(500 * time.Microsecond)
	return s.Backend.Runs(ctx, id)
}

// noise is a signal that nobody waits for.
func noise(id string) engine.Decision {
	return func(engine.View) (engine.Change, error) {
		return engine.Change{Facts: []history.Event{history.SignalReceived{SignalID: id, SignalName: "noise", Payload: []byte(`"x"`)}}}, nil
	}
}

// engine 8: a server that adds to what it keeps is faster than one that has to fold a history again; against a caller who
// never rests the callers of the other server come to their turn all the same.
func TestNobodyIsOvertakenForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, c := newDistant(), waiting(t)
		a, b := newReplica(store, c, "a"), newReplica(store, c, "b")
		defer a.stop()
		defer b.stop()
		if _, err := a.Do(context.Background(), wid, start(c, nil)); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		var resting sync.WaitGroup
		resting.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				if _, err := a.Do(context.Background(), wid, noise(fmt.Sprint("a/", i))); err != nil {
					t.Error(err)
				}
			}
		})
		time.Sleep(50 * time.Millisecond)
		var wait sync.WaitGroup
		for n := range 20 {
			wait.Go(func() {
				for i := range 20 {
					time.Sleep(time.Duration(n) * 100 * time.Microsecond)
					began := time.Now()
					if _, err := b.Do(context.Background(), wid, noise(fmt.Sprint("b/", n, "/", i))); err != nil {
						t.Error(err)
					}
					if took := time.Since(began); took > time.Second {
						t.Errorf("a signal took %s", took)
					}
				}
			})
		}
		wait.Wait()
		close(over)
		resting.Wait()
		replay(t, store, c)
	})
}
