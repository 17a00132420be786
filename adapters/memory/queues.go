package memory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Due implements ports.TaskStore.
func (s *Store) Due(_ context.Context, now time.Time, limit int) ([]history.Task, error) {
	tasks := s.selectTasks(func(t history.Task) bool {
		return t.State == history.TaskParked || t.State == history.TaskQueued && !t.NotBefore.After(now)
	})
	slices.SortFunc(tasks, func(a, b history.Task) int {
		return cmp.Or(a.ScheduledAt.Compare(b.ScheduledAt), compareKeys(a.Key, b.Key))
	})
	return tasks[:min(max(limit, 0), len(tasks))], nil
}

// Held implements ports.TaskStore.
func (s *Store) Held(_ context.Context, owners ...string) ([]history.Task, error) {
	tasks := s.selectTasks(func(t history.Task) bool {
		return t.State == history.TaskStarted && (len(owners) == 0 || slices.Contains(owners, t.Owner))
	})
	slices.SortFunc(tasks, func(a, b history.Task) int { return compareKeys(a.Key, b.Key) })
	return tasks, nil
}

// Lapsed implements ports.TaskStore.
func (s *Store) Lapsed(_ context.Context, at time.Time, limit int) ([]history.Task, error) {
	tasks := s.selectTasks(func(t history.Task) bool { return t.State == history.TaskStarted && !t.ClaimUntil.After(at) })
	slices.SortFunc(tasks, func(a, b history.Task) int {
		return cmp.Or(a.ClaimUntil.Compare(b.ClaimUntil), compareKeys(a.Key, b.Key))
	})
	return tasks[:min(max(limit, 0), len(tasks))], nil
}

// Open implements ports.TaskStore.
func (s *Store) Open(_ context.Context, id domain.WorkflowID) ([]history.Task, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var tasks []history.Task
	for _, t := range s.tasks[id] {
		tasks = append(tasks, copyTask(t))
	}
	slices.SortFunc(tasks, func(a, b history.Task) int {
		return cmp.Or(cmp.Compare(a.Key.ActivityID, b.Key.ActivityID), compareKeys(a.Key, b.Key))
	})
	return tasks, nil
}

// Park implements ports.TaskStore.
func (s *Store) Park(_ context.Context, claims []history.Claim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		t, held := s.held(c)
		if !held {
			continue
		}
		t.State, t.Owner, t.Token, t.ClaimUntil = history.TaskParked, "", 0, time.Time{}
		s.tasks.put(c.Key.WorkflowID, taskPlace(c.Key), t)
	}
	return nil
}

// Renew implements ports.TaskStore.
func (s *Store) Renew(_ context.Context, claims []history.Claim, until time.Time) ([]history.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost []history.Claim
	for _, c := range claims {
		t, held := s.held(c)
		if !held {
			lost = append(lost, c)
			continue
		}
		t.ClaimUntil = stored(until)
		s.tasks.put(c.Key.WorkflowID, taskPlace(c.Key), t)
	}
	return lost, nil
}

// Lost implements ports.TaskStore.
func (s *Store) Lost(_ context.Context, claims []history.Claim) ([]history.Claim, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var lost []history.Claim
	for _, c := range claims {
		if _, held := s.held(c); !held {
			lost = append(lost, c)
		}
	}
	return lost, nil
}

// held finds the task of a claim that is not lost.
func (s *Store) held(c history.Claim) (history.Task, bool) {
	t, ok := s.tasks[c.Key.WorkflowID][taskPlace(c.Key)]
	return t, ok && t.State == history.TaskStarted && t.Key.Attempt == c.Key.Attempt && t.Token == c.Token
}

// parked reports whether a claim says rightly that its attempt is parked.
func (s *Store) parked(c history.Claim) bool {
	t, ok := s.tasks[c.Key.WorkflowID][taskPlace(c.Key)]
	return ok && c.Token == 0 && t.State == history.TaskParked && t.Key.Attempt == c.Key.Attempt
}

// NextDue implements ports.TaskStore. A task without a due time has long been due.
func (s *Store) NextDue(_ context.Context) (time.Time, error) {
	longDue := time.Unix(0, 0).UTC()
	var next time.Time
	for _, t := range s.selectTasks(func(t history.Task) bool { return t.State == history.TaskQueued }) {
		due := t.NotBefore
		if due.IsZero() {
			due = longDue
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next, nil
}

// Depths implements ports.QueueStore.
func (s *Store) Depths(ctx context.Context, now time.Time) ([]ports.QueueDepth, error) {
	waiting, err := s.Due(ctx, now, math.MaxInt)
	var depths []ports.QueueDepth
	for _, t := range waiting {
		since := t.ScheduledAt
		if t.NotBefore.After(since) {
			since = t.NotBefore
		}
		at := ports.QueueDepth{Namespace: t.Namespace, TaskQueue: t.TaskQueue, Oldest: since}
		i, found := slices.BinarySearchFunc(depths, at, func(a, b ports.QueueDepth) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.TaskQueue, b.TaskQueue))
		})
		if !found {
			depths = slices.Insert(depths, i, at)
		}
		depths[i].Tasks++
		if since.Before(depths[i].Oldest) {
			depths[i].Oldest = since
		}
	}
	return depths, err
}

func (s *Store) selectTasks(wanted func(history.Task) bool) []history.Task {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var tasks []history.Task
	for _, of := range s.tasks {
		for _, t := range of {
			if wanted(t) {
				tasks = append(tasks, copyTask(t))
			}
		}
	}
	return tasks
}

func compareKeys(a, b domain.AttemptKey) int {
	return cmp.Or(cmp.Compare(a.WorkflowID, b.WorkflowID), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.ActivityID, b.ActivityID))
}

// DueTimers implements ports.TimerStore.
func (s *Store) DueTimers(_ context.Context, shards ports.Shards, now time.Time, limit int) ([]history.Timer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var due []history.Timer
	for id, of := range s.timers {
		if !within(shards, id) {
			continue
		}
		for _, t := range of {
			if !t.FireAt.After(now) {
				due = append(due, t)
			}
		}
	}
	slices.SortFunc(due, func(a, b history.Timer) int {
		return cmp.Or(a.FireAt.Compare(b.FireAt), cmp.Compare(a.WorkflowID, b.WorkflowID), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.TimerID, b.TimerID))
	})
	return due[:min(max(limit, 0), len(due))], nil
}

// NextTimer implements ports.TimerStore.
func (s *Store) NextTimer(_ context.Context, shards ports.Shards) (time.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var next time.Time
	for id, of := range s.timers {
		if !within(shards, id) {
			continue
		}
		for _, t := range of {
			if next.IsZero() || t.FireAt.Before(next) {
				next = t.FireAt
			}
		}
	}
	return next, nil
}

// Pending implements ports.OutboxStore.
func (s *Store) Pending(_ context.Context, shards ports.Shards, limit int) ([]history.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var pending []history.Message
	for _, m := range s.outbox {
		if len(pending) >= limit {
			break
		}
		if within(shards, m.WorkflowID) {
			pending = append(pending, copyMessage(m))
		}
	}
	return pending, nil
}

func within(shards ports.Shards, id domain.WorkflowID) bool {
	return shards == nil || slices.Contains(shards, id.Shard())
}

// Delivered implements ports.OutboxStore.
func (s *Store) Delivered(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox = slices.DeleteFunc(s.outbox, func(m history.Message) bool { return slices.Contains(ids, m.ID) })
	for _, id := range ids {
		delete(s.posted, id)
	}
	return nil
}
