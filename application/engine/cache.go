package engine

import (
	"container/list"
	"sync"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/machine"
	"aion/domain/run"
)

// entry is a folded workflow. It belongs to the cache or to the one turn that took it out.
type entry struct {
	run      *run.Run             // the latest run; nil: the workflow does not exist
	state    *machine.State       // nil: the plan is not loaded, or the history does not fold under it
	contract *deployment.Contract // nil: the plan is not loaded
	fault    string               // why the history does not fold; empty: it does
	asked    bool                 // the machine was asked, whatever came of it; of an ended run it is not, as a rule
	pace     pace
}

// unasked reports that nobody has asked the machine about a run that has ended.
func (e *entry) unasked() bool { return e.run != nil && e.run.Ended() && e.state == nil && !e.asked }

// cache keeps the entries used last. It may lose any of them at any time: they are folded again.
type cache struct {
	mu    sync.Mutex
	limit int
	byID  map[domain.WorkflowID]*list.Element
	used  *list.List // of *kept, the one used last in front
}

type kept struct {
	id    domain.WorkflowID
	entry *entry
}

func newCache(limit int) *cache {
	return &cache{limit: limit, byID: map[domain.WorkflowID]*list.Element{}, used: list.New()}
}

// take removes an entry for a turn; nil when it is not there.
func (c *cache) take(id domain.WorkflowID) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil
	}
	c.used.Remove(e)
	delete(c.byID, id)
	return e.Value.(*kept).entry
}

// put gives an entry back and forgets the one that was used longest ago.
func (c *cache) put(id domain.WorkflowID, ent *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[id] = c.used.PushFront(&kept{id: id, entry: ent})
	if c.used.Len() > c.limit {
		oldest := c.used.Back()
		c.used.Remove(oldest)
		delete(c.byID, oldest.Value.(*kept).id)
	}
}
