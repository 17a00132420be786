package queues

import (
	"context"
	"sync"
	"time"

	"aion/application/actions"
	"aion/application/workers"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/run"
	"aion/domain/worker"
	"aion/ports"
)

// Store is what is read.
type Store interface {
	ports.WorkerStore
	ports.LeaseStore
	ports.BacklogStore
}

// Deps is what the service needs.
type Deps struct {
	Store     Store
	Tasks     ports.TaskStore
	Versions  actions.Versions
	Gate      *actions.Gate
	Workers   *workers.Service
	Clock     ports.Clock
	Heartbeat time.Duration // the interval that workers are told: 10 s
}

// Service answers reads. It is safe for concurrent use.
type Service struct {
	Deps
	mu   sync.Mutex
	last moment
}

// New gives a service.
func New(d Deps) *Service {
	if d.Heartbeat <= 0 {
		d.Heartbeat = 10 * time.Second
	}
	return &Service{Deps: d}
}

// fresh is how old a look at the workers may be that others share.
const fresh = 500 * time.Millisecond

// moment is who was there.
type moment struct {
	at      time.Time
	workers []worker.Worker
	held    map[string]int
}

// look tells who is there.
func (s *Service) look(ctx context.Context) (moment, error) {
	now := s.Clock.Now()
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if age := now.Sub(last.at); age >= 0 && age < fresh {
		return last, nil
	}
	list, err := s.Store.Workers(ctx, "", worker.GoneBefore(now, s.Heartbeat))
	if err != nil {
		return moment{}, err
	}
	open, err := s.Store.OpenLeases(ctx, "")
	if err != nil {
		return moment{}, err
	}
	m := moment{at: now, workers: list, held: map[string]int{}}
	for _, l := range open {
		m.held[l.WorkerID]++
	}
	s.mu.Lock()
	s.last = m
	s.mu.Unlock()
	return m, nil
}

// Judge gives what tells why nothing could take an open activity now; it waits for nothing. Without a look at the workers
// nothing counts as unserved.
func (s *Service) Judge(ctx context.Context) func(domain.Namespace, *deployment.Contract, run.Activity) worker.Reason {
	m, err := s.look(ctx)
	return func(ns domain.Namespace, c *deployment.Contract, a run.Activity) worker.Reason {
		if c == nil {
			return worker.NoWorker // its plan is not loaded: nothing can take it
		}
		if err != nil {
			return worker.Served
		}
		declared := c.Plan.Action(a.TaskQueue, a.Type)
		if declared == nil || s.Gate.Serves(declared) {
			return worker.Served
		}
		since := a.Since
		if a.NotBefore.After(since) {
			since = a.NotBefore
		}
		return s.reason(m, ns, declared, c.Plan.ContentHash, worker.Demand{
			Namespace: ns, TaskQueue: a.TaskQueue, Node: a.Node, Action: a.Type, Waits: m.at.Sub(since),
		})
	}
}

func (s *Service) reason(m moment, ns domain.Namespace, declared *plan.Action, version string, d worker.Demand) worker.Reason {
	return worker.Supply{
		Workers: m.workers, Held: m.held, Draining: s.Workers.Draining(), Throttled: s.Gate.Room() <= 0 || s.Gate.RoomOf(ns) <= 0,
		Fits: func(a worker.Action) bool { return s.Workers.Fits(d.TaskQueue, a, declared, version) },
	}.Unserved(d)
}

// List gives the workers that serve a namespace, gone ones among them, newest first; of one queue unless it is empty.
func (s *Service) List(ctx context.Context, who access.Caller, ns domain.Namespace, queue string) ([]Shown, error) {
	if err := who.Reach(ns); err != nil {
		return nil, err
	}
	list, err := s.Store.Workers(ctx, queue, time.Time{})
	if err != nil {
		return nil, err
	}
	open, err := s.Store.OpenLeases(ctx, "")
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	out := []Shown{}
	for _, w := range list {
		if !w.Serves(ns) {
			continue
		}
		one := Shown{Worker: w, State: w.StateAt(now, s.Heartbeat)}
		for _, l := range open {
			if l.WorkerID == w.ID && l.Namespace == ns {
				progress, _ := s.Workers.Progress(l.TaskID)
				one.Held = append(one.Held, Held{Lease: l, Progress: progress})
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// Describe shows one worker of a namespace.
func (s *Service) Describe(ctx context.Context, who access.Caller, ns domain.Namespace, id string) (Shown, error) {
	list, err := s.List(ctx, who, ns, "")
	if err != nil {
		return Shown{}, err
	}
	for _, one := range list {
		if one.ID == id {
			c, err := s.Workers.Compare(ctx, one.Settings)
			one.Contract = c
			return one, err
		}
	}
	return Shown{}, &domain.Error{Code: domain.CodeNotFound, Type: "WorkerNotFound", Message: "no worker " + domain.Quote(id, 64) + " serves this namespace; the list of workers shows who does"}
}
