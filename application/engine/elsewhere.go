package engine

import (
	"time"

	"aion/domain"
	"aion/ports"
)

// Elsewhere wakes those who look at what was changed elsewhere; it never waits, and may be called from the time of New on.
// The loss of a call costs a poll. States that are kept need none: they are held against the store when they are used.
func (e *Engine) Elsewhere(c ports.Changes) {
	for _, id := range c.Workflows {
		e.deps.Watch.Changed(id)
	}
	e.outbox.elsewhere(c, e.now())
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

func (o *Outbox) elsewhere(c ports.Changes, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.noted.changed == nil {
		o.noted.changed = map[domain.WorkflowID]struct{}{}
	}
	for _, id := range c.Workflows {
		o.noted.changed[id] = struct{}{}
	}
	if c.All || len(o.noted.changed) > notedWorkflows {
		o.noted.changed, o.noted.all = nil, true
	}
	o.noted.tasks = o.noted.tasks || c.Tasks || c.All
	if soon := now.Add(notedTimers); (c.Timers || c.All) && (o.earliest.IsZero() || soon.Before(o.earliest)) {
		o.earliest = soon
	}
	notify(o.tasks, c.All || c.Tasks || len(c.Workflows) > 0)
	notify(o.timers, c.All || c.Timers)
	notify(o.messages, c.All || c.Messages)
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
