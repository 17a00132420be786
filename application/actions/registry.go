package actions

import (
	"context"
	"errors"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// The reasons for which an attempt cannot be registered.
var (
	errDraining  = errors.New("the server drains")
	errDuplicate = errors.New("the attempt is registered already")
)

// registry finds the attempts of this server that may have to be stopped. An entry lives from before the start of an
// attempt to after the proof of its end. It is safe for concurrent use.
type registry struct {
	mu       sync.Mutex
	entries  map[domain.AttemptKey]*entry
	byRun    map[domain.RunID]map[domain.AttemptKey]struct{}
	draining bool
	idle     chan struct{} // closed while draining and nothing is registered
}

// entry is one attempt.
type entry struct {
	ctx   context.Context //nolint:containedctx // of the attempt, only asked whether it was stopped
	stop  context.CancelCauseFunc
	token history.Seq // of its claim; 0: its start is not recorded yet
	held  time.Time   // since then the claim holds for its time
	over  bool        // nothing of it runs any more; its verdict may still have to be recorded
}

// running reports whether a claim has something that can be stopped.
func (e *entry) running() bool { return e.token != 0 && !e.over && e.ctx.Err() == nil }

func newRegistry() *registry {
	return &registry{
		entries: map[domain.AttemptKey]*entry{}, byRun: map[domain.RunID]map[domain.AttemptKey]struct{}{},
		idle: make(chan struct{}),
	}
}

// register adds an attempt that has no claim yet; the context ends with the cause for which it is stopped. release must be
// called on every way out.
func (r *registry) register(ctx context.Context, key domain.AttemptKey) (attempt context.Context, release func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return nil, nil, errDraining
	}
	if _, twice := r.entries[key]; twice {
		return nil, nil, errDuplicate
	}
	attempt, cancel := context.WithCancelCause(ctx)
	r.entries[key] = &entry{ctx: attempt, stop: cancel}
	if r.byRun[key.RunID] == nil {
		r.byRun[key.RunID] = map[domain.AttemptKey]struct{}{}
	}
	r.byRun[key.RunID][key] = struct{}{}
	return attempt, func() { r.release(key); cancel(nil) }, nil
}

func (r *registry) release(key domain.AttemptKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, key)
	delete(r.byRun[key.RunID], key)
	if len(r.byRun[key.RunID]) == 0 {
		delete(r.byRun, key.RunID)
	}
	r.rest()
}

func (r *registry) rest() {
	if r.draining && len(r.entries) == 0 {
		select {
		case <-r.idle:
		default:
			close(r.idle)
		}
	}
}

// ended notes that nothing of an attempt runs any more.
func (r *registry) ended(key domain.AttemptKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.over = true
	}
}

// stopRun stops all attempts of a run. The first cause of an attempt wins.
func (r *registry) stopRun(run domain.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.byRun[run] {
		r.entries[key].stop(ports.StopRunClosed)
	}
}

// stopActivity stops the attempt of an activity.
func (r *registry) stopActivity(run domain.RunID, activityID int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.byRun[run] {
		if key.ActivityID == activityID {
			r.entries[key].stop(ports.StopCancelled)
		}
	}
}

// runsAny reports whether an attempt of one of the workflows is registered.
func (r *registry) runsAny(of map[domain.WorkflowID]struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.entries {
		if _, ok := of[key.WorkflowID]; ok {
			return true
		}
	}
	return false
}

// holds reports whether an attempt is registered.
func (r *registry) holds(key domain.AttemptKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.entries[key]
	return ok
}

// drain refuses new attempts from now on; idle is closed when the last one is released.
func (r *registry) drain() (idle <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	r.rest()
	return r.idle
}

// drains reports whether new attempts are refused.
func (r *registry) drains() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining
}

// stopAll stops every attempt and tells how many there are.
func (r *registry) stopAll(cause ports.StopCause) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		e.stop(cause)
	}
	return len(r.entries)
}
