package workers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/worker"
)

// PollRequest asks for at most MaxTasks tasks, and waits that long for the first one.
type PollRequest struct {
	PollID   string
	MaxTasks int
	Wait     time.Duration
}

// Polled is the answer to a poll. Drain says that this server, or the worker, takes no more tasks.
type Polled struct {
	Drain bool
	Tasks []Given
}

// onceWithin bounds the look of a poll that does not wait.
const onceWithin = 5 * time.Second

// waiter is a poll that waits for tasks.
type waiter struct {
	id    string // of its worker
	bound int    // how many polls of the worker may wait besides
	most  int
	given chan []history.Task // holds one answer; nil: nothing, and nothing will follow

	// What follows belongs to the pass that looks at it.
	worker worker.Worker
	once   bool // is answered by the next pass, also with nothing
	taken  []history.Task
}

// Poll gives tasks to a worker as soon as one is there (actions 8.3). A repeated poll id gives the tasks of that poll again
// that are not settled, under new tokens. When ctx ends before the answer, what was granted goes back.
func (s *Service) Poll(ctx context.Context, who access.Caller, id string, req PollRequest) (Polled, error) {
	w, err := s.known(ctx, who, id)
	if err != nil {
		return Polled{}, err
	}
	again, err := s.repeat(ctx, w, req.PollID)
	if err != nil || len(again) > 0 {
		return Polled{Drain: w.Draining || s.draining(), Tasks: again}, err
	}
	if w.Draining || s.draining() {
		return Polled{Drain: true}, nil
	}
	x := &waiter{id: id, bound: w.MaxConcurrency, worker: w, most: min(req.MaxTasks, w.MaxConcurrency), once: req.Wait <= 0, given: make(chan []history.Task, 1)}
	wait := req.Wait
	if x.once {
		wait = onceWithin
	}
	deadline := s.Clock.After(wait)
	for {
		if err := s.enter(x); err != nil {
			return Polled{}, err
		}
		tasks, last, err := s.await(ctx, x, deadline)
		if err != nil {
			return Polled{}, err
		}
		given, err := s.grants(ctx, w, req.PollID, tasks)
		switch {
		case len(given) > 0 || err != nil:
			return Polled{Tasks: given}, err
		case len(tasks) == 0, last, req.Wait <= 0:
			return s.nothing(ctx, id), nil
		}
		// Somebody was faster: the poll waits on.
	}
}

// await gives what a pass has taken for a waiting poll; last says that its time is over, or that nothing more is given here.
func (s *Service) await(ctx context.Context, x *waiter, deadline <-chan time.Time) (tasks []history.Task, last bool, err error) {
	select {
	case tasks := <-x.given:
		return tasks, false, nil
	case <-deadline:
	case <-s.drained:
	case <-ctx.Done():
		err = domain.Unavailable("DeadlineExceeded", "the poll ended before its answer; repeat it with the same poll_id", context.Cause(ctx))
	}
	if s.withdraw(x) {
		return nil, true, err
	}
	tasks = <-x.given // a pass has taken the poll, and answers
	if err != nil {
		s.forget(tasks)
		tasks = nil
	}
	return tasks, true, err
}

// nothing is the answer without tasks; the worker may have been drained meanwhile.
func (s *Service) nothing(ctx context.Context, id string) Polled {
	w, err := s.Store.Worker(ctx, id)
	return Polled{Drain: s.draining() || err == nil && w.Draining}
}

// enter lets a poll wait.
func (s *Service) enter(x *waiter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, other := range s.waiting {
		if other.id == x.id {
			own++
		}
	}
	if own > x.bound || len(s.waiting) >= maxWaiting {
		const pause = 1000
		return worker.SlowDown(fmt.Sprintf("%d polls of this worker wait already, of %d in all; wait for an answer of one of them", own, len(s.waiting)), pause)
	}
	s.waiting = append(s.waiting, x)
	s.Wake()
	return nil
}

// withdraw takes a waiting poll back; false: a pass has taken it, and answers.
func (s *Service) withdraw(x *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, x)
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}
