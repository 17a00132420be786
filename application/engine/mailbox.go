package engine

import (
	"context"
	"sync"

	"aion/domain"
)

// item is one call that waits for its turn: exactly one of decide and look is set.
type item struct {
	ctx    context.Context //nolint:containedctx // the caller's, only asked whether it still waits
	decide Decision
	look   func(View) error
	done   func(Receipt, error)
	fresh  bool // the workflow id has just been minted
	ended  bool // it needs the state of a run that has ended, too
	tries  int  // lost races
}

// box holds the items of one workflow. It exists only while it has items or is being served.
type box struct {
	id    domain.WorkflowID
	items []item
	// solo: an item of the last turn spoilt the state, so they are served one by one until the box is empty.
	solo bool
}

// mailboxes is the keyed executor: items of one workflow are served one at a time in order of arrival.
type mailboxes struct {
	mu     sync.Mutex
	filled *sync.Cond
	boxes  map[domain.WorkflowID]*box
	ready  []*box // boxes with items that nobody serves
	closed bool
}

func newMailboxes() *mailboxes {
	m := &mailboxes{boxes: map[domain.WorkflowID]*box{}}
	m.filled = sync.NewCond(&m.mu)
	return m
}

// put adds an item; after close it is refused at once.
func (m *mailboxes) put(id domain.WorkflowID, it item) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		it.done(Receipt{}, shuttingDown())
		return
	}
	b := m.boxes[id]
	if b == nil {
		b = &box{id: id}
		m.boxes[id] = b
		m.ready = append(m.ready, b)
		m.filled.Signal()
	}
	b.items = append(b.items, it)
	m.mu.Unlock()
}

// next waits for a box to serve; false after close.
func (m *mailboxes) next() (*box, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.ready) == 0 && !m.closed {
		m.filled.Wait()
	}
	if m.closed {
		return nil, false
	}
	b := m.ready[0]
	m.ready[0] = nil
	m.ready = m.ready[1:]
	return b, true
}

// first shows the item at the head of a box, and tells how many wait there.
func (m *mailboxes) first(b *box) (head item, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(b.items) == 0 {
		return item{}, 0
	}
	return b.items[0], len(b.items)
}

// drop removes the item at the head of a box.
func (m *mailboxes) drop(b *box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.items[0] = item{}
	b.items = b.items[1:]
}

// putBack returns items to the head of a box, in order.
func (m *mailboxes) putBack(b *box, items []item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.items = append(append(make([]item, 0, len(items)+len(b.items)), items...), b.items...)
}

// takeAll empties a box.
func (m *mailboxes) takeAll(b *box) []item {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

// served ends a turn: the box waits for the next one, or is gone. After close its items are refused.
func (m *mailboxes) served(b *box) {
	m.mu.Lock()
	var refused []item
	switch {
	case len(b.items) == 0:
		delete(m.boxes, b.id)
	case m.closed:
		refused, b.items = b.items, nil
		delete(m.boxes, b.id)
	default:
		m.ready = append(m.ready, b)
		m.filled.Signal()
	}
	m.mu.Unlock()
	refuse(refused)
}

// fail answers every item that is not being served.
func (m *mailboxes) fail(err error) {
	for _, it := range m.unserved() {
		it.done(Receipt{}, err)
	}
}

func (m *mailboxes) unserved() (items []item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.ready {
		items = append(items, b.items...)
		b.items = nil
		delete(m.boxes, b.id)
	}
	m.ready = nil
	return items
}

// close refuses every item that is not being served, now and from now on, and ends all waiting.
func (m *mailboxes) close() {
	m.mu.Lock()
	m.closed = true
	m.filled.Broadcast()
	m.mu.Unlock()
	refuse(m.unserved())
}

func (m *mailboxes) stopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func refuse(items []item) {
	for _, it := range items {
		it.done(Receipt{}, shuttingDown())
	}
}
