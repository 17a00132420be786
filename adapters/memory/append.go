package memory

import (
	"context"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

// Append implements ports.EventStore.
func (s *Store) Append(ctx context.Context, commits []history.Commit) []error {
	errs := make([]error, len(commits))
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		for i := range errs {
			errs[i] = context.Cause(ctx)
		}
		return errs
	}
	for i := range commits {
		errs[i] = s.commit(&commits[i])
	}
	return errs
}

// commit refuses before it changes anything, so that a refused commit leaves nothing.
func (s *Store) commit(c *history.Commit) error {
	if err := ports.CheckCommit(c); err != nil {
		return err
	}
	now := s.clock.Now()
	begun, refusal, _ := ports.Judge(c, grounds{s, now}) // nothing fails here
	if refusal != nil {
		return refusal
	}
	w := s.workflows[c.WorkflowID]
	if w == nil {
		w = &workflow{}
		s.workflows[c.WorkflowID] = w
	}
	for _, e := range c.Events {
		w.events = append(w.events, copyEvent(e))
	}
	for _, row := range c.Rows {
		w.put(copyRow(row))
	}
	s.changes.note(c)
	w.current = nil
	if c.Current != nil {
		current := *c.Current
		w.current = &current
	}
	for _, a := range c.Acts {
		s.act(a)
	}
	if k := c.Started; k != nil {
		s.expireKeys(now)
		kept := *k
		kept.ExpiresAt, kept.Task = stored(k.ExpiresAt), ""
		s.keys[idempotencyKey{k.Scope, k.Key}] = kept
	}
	if begun != nil {
		s.mcpTasks[begun.ID] = *begun
	}
	for i := range c.Audit {
		s.record(&c.Audit[i])
	}
	return nil
}

// grounds implements ports.Grounds under the lock of the store.
type grounds struct {
	s   *Store
	now time.Time
}

// KeyFree implements ports.Grounds.
func (g grounds) KeyFree(k *history.Idempotency) (bool, error) {
	old, known := g.s.keys[idempotencyKey{k.Scope, k.Key}]
	return !known || !old.ExpiresAt.After(g.now), nil
}

// Waiting implements ports.Grounds.
func (g grounds) Waiting(id task.ID) (t task.Task, known bool, err error) {
	t, known = g.s.mcpTasks[id]
	return t, known, nil
}

// Held implements ports.Grounds.
func (g grounds) Held(c history.Claim) (bool, error) {
	_, held := g.s.held(c)
	return held || g.s.parked(c), nil
}

// Follows implements ports.Grounds.
func (g grounds) Follows(c *history.Commit) (bool, error) {
	return g.s.workflows[c.WorkflowID].head() == c.ExpectedSeq, nil
}

// expireKeys looks at a few keys for each new one, so that the dead ones never outnumber the live ones by much.
func (s *Store) expireKeys(now time.Time) {
	looked := 0
	for k, v := range s.keys {
		if looked == 8 {
			return
		}
		looked++
		if !v.ExpiresAt.After(now) {
			delete(s.keys, k)
		}
	}
}

func (w *workflow) head() history.Seq {
	if w == nil {
		return 0
	}
	return history.Seq(len(w.events))
}

// put replaces the row of the same generation, or adds one in order.
func (w *workflow) put(row history.RunRow) {
	i, found := slices.BinarySearchFunc(w.runs, row.Generation, func(r history.RunRow, g int) int { return r.Generation - g })
	if found {
		w.runs[i] = row
		return
	}
	w.runs = slices.Insert(w.runs, i, row)
}

// act changes a task, a timer or the outbox. One that names nothing stored changes nothing.
func (s *Store) act(a history.Act) {
	switch a := a.(type) {
	case history.TaskAdded:
		k := a.Task.Key
		s.tasks.put(k.WorkflowID, taskPlace(k), copyTask(a.Task))
	case history.TaskMoved:
		if t, ok := s.tasks[a.Key.WorkflowID][taskPlace(a.Key)]; ok {
			t.Key.Attempt, t.State, t.Owner, t.NotBefore = a.Key.Attempt, a.State, a.Owner, stored(a.NotBefore)
			t.Token, t.ClaimUntil = a.Token, stored(a.ClaimUntil)
			s.tasks.put(a.Key.WorkflowID, taskPlace(a.Key), t)
		}
	case history.TaskEnded:
		s.tasks.remove(a.WorkflowID, place{a.RunID, a.ActivityID}.is)
	case history.TimerSet:
		s.timers.put(a.Timer.WorkflowID, place{a.Timer.RunID, a.Timer.TimerID}, copyTimer(a.Timer))
	case history.TimerCleared:
		s.timers.remove(a.WorkflowID, place{a.RunID, a.TimerID}.is)
	case history.RunClosed:
		of := func(p place) bool { return p.run == a.RunID }
		s.tasks.remove(a.WorkflowID, of)
		s.timers.remove(a.WorkflowID, of)
	case history.LeaseTaken:
		s.leases[a.Lease.Hash] = copyLease(a.Lease)
	case history.LeaseOver:
		if l, ok := s.leases[a.Hash]; ok {
			l.State, l.End, l.Verdict, l.RetryAt = history.LeaseEnded, a.End, a.Verdict, stored(a.RetryAt)
			s.leases[a.Hash] = l
		}
	case history.Posted:
		if !s.posted[a.Message.ID] {
			s.posted[a.Message.ID] = true
			s.outbox = append(s.outbox, copyMessage(a.Message))
		}
	}
}

func taskPlace(k domain.AttemptKey) place { return place{k.RunID, k.ActivityID} }

func (p place) is(q place) bool { return p == q }

// History implements ports.EventStore.
func (s *Store) History(_ context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w := s.workflows[id]
	from = max(from, 1)
	if w == nil || from > w.head() || limit <= 0 {
		return nil, nil
	}
	events := w.events[from-1:]
	events = events[:min(limit, len(events))]
	page := make([]history.Recorded, len(events))
	for i, e := range events {
		page[i] = copyEvent(e)
	}
	return page, nil
}

// Head implements ports.EventStore.
func (s *Store) Head(_ context.Context, id domain.WorkflowID) (history.Seq, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.workflows[id].head(), nil
}

// Idempotent implements ports.EventStore.
func (s *Store) Idempotent(_ context.Context, scope, key string) (history.Idempotency, error) {
	now := s.clock.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.keys[idempotencyKey{scope, key}]
	if !ok || !k.ExpiresAt.After(now) {
		return history.Idempotency{}, ports.IdempotencyUnknown(key)
	}
	return k, nil
}
