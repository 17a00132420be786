package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/domain"
	"aion/domain/history"
	"aion/test/fake"
)

// absent is a store that lets every commit wait in vain while it is away.
type absent struct {
	fake.Backend
	away *atomic.Bool
}

func (s absent) Append(ctx context.Context, commits []history.Commit) []error {
	if !s.away.Load() {
		return s.Backend.Append(ctx, commits)
	}
	time.Sleep(4500 * time.Millisecond)
	errs := make([]error, len(commits))
	for i := range errs {
		errs[i] = domain.Unavailable("StoreUnavailable", "away", nil)
	}
	return errs
}

// engine 8: whoever comes while a group waits for a store that is away is answered with it, not one wait later; and the
// engine says that nothing can be written until something was.
func TestWhoWaitsBehindAStoreThatIsAwayIsAnsweredWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, c := absent{memory.New(realtime{}), new(atomic.Bool)}, waiting(t)
		a := newReplica(store, c, "a")
		defer a.stop()
		store.away.Store(true)
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				time.Sleep(time.Duration(i) * 200 * time.Millisecond)
				id, began := domain.WorkflowID(fmt.Sprintf("0198aaaa-0000-7000-8000-0000000001%02d", i)), time.Now()
				if _, err := a.Do(context.Background(), id, start(c, nil)); domain.CodeOf(err) != domain.CodeUnavailable {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took > 4600*time.Millisecond {
					t.Errorf("the answer took %s", took)
				}
			})
		}
		wait.Wait()
		if !a.Refused() {
			t.Error("nothing can be written, and the engine does not say so")
		}
		store.away.Store(false)
		if _, err := a.Do(context.Background(), wid, start(c, nil)); err != nil || a.Refused() {
			t.Errorf("got %v, refused %v", err, a.Refused())
		}
	})
}
