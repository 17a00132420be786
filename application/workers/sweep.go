package workers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// errOver says that an attempt had ended already.
var errOver = errors.New("the attempt is over")

// sweepAtOnce bounds the leases that one look ends.
const sweepAtOnce = 256

// Sweep ends leases whose time is over until ctx ends: an attempt that nobody holds any more is lost, and one that has
// reached its bound timed out. After the start of the server, and after the store was away, workers get the time of one
// lease to come back. It returns the cause of ctx.
func (s *Service) Sweep(ctx context.Context) error {
	patient := s.Clock.Now().Add(s.LeaseTTL)
	forget := s.Clock.Now()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.swept:
		case <-s.Clock.After(s.PollInterval):
		}
		now := s.Clock.Now()
		if err := s.sweep(ctx, now, !now.Before(patient)); err != nil && ctx.Err() == nil {
			s.Log.Warn("leases of workers cannot be looked after now", "error", err)
			patient = s.Clock.Now().Add(s.LeaseTTL)
		}
		if now.Before(forget) {
			continue
		}
		forget = now.Add(forgetAfter / forgetAtOnce)
		if _, err := s.Store.ForgetWorkers(ctx, "", now.Add(-forgetAfter), forgetAtOnce); err != nil && ctx.Err() == nil {
			s.Log.Warn("workers that are long gone cannot be removed now", "error", err)
		}
	}
}

// sweep looks once. While workers are waited for, only the bounds of attempts count.
func (s *Service) sweep(ctx context.Context, now time.Time, expires bool) error {
	if !s.held.Load() && !s.Engine.Shared() {
		return nil
	}
	s.held.Store(false) // before the look: a grant meanwhile says otherwise
	s.mu.Lock()
	most := sweepAtOnce + len(s.aside)
	s.mu.Unlock()
	lapsed, err := s.Store.LapsedLeases(ctx, now, most)
	if err != nil {
		s.held.Store(true)
		return err
	}
	var ending []history.Lease
	for _, l := range lapsed {
		timeout := !l.Deadline.IsZero() && !l.Deadline.After(now)
		if l.State == history.LeaseHeld && !timeout && !expires {
			continue
		}
		if l.State == history.LeaseHeld {
			if l, err = s.fence(ctx, l, timeout, now); err != nil {
				return err
			}
		}
		if l.State == history.LeaseEnding && !s.isAside(l.Hash, now) {
			ending = append(ending, l)
		}
	}
	if err := s.conclude(ctx, ending); err != nil {
		s.held.Store(true)
		return err
	}
	return s.count(ctx, len(lapsed) == most)
}

// fence takes nothing of a lease's worker from now on, unless the lease was extended meanwhile.
func (s *Service) fence(ctx context.Context, l history.Lease, timeout bool, now time.Time) (history.Lease, error) {
	m := ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnding, End: history.LeaseExpired, Lapsed: now}
	if timeout {
		m.End = history.LeaseTimeout
	}
	moved, err := s.Store.MoveLeases(ctx, []string{l.Hash}, m)
	if len(moved) > 0 {
		l.State, l.End = m.To, m.End
	}
	return l, err
}

