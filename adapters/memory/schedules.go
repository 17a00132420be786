package memory

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
)

// scheduled is a schedule with its fires, oldest first.
type scheduled struct {
	schedule.Schedule
	fires []schedule.Fire
}

// CreateSchedule implements ports.ScheduleStore.
func (s *Store) CreateSchedule(_ context.Context, made schedule.Schedule, since time.Time) (schedule.Schedule, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.schedules {
		if made.RequestKey != "" && other.RequestKey == made.RequestKey && other.CreatedAt.After(since) {
			return copySchedule(other.Schedule), false, nil
		}
	}
	if _, known := s.schedules[made.Ref()]; known {
		return schedule.Schedule{}, false, schedule.Exists(made.ID)
	}
	s.schedules[made.Ref()] = &scheduled{Schedule: copySchedule(made)}
	s.record(made.Audit)
	return copySchedule(made), true, nil
}

// Schedule implements ports.ScheduleStore.
func (s *Store) Schedule(_ context.Context, of schedule.Ref) (schedule.Schedule, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kept, known := s.schedules[of]
	if !known {
		return schedule.Schedule{}, schedule.NotFound(string(of.ID), of.Namespace)
	}
	return copySchedule(kept.Schedule), nil
}

// Schedules implements ports.ScheduleStore.
func (s *Store) Schedules(_ context.Context, which ports.ScheduleFilter) ([]schedule.Schedule, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []schedule.Schedule
	for _, kept := range s.schedules {
		if kept.Namespace == which.Namespace && kept.ID > which.After && (which.WorkflowType == "" || kept.WorkflowType == which.WorkflowType) &&
			(which.Paused == nil || (kept.Paused != nil) == *which.Paused) {
			list = append(list, copySchedule(kept.Schedule))
		}
	}
	slices.SortFunc(list, func(a, b schedule.Schedule) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(len(list), max(which.Limit, 0))], nil
}

// ChangeSchedule implements ports.ScheduleStore.
func (s *Store) ChangeSchedule(_ context.Context, of schedule.Ref, change ports.ScheduleChange) (schedule.Schedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.schedules[of]
	if !known {
		return schedule.Schedule{}, schedule.NotFound(string(of.ID), of.Namespace)
	}
	after, fires, err := change(copySchedule(kept.Schedule))
	if err != nil {
		return schedule.Schedule{}, err
	}
	kept.Schedule = copySchedule(after)
	for _, f := range fires {
		kept.fires = append(kept.fires, copyFire(f))
	}
	kept.fires = slices.DeleteFunc(kept.fires, func(f schedule.Fire) bool { return f.N <= after.Fires-ports.KeptFires })
	s.record(after.Audit)
	return copySchedule(after), nil
}

// DeleteSchedule implements ports.ScheduleStore.
func (s *Store) DeleteSchedule(_ context.Context, of schedule.Ref, check func(schedule.Schedule) error, audit *domain.AuditRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.schedules[of]
	if !known {
		return schedule.NotFound(string(of.ID), of.Namespace)
	}
	if check != nil {
		if err := check(copySchedule(kept.Schedule)); err != nil {
			return err
		}
	}
	delete(s.schedules, of)
	s.record(audit)
	return nil
}

// Fires implements ports.ScheduleStore.
func (s *Store) Fires(_ context.Context, of schedule.Schedule, before int64, limit int) ([]schedule.Fire, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kept, known := s.schedules[of.Ref()]
	if !known || kept.UID != of.UID {
		return nil, nil
	}
	var list []schedule.Fire
	for _, f := range slices.Backward(kept.fires) {
		if len(list) < limit && (before == 0 || f.N < before) {
			list = append(list, f)
		}
	}
	return list, nil
}

// DueSchedules implements ports.ScheduleQueue.
func (s *Store) DueSchedules(_ context.Context, _ ports.Shards, now time.Time, after *ports.DueSchedule, limit int) ([]ports.DueSchedule, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	byTime := func(a, b ports.DueSchedule) int {
		return cmp.Or(a.WakeAt.Compare(b.WakeAt), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.ID, b.ID))
	}
	var list []ports.DueSchedule
	for _, kept := range s.schedules {
		due := ports.DueSchedule{WakeAt: kept.WakeAt(), Ref: kept.Ref()}
		if !due.WakeAt.IsZero() && !due.WakeAt.After(now) && (after == nil || byTime(due, *after) > 0) {
			list = append(list, due)
		}
	}
	slices.SortFunc(list, byTime)
	return list[:min(len(list), max(limit, 0))], nil
}

// NextSchedule implements ports.ScheduleQueue.
func (s *Store) NextSchedule(context.Context, ports.Shards) (next time.Time, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, kept := range s.schedules {
		if at := kept.WakeAt(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

// OpenOfSchedule implements ports.ScheduleQueue.
func (s *Store) OpenOfSchedule(_ context.Context, of schedule.Ref, limit int) ([]history.RunRow, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := s.selectRuns(func(r history.RunRow) bool {
		return r.Namespace == of.Namespace && r.ScheduleID == string(of.ID) && !r.Status.Terminal()
	})
	slices.SortFunc(rows, newestFirst)
	slices.Reverse(rows)
	return rows[:min(len(rows), max(limit, 0))], nil
}

func copySchedule(v schedule.Schedule) schedule.Schedule {
	v.Audit = nil
	v.Input, v.Labels = bytes.Clone(v.Input), maps.Clone(v.Labels)
	v.Creator.Namespaces = slices.Clone(v.Creator.Namespaces)
	v.CreatedAt, v.UpdatedAt, v.Next, v.Due = stored(v.CreatedAt), stored(v.UpdatedAt), stored(v.Next), stored(v.Due)
	v.Since = stored(v.Since)
	if v.Paused != nil {
		p := *v.Paused
		p.Since = stored(p.Since)
		v.Paused = &p
	}
	if v.Starting != nil {
		f := copyFire(*v.Starting)
		v.Starting = &f
	}
	if v.Buffered != nil {
		at := stored(*v.Buffered)
		v.Buffered = &at
	}
	v.Backfill = slices.Clone(v.Backfill)
	for i, f := range v.Backfill {
		v.Backfill[i] = copyFire(f)
	}
	return v
}

func copyFire(f schedule.Fire) schedule.Fire {
	f.Nominal, f.DecidedAt = stored(f.Nominal), stored(f.DecidedAt)
	return f
}
