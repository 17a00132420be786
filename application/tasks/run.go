package tasks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/task"
	"aion/ports"
)

const (
	// starters is how many starts are under way at once.
	starters = 4
	// attempt bounds one try of a start, so that it is over before another server may try.
	attempt = 20 * time.Second
	// The pause between two tries of a start while the store does not answer.
	firstPause, longestPause = 100 * time.Millisecond, 5 * time.Second
	// page is how many tasks are read at a time.
	page = 200
)

// Run starts what tasks wait for and settles tasks whose work has ended, until ctx ends; it returns the cause of ctx.
func (s *Service) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	for range starters {
		group.Go(func() { s.serve(ctx) })
	}
	s.sweep(ctx)
	return context.Cause(ctx)
}

// serve starts what pending tasks wait for.
func (s *Service) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-s.pending:
			s.start(ctx, id)
		}
	}
}

// start begins what a task waits for. A store that does not answer is asked again, more and more slowly.
func (s *Service) start(ctx context.Context, id task.ID) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		again, err := s.begin(ctx, id)
		if err != nil && ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "a task cannot be started now", slog.String("task_id", string(id)), slog.Any("error", err))
		}
		if !again {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.Clock.After(pause):
		}
		_, err = s.Store.ChangeMCPTask(ctx, id, func(t task.Task) (task.Task, error) { return t.Renew(s.Clock.Now(), s.Lease) })
		if err != nil && domain.CodeOf(err) != domain.CodeUnavailable && ctx.Err() == nil {
			return // it is started, has ended or is gone
		}
	}
}

// begin tries to start once.
func (s *Service) begin(ctx context.Context, id task.ID) (again bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	t, err := s.Store.MCPTask(bounded, id)
	if err != nil {
		return domain.CodeOf(err) != domain.CodeNotFound, err
	}
	if t.State != task.Working || t.Started() {
		return false, nil
	}
	begun, err := guard(func() (Begun, error) { return s.Work.Begin(bounded, t) })
	if err == nil {
		if !begun.Linked {
			_, err = s.change(ctx, t, func(t task.Task) (task.Task, error) { return t.Begin(begun.WorkflowID, begun.RunID, begun.At) })
		}
		return err != nil, err
	}
	if domain.CodeOf(err) == domain.CodeUnavailable || domain.CodeOf(err) == domain.CodeSequenceConflict || bounded.Err() != nil {
		return true, err
	}
	_, err = s.refused(ctx, t, err)
	return err != nil, err
}

// sweep finds what nobody looks after: tasks whose server died before their start, ended work that nobody asks for, and
// tasks that have expired.
func (s *Service) sweep(ctx context.Context) {
	now := s.Clock.Now()
	free := now
	if s.Sole {
		free = now.Add(s.Lease)
	}
	settled := now
	s.settleEnded(ctx)
	for {
		s.takeOver(ctx, free)
		s.expire(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.Clock.After(s.Sweep):
		}
		free = s.Clock.Now()
		if free.Sub(settled) >= s.Settle {
			settled = free
			s.settleEnded(ctx)
		}
	}
}

// takeOver leases and starts tasks whose lease is over at free.
func (s *Service) takeOver(ctx context.Context, free time.Time) {
	s.each(ctx, ports.WorkingMCPTasks{LeaseBy: free}, func(id task.ID) {
		_, err := s.Store.ChangeMCPTask(ctx, id, func(t task.Task) (task.Task, error) {
			if !t.LeaseUntil.After(free) { // maybe one of an earlier process that is not over by the clock
				return t.Renew(s.Clock.Now(), s.Lease)
			}
			return t.Lease(s.Clock.Now(), s.Lease)
		})
		if err != nil {
			return // another server has it, or the store is away: the next sweep tells
		}
		select {
		case s.pending <- id:
		default: // taken when its lease is over again
		}
	})
}

// settleEnded looks at every started task.
func (s *Service) settleEnded(ctx context.Context) {
	s.each(ctx, ports.WorkingMCPTasks{Started: true}, func(id task.ID) {
		t, err := s.Store.MCPTask(ctx, id)
		if err == nil && t.State == task.Working {
			_, err = s.look(ctx, t)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "a task cannot be settled now", slog.String("task_id", string(id)), slog.Any("error", err))
		}
	})
}

// each reads working tasks page by page.
func (s *Service) each(ctx context.Context, which ports.WorkingMCPTasks, do func(task.ID)) {
	which.Limit = page
	for ctx.Err() == nil {
		list, err := s.Store.WorkingMCPTasks(ctx, which)
		if err != nil {
			if ctx.Err() == nil {
				s.Log.LogAttrs(ctx, slog.LevelWarn, "working tasks cannot be read now", slog.Any("error", err))
			}
			return
		}
		for _, id := range list {
			do(id)
			which.After = id
		}
		if len(list) < page {
			return
		}
	}
}

// expire removes tasks whose time is over.
func (s *Service) expire(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := s.Store.DeleteMCPTasks(ctx, s.Clock.Now(), page)
		if err != nil || n < page {
			return // what is left is invisible already, and removed by a later sweep
		}
	}
}

func asDefect(err error, d **defectError) bool { return errors.As(err, d) }
