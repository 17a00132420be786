package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"aion/domain/task"
	"aion/ports"
)

// CreateMCPTask implements ports.MCPTaskStore.
func (s *Store) CreateMCPTask(_ context.Context, t task.Task, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	working := 0
	for _, other := range s.mcpTasks {
		if other.Owner == t.Owner && other.State == task.Working {
			working++
		}
	}
	if working >= limit {
		return task.TooMany(limit)
	}
	s.mcpTasks[t.ID] = copyMCPTask(t)
	s.record(t.Audit)
	return nil
}

// MCPTask implements ports.MCPTaskStore.
func (s *Store) MCPTask(_ context.Context, id task.ID) (task.Task, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, known := s.mcpTasks[id]
	if !known {
		return task.Task{}, task.Unknown()
	}
	return copyMCPTask(t), nil
}

// ChangeMCPTask implements ports.MCPTaskStore.
func (s *Store) ChangeMCPTask(_ context.Context, id task.ID, change func(task.Task) (task.Task, error)) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.mcpTasks[id]
	if !known {
		return task.Task{}, task.Unknown()
	}
	t, err := change(copyMCPTask(before))
	if err != nil {
		return task.Task{}, err
	}
	s.mcpTasks[id] = copyMCPTask(t)
	s.record(t.Audit)
	return copyMCPTask(t), nil
}

// WorkingMCPTasks implements ports.MCPTaskStore.
func (s *Store) WorkingMCPTasks(_ context.Context, which ports.WorkingMCPTasks) ([]task.ID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []task.ID
	for _, t := range s.mcpTasks {
		free := which.LeaseBy.IsZero() || !t.LeaseUntil.After(which.LeaseBy)
		if t.State == task.Working && t.Started() == which.Started && t.ID > which.After && free {
			list = append(list, t.ID)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), max(which.Limit, 0))], nil
}

// MCPTasks implements ports.MCPTaskList.
func (s *Store) MCPTasks(_ context.Context, which ports.MCPTaskFilter) ([]task.Task, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	newestFirst := func(a, b ports.MCPTaskPosition) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	}
	var list []task.Task
	for _, t := range s.mcpTasks {
		if t.Expired(which.Now) || which.Owner != "" && t.Owner != which.Owner || which.State != "" && t.State != which.State ||
			which.After != nil && newestFirst(position(t), *which.After) <= 0 {
			continue
		}
		t = task.Task{
			ID: t.ID, Owner: t.Owner, Namespace: t.Namespace, Tool: t.Tool, State: t.State, StatusMessage: t.StatusMessage,
			WorkflowID: t.WorkflowID, RunID: t.RunID, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, ExpiresAt: t.ExpiresAt,
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b task.Task) int { return newestFirst(position(a), position(b)) })
	return list[:min(len(list), max(which.Limit, 0))], nil
}

func position(t task.Task) ports.MCPTaskPosition {
	return ports.MCPTaskPosition{CreatedAt: t.CreatedAt, ID: t.ID}
}

// DeleteMCPTasks implements ports.MCPTaskStore.
func (s *Store) DeleteMCPTasks(_ context.Context, now time.Time, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	removed := 0
	for id, t := range s.mcpTasks {
		if removed < limit && t.Expired(now) {
			delete(s.mcpTasks, id)
			removed++
		}
	}
	return removed, nil
}

// CountMCPTasks implements ports.MCPTaskStore.
func (s *Store) CountMCPTasks(_ context.Context) (map[task.State]int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	counts := map[task.State]int{}
	for _, t := range s.mcpTasks {
		counts[t.State]++
	}
	return counts, nil
}

func copyMCPTask(t task.Task) task.Task {
	t.Arguments, t.Audit = bytes.Clone(t.Arguments), nil
	t.CreatedAt, t.UpdatedAt = stored(t.CreatedAt), stored(t.UpdatedAt)
	t.ExpiresAt, t.LeaseUntil = stored(t.ExpiresAt), stored(t.LeaseUntil)
	if t.Outcome != nil {
		o := *t.Outcome
		o.Value = bytes.Clone(o.Value)
		if o.Refusal != nil {
			r := *o.Refusal
			o.Refusal = &r
		}
		t.Outcome = &o
	}
	return t
}
