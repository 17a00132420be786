package fake

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
)

// CreateSchedule implements ports.ScheduleStore.
func (s *Store) CreateSchedule(ctx context.Context, made schedule.Schedule, since time.Time) (schedule.Schedule, bool, error) {
	got, err := call(ctx, s, "CreateSchedule", func() (p pair[schedule.Schedule, bool], err error) {
		p.a, p.b, err = s.next.CreateSchedule(ctx, made, since)
		return p, err
	})
	return got.a, got.b, err
}

// Schedule implements ports.ScheduleStore.
func (s *Store) Schedule(ctx context.Context, of schedule.Ref) (schedule.Schedule, error) {
	return call(ctx, s, "Schedule", func() (schedule.Schedule, error) { return s.next.Schedule(ctx, of) })
}

// Schedules implements ports.ScheduleStore.
func (s *Store) Schedules(ctx context.Context, which ports.ScheduleFilter) ([]schedule.Schedule, error) {
	return call(ctx, s, "Schedules", func() ([]schedule.Schedule, error) { return s.next.Schedules(ctx, which) })
}

// ChangeSchedule implements ports.ScheduleStore.
func (s *Store) ChangeSchedule(ctx context.Context, of schedule.Ref, change ports.ScheduleChange) (schedule.Schedule, error) {
	return call(ctx, s, "ChangeSchedule", func() (schedule.Schedule, error) { return s.next.ChangeSchedule(ctx, of, change) })
}

// DeleteSchedule implements ports.ScheduleStore.
func (s *Store) DeleteSchedule(ctx context.Context, of schedule.Ref, check func(schedule.Schedule) error, audit *domain.AuditRecord) error {
	return act(ctx, s, "DeleteSchedule", func() error { return s.next.DeleteSchedule(ctx, of, check, audit) })
}

// Fires implements ports.ScheduleStore.
func (s *Store) Fires(ctx context.Context, of schedule.Schedule, before int64, limit int) ([]schedule.Fire, error) {
	return call(ctx, s, "Fires", func() ([]schedule.Fire, error) { return s.next.Fires(ctx, of, before, limit) })
}

// DueSchedules implements ports.ScheduleQueue.
func (s *Store) DueSchedules(ctx context.Context, of ports.Shards, now time.Time, after *ports.DueSchedule, limit int) ([]ports.DueSchedule, error) {
	return call(ctx, s, "DueSchedules", func() ([]ports.DueSchedule, error) { return s.next.DueSchedules(ctx, of, now, after, limit) })
}

// NextSchedule implements ports.ScheduleQueue.
func (s *Store) NextSchedule(ctx context.Context, of ports.Shards) (time.Time, error) {
	return call(ctx, s, "NextSchedule", func() (time.Time, error) { return s.next.NextSchedule(ctx, of) })
}

// OpenOfSchedule implements ports.ScheduleQueue.
func (s *Store) OpenOfSchedule(ctx context.Context, of schedule.Ref, limit int) ([]history.RunRow, error) {
	return call(ctx, s, "OpenOfSchedule", func() ([]history.RunRow, error) { return s.next.OpenOfSchedule(ctx, of, limit) })
}
