package engine

import (
	"time"

	"aion/domain"
)

// News is what another server has changed in the store, as far as is known. All: it may be anything, of any workflow.
type News struct {
	Workflows []domain.WorkflowID
	All       bool
	Timers    bool // some were set
	Messages  bool // some were posted
	Tasks     bool // some wait for a slot
}

// Elsewhere wakes those who look at what News may concern; it never waits, and may be called from the time of New on. Its
// loss costs a poll. States that are kept need none: they are held against the store when they are used.
func (e *Engine) Elsewhere(n News) {
	for _, id := range n.Workflows {
		e.deps.Watch.Changed(id)
	}
	e.outbox.elsewhere(n, e.now())
}

// The bounds of what is noted of other servers: workflows by name, and how soon timers are looked for after one was set
// there, so that a busy server does not keep the others reading.
const (
	notedWorkflows = 4096
	notedTimers    = 100 * time.Millisecond
)

// noted is what other servers have changed since it was asked for.
type noted struct {
	changed map[domain.WorkflowID]struct{}
	all     bool
	tasks   bool
}

func (o *Outbox) elsewhere(n News, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.noted.changed == nil {
		o.noted.changed = map[domain.WorkflowID]struct{}{}
	}
	for _, id := range n.Workflows {
		o.noted.changed[id] = struct{}{}
	}
	if n.All || len(o.noted.changed) > notedWorkflows {
		o.noted.changed, o.noted.all = nil, true
	}
	o.noted.tasks = o.noted.tasks || n.Tasks || n.All
	if soon := now.Add(notedTimers); (n.Timers || n.All) && (o.earliest.IsZero() || soon.Before(o.earliest)) {
		o.earliest = soon
	}
	notify(o.tasks, n.All || n.Tasks || len(n.Workflows) > 0)
	notify(o.timers, n.All || n.Timers)
	notify(o.messages, n.All || n.Messages)
}

// Elsewhere gives what other servers have changed since the last call: the workflows, whether they may be any, and whether
// tasks wait. Tasks is written when there is something.
func (o *Outbox) Elsewhere() (changed map[domain.WorkflowID]struct{}, all, tasks bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.noted
	o.noted = noted{}
	return n.changed, n.all, n.tasks
}
