package system

import (
	"sync"

	"aion/domain"
	"aion/ports"
)

// Watch wakes readers in this process. It is safe for concurrent use. Its memory is one channel per subscription.
type Watch struct {
	mu       sync.Mutex
	watchers map[domain.WorkflowID]map[chan struct{}]struct{}
}

var _ ports.Watch = (*Watch)(nil)

// NewWatch gives a watch that nobody has subscribed to.
func NewWatch() *Watch {
	return &Watch{watchers: map[domain.WorkflowID]map[chan struct{}]struct{}{}}
}

// Changed implements ports.Watch. It never waits: a reader that has not taken its last wake-up yet gets no second one.
func (w *Watch) Changed(id domain.WorkflowID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.watchers[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Subscribe implements ports.Watch. Calling stop again does nothing.
func (w *Watch) Subscribe(id domain.WorkflowID) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watchers[id] == nil {
		w.watchers[id] = map[chan struct{}]struct{}{}
	}
	w.watchers[id][c] = struct{}{}
	return c, func() { w.stop(id, c) }
}

func (w *Watch) stop(id domain.WorkflowID, c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watchers[id], c)
	if len(w.watchers[id]) == 0 {
		delete(w.watchers, id)
	}
}