// conclude records what became of fenced attempts.
func (s *Service) conclude(ctx context.Context, leases []history.Lease) error {
	errs := make([]error, len(leases))
	var wait sync.WaitGroup
	wait.Add(len(leases))
	for i, l := range leases {
		verdict := ending(l)
		s.dropProgress(l.TaskID)
		over := history.LeaseOver{Hash: l.Hash, End: l.End}
		s.Engine.Post(ctx, l.Key.WorkflowID, s.Attempts.Settles(l.Claim(), verdict, over), func(r engine.Receipt, err error) {
			defer wait.Done()
			if err == nil && len(r.Events) > 0 {
				s.Attempts.Ended(verdict, r.Events[0].At.Sub(l.GrantedAt))
				return
			}
			errs[i] = err
			if err == nil || domain.TypeOf(err) == "ClaimLost" {
				errs[i] = errOver
			}
		})
	}
	wait.Wait()
	var away error
	for i, l := range leases {
		switch err := errs[i]; {
		case err == nil:
			s.expired.Add(1)
			s.Log.InfoContext(ctx, "a lease of a worker ended", "worker_id", l.WorkerID, "workflow_id", l.Key.WorkflowID, "run_id", l.Key.RunID,
				"activity_id", l.Key.ActivityID, "attempt", l.Key.Attempt, "reason", string(l.End))
		case errors.Is(err, errOver):
			_, err := s.Store.MoveLeases(ctx, []string{l.Hash}, ports.LeaseMove{From: history.LeaseEnding, To: history.LeaseEnded, End: l.End})
			if err != nil {
				away = err
			}
		case engine.Later(err):
			away = err
		default: // its plan is not loaded, say; the others must not wait for it
			s.Log.ErrorContext(ctx, "the end of a lease cannot be recorded; it is tried again in a while", "worker_id", l.WorkerID,
				"workflow_id", l.Key.WorkflowID, "run_id", l.Key.RunID, "activity_id", l.Key.ActivityID, "attempt", l.Key.Attempt, "error", err)
			s.setAside(l.Hash)
		}
	}
	if len(leases) > 0 {
		s.Wake()
	}
	return away
}

// A lease whose end cannot be recorded is left alone for a while.
const (
	asideFor  = time.Minute
	asideMost = 10_000
)

func (s *Service) setAside(hash string) {
	now := s.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.aside, func(_ string, until time.Time) bool { return !until.After(now) })
	if len(s.aside) < asideMost {
		s.aside[hash] = now.Add(asideFor)
	}
}

func (s *Service) isAside(hash string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aside[hash].After(now)
}

// ending is the verdict of an attempt whose lease ended without one.
func ending(l history.Lease) action.Failed {
	switch l.End {
	case history.LeaseTimeout:
		bound := l.Deadline.Sub(l.GrantedAt)
		return action.Fail(action.Timeout, action.CodeDeadlineExceeded, fmt.Sprintf("the attempt exceeded its authored bound of %s", bound),
			&action.Details{BoundMS: bound.Milliseconds()})
	case history.LeaseWorkerGone:
		return action.Fail(action.Lost, action.CodeWorkerGone, "the worker that ran this attempt has left", nil)
	default:
		return action.Fail(action.Lost, action.CodeLeaseExpired, "the lease of the worker that ran this attempt has ended", nil)
	}
}

// count looks whether leases are open at all, and tells the gate how many.
func (s *Service) count(ctx context.Context, more bool) error {
	r, err := s.room(ctx)
	if more || err != nil || len(r.held) > 0 {
		s.held.Store(true)
	}
	return err
}

// Leave drains a worker: it gets no further task. It tells how many it holds.
func (s *Service) Leave(ctx context.Context, who access.Caller, id string) (held int, err error) {
	w, err := s.known(ctx, who, id)
	if err != nil {
		return 0, err
	}
	if err := s.Store.DrainWorker(ctx, w.ID); err != nil {
		return 0, err
	}
	open, err := s.Store.OpenLeases(ctx, w.ID)
	s.Wake() // its polls are answered
	return len(open), err
}

// End removes a worker; what it holds is lost now. It tells how much that was.
func (s *Service) End(ctx context.Context, who access.Caller, id string) (ended int, err error) {
	w, err := s.known(ctx, who, id)
	if err != nil {
		return 0, err
	}
	open, err := s.Store.OpenLeases(ctx, w.ID)
	if err != nil {
		return 0, err
	}
	hashes := make([]string, 0, len(open))
	for _, l := range open {
		hashes = append(hashes, l.Hash)
	}
	if n, err := s.Store.ForgetWorkers(ctx, w.ID, time.Time{}, 0); err != nil || n == 0 {
		if err == nil {
			err = worker.NotFound(id)
		}
		return 0, err
	}
	moved, err := s.Store.MoveLeases(ctx, hashes, ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnding, End: history.LeaseWorkerGone})
	s.held.Store(true)
	s.Wake()
	if err != nil {
		return 0, err
	}
	var left []history.Lease
	for _, l := range open {
		for _, hash := range moved {
			if l.Hash == hash {
				l.State, l.End = history.LeaseEnding, history.LeaseWorkerGone
				left = append(left, l)
			}
		}
	}
	return len(left), s.conclude(ctx, left)
}
