package fake

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/task"
	"aion/ports"
)

// CreateMCPTask implements ports.MCPTaskStore.
func (s *Store) CreateMCPTask(ctx context.Context, t task.Task, limit int) error {
	return act(ctx, s, "CreateMCPTask", func() error { return s.next.CreateMCPTask(ctx, t, limit) })
}

// MCPTask implements ports.MCPTaskStore.
func (s *Store) MCPTask(ctx context.Context, id task.ID) (task.Task, error) {
	return call(ctx, s, "MCPTask", func() (task.Task, error) { return s.next.MCPTask(ctx, id) })
}

// ChangeMCPTask implements ports.MCPTaskStore.
func (s *Store) ChangeMCPTask(ctx context.Context, id task.ID, change func(task.Task) (task.Task, error)) (task.Task, error) {
	return call(ctx, s, "ChangeMCPTask", func() (task.Task, error) { return s.next.ChangeMCPTask(ctx, id, change) })
}

// WorkingMCPTasks implements ports.MCPTaskStore.
func (s *Store) WorkingMCPTasks(ctx context.Context, which ports.WorkingMCPTasks) ([]task.ID, error) {
	return call(ctx, s, "WorkingMCPTasks", func() ([]task.ID, error) { return s.next.WorkingMCPTasks(ctx, which) })
}

// MCPTasks implements ports.MCPTaskList.
func (s *Store) MCPTasks(ctx context.Context, which ports.MCPTaskFilter) ([]task.Task, error) {
	return call(ctx, s, "MCPTasks", func() ([]task.Task, error) { return s.next.MCPTasks(ctx, which) })
}

// DeleteMCPTasks implements ports.MCPTaskStore.
func (s *Store) DeleteMCPTasks(ctx context.Context, now time.Time, limit int) (int, error) {
	return call(ctx, s, "DeleteMCPTasks", func() (int, error) { return s.next.DeleteMCPTasks(ctx, now, limit) })
}

// CountMCPTasks implements ports.MCPTaskStore.
func (s *Store) CountMCPTasks(ctx context.Context) (map[task.State]int, error) {
	return call(ctx, s, "CountMCPTasks", func() (map[task.State]int, error) { return s.next.CountMCPTasks(ctx) })
}

// BeginAudit implements ports.AuditLog.
func (s *Store) BeginAudit(ctx context.Context, chain string, first domain.AuditRecord) error {
	return act(ctx, s, "BeginAudit", func() error { return s.next.BeginAudit(ctx, chain, first) })
}

// Audit implements ports.AuditLog.
func (s *Store) Audit(ctx context.Context, r domain.AuditRecord) error {
	return act(ctx, s, "Audit", func() error { return s.next.Audit(ctx, r) })
}

// AuditRecords implements ports.AuditLog.
func (s *Store) AuditRecords(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error) {
	return call(ctx, s, "AuditRecords", func() ([]domain.AuditRecord, error) { return s.next.AuditRecords(ctx, after, limit) })
}

// AuditHeads implements ports.AuditLog.
func (s *Store) AuditHeads(ctx context.Context) ([]domain.AuditHead, error) {
	return call(ctx, s, "AuditHeads", func() ([]domain.AuditHead, error) { return s.next.AuditHeads(ctx) })
}
