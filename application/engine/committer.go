package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// The bounds of one transaction: under load one fsync serves this many commits, and a reader of the store waits for at
// most this much of writing.
const (
	groupCommits = 256
	groupBytes   = 1 << 20
)

// committer is the one goroutine that writes. It takes all turns that wait, stores their commits in one transaction and
// then ends each; under light load a commit waits for nobody.
type committer struct {
	store   ports.EventStore
	clock   ports.Clock
	refused atomic.Bool // the store could write nothing of the last group

	mu      sync.Mutex
	filled  *sync.Cond
	waiting []*turn
	closed  bool
}

func newCommitter(store ports.EventStore, clock ports.Clock) *committer {
	c := &committer{store: store, clock: clock}
	c.filled = sync.NewCond(&c.mu)
	return c
}

// submit hands over a turn; it never waits, because a box has one turn at most and boxes are bounded by their callers.
func (c *committer) submit(t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, t)
	c.filled.Signal()
}

// close lets run end when nothing waits any more.
func (c *committer) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.filled.Signal()
}

func (c *committer) run(ctx context.Context, settled func(*turn, error)) {
	for {
		group := c.take()
		if len(group) == 0 {
			return
		}
		commits := make([]history.Commit, len(group))
		for i, t := range group {
			commits[i] = t.commit
		}
		began := c.clock.Now()
		errs := c.store.Append(ctx, commits)
		away := c.note(errs, c.clock.Now().Sub(began))
		for i, t := range group {
			settled(t, errs[i])
		}
		if away == nil {
			continue
		}
		for _, t := range c.waited() {
			settled(t, away)
		}
	}
}

// waitedLong is how long a group must have waited in vain for those behind it to have waited enough, too.
const waitedLong = 2 * time.Second

// note takes the answers of the store. away is the refusal of a store that let the whole group wait in vain.
func (c *committer) note(errs []error, took time.Duration) (away error) {
	for _, err := range errs {
		if domain.CodeOf(err) != domain.CodeUnavailable {
			c.refused.Store(false)
			return nil
		}
		away = err
	}
	c.refused.Store(true)
	if took < waitedLong {
		return nil
	}
	return away
}

// waited takes everything that waits.
func (c *committer) waited() []*turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting = nil
	return all
}

// take waits for turns and takes a group of them; none after close.
func (c *committer) take() []*turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) == 0 && !c.closed {
		c.filled.Wait()
	}
	n, size := 0, 0
	for n < len(c.waiting) && n < groupCommits {
		size += c.waiting[n].bytes
		if n > 0 && size > groupBytes {
			break
		}
		n++
	}
	group := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	if len(c.waiting) == 0 {
		c.waiting = nil
	}
	return group
}
