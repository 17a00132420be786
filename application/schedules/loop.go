package schedules

import (
	"context"
	"sync"
	"time"

	"aion/domain/schedule"
	"aion/ports"
)

// page is how many due schedules are read at a time, and atOnce how many of them have their turn side by side.
const (
	page   = 256
	atOnce = 16
)

// restPolls is how many polls a server that has its store for itself may rest: its own changes wake it.
const restPolls = 30

// Run fires schedules until ctx ends, and returns its cause.
func (s *Service) Run(ctx context.Context) error {
	var looked, next time.Time
	for {
		now := s.Clock.Now()
		if !next.After(now) || now.Before(looked) { // the clock may have been set back
			looked, next = now, s.sweep(ctx)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.sooner:
			next = time.Time{}
		case <-s.Clock.After(min(max(next.Sub(s.Clock.Now()), 0), s.Poll)): // the clock may be set meanwhile
		}
	}
}

// sweep gives every due schedule its turn, and tells when to look again.
func (s *Service) sweep(ctx context.Context) time.Time {
	now := s.now()
	if s.draining.Load() {
		return now.Add(s.Poll)
	}
	failed := false
	for after := (*ports.DueSchedule)(nil); ctx.Err() == nil; {
		due, err := s.Queue.DueSchedules(ctx, s.shards(), now, after, page)
		if err != nil {
			s.Log.WarnContext(ctx, "due schedules cannot be read", "error", err)
			return now.Add(s.Poll)
		}
		failed = s.turns(ctx, due) || failed
		if len(due) < page {
			break
		}
		after = &due[len(due)-1]
	}
	if failed {
		return now.Add(s.Poll)
	}
	return s.nextLook(ctx, now)
}

// nextLook is when a schedule is due again. One that waits for the end of a run is due all the time.
func (s *Service) nextLook(ctx context.Context, now time.Time) time.Time {
	rest := s.Poll
	if !s.Shared {
		rest *= restPolls
	}
	next, err := s.Queue.NextSchedule(ctx, s.shards())
	switch {
	case err != nil:
		s.Log.WarnContext(ctx, "the next schedule cannot be read", "error", err)
		return now.Add(s.Poll)
	case next.IsZero() || next.After(now.Add(rest)):
		return now.Add(rest)
	case next.After(now):
		return next
	}
	return now.Add(s.Poll)
}

func (s *Service) shards() ports.Shards {
	if s.Shards == nil {
		return nil
	}
	return s.Shards()
}

// turns gives schedules their turns and waits for all. failed tells that one could not be carried out now.
func (s *Service) turns(ctx context.Context, due []ports.DueSchedule) (failed bool) {
	var mu sync.Mutex
	var group sync.WaitGroup
	waiting := make(chan schedule.Ref)
	for range min(atOnce, len(due)) {
		group.Go(func() {
			for of := range waiting {
				if err := s.turn(ctx, of); err != nil && ctx.Err() == nil {
					s.Log.WarnContext(ctx, "a schedule cannot fire now", "namespace", of.Namespace, "schedule_id", of.ID, "error", err)
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			}
		})
	}
	for _, d := range due {
		waiting <- d.Ref
	}
	close(waiting)
	group.Wait()
	return failed
}
