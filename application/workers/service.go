package workers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aion/application/actions"
	"aion/application/engine"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// Store is what workers, leases and waiting tasks are kept in.
type Store interface {
	ports.WorkerStore
	ports.LeaseStore
	ports.BacklogStore
	ports.TranscriptStore
}

// Deps is what the service needs; zero durations and numbers are their defaults.
type Deps struct {
	Store      Store
	Tasks      ports.TaskStore
	Engine     *engine.Engine
	Attempts   *actions.Dispatcher
	Gate       *actions.Gate
	Versions   actions.Versions
	Transcript *transcripts.Publisher
	Index      ports.RunIndex
	Clock      ports.Clock
	IDs        ports.IDs
	Random     func() [16]byte // unguessable
	Log        *slog.Logger
	Settings
}

// Settings are the operator's.
type Settings struct {
	HeartbeatInterval time.Duration // how often a worker is to call: 10 s
	LeaseTTL          time.Duration // 30 s
	MaxLease          time.Duration // of one extension: 1 h
	PollInterval      time.Duration // how long a lost wake-up may stay unnoticed: 1 s
	MaxPayload        int           // bytes of a result: 2 MiB
	RequireContracts  bool
	AllowedSubjects   []string // empty: anybody with the namespaces
}

// The bounds of what one server keeps of workers.
const (
	maxWorkers   = 10_000 // that are not gone
	maxWaiting   = 10_000 // polls
	maxPollWait  = time.Minute
	forgetAfter  = 24 * time.Hour
	forgetAtOnce = 256
)

// Service answers workers. It is safe for concurrent use; polls are answered while Match runs, and leases end while Sweep
// runs.
type Service struct {
	Deps
	subjects atomic.Pointer[[]string]
	drained  chan struct{} // closed when this server gives out nothing more
	drain    sync.Once
	woken    chan struct{} // written when there may be something to give
	swept    chan struct{} // written when a lease is to be looked at now
	held     atomic.Bool   // there may be open leases
	expired  atomic.Uint64 // leases that this server ended without a verdict
	open     atomic.Pointer[map[history.LeaseState]int]

	mu       sync.Mutex
	waiting  []*waiter // in order of arrival
	granting map[domain.AttemptKey]grant
	after    map[string]domain.Namespace // who had the last turn in a task queue
	progress map[string]Progress         // of held tasks, by task id
	refused  map[string]string           // the last refusal of a worker's contract, by instance
	fits     map[fit]bool
	aside    map[string]time.Time // leases whose end could not be recorded, and until when they are left alone
	seen     map[string]time.Time // when a worker's call was last noted
}

// New gives a service.
func New(d Deps) *Service {
	orDefault := func(value *time.Duration, otherwise time.Duration) {
		if *value <= 0 {
			*value = otherwise
		}
	}
	orDefault(&d.HeartbeatInterval, 10*time.Second)
	orDefault(&d.LeaseTTL, 30*time.Second)
	orDefault(&d.MaxLease, time.Hour)
	orDefault(&d.PollInterval, time.Second)
	if d.MaxPayload <= 0 {
		d.MaxPayload = 2 << 20
	}
	s := &Service{
		Deps: d, drained: make(chan struct{}), woken: make(chan struct{}, 1), swept: make(chan struct{}, 1),
		granting: map[domain.AttemptKey]grant{}, after: map[string]domain.Namespace{}, progress: map[string]Progress{},
		refused: map[string]string{}, fits: map[fit]bool{}, seen: map[string]time.Time{}, aside: map[string]time.Time{},
	}
	s.held.Store(true)
	s.Allow(d.AllowedSubjects)
	return s
}

// Allow takes another list of subjects over that may serve tasks; empty: any.
func (s *Service) Allow(subjects []string) {
	list := slices.Clone(subjects)
	s.subjects.Store(&list)
}

// Wake tells that tasks may wait that workers can take. It never waits.
func (s *Service) Wake() { wake(s.woken) }

// Drain ends the giving of tasks by this server: polls that wait are answered at once, and say so. Leases go on.
func (s *Service) Drain() { s.drain.Do(func() { close(s.drained) }) }

// Counts are what the metrics show: the open leases of all servers by state, as they were last looked at, and how many ended
// here without a verdict.
func (s *Service) Counts() (open map[history.LeaseState]int, expired uint64) {
	if seen := s.open.Load(); seen != nil {
		open = *seen
	}
	return open, s.expired.Load()
}

func (s *Service) draining() bool {
	select {
	case <-s.drained:
		return true
	default:
		return false
	}
}

// admit refuses a caller who may not serve tasks.
func (s *Service) admit(who access.Caller) error {
	list := *s.subjects.Load()
	if len(list) == 0 || slices.Contains(list, who.Subject) {
		return nil
	}
	return worker.Denied(who.Subject)
}

// known gives a live worker of the caller, and notes that it made a call.
func (s *Service) known(ctx context.Context, who access.Caller, id string) (worker.Worker, error) {
	if err := s.admit(who); err != nil {
		return worker.Worker{}, err
	}
	w, err := s.Store.Worker(ctx, id)
	if err != nil {
		return w, err
	}
	now := s.Clock.Now()
	if w.Owner != who.Owner() || w.StateAt(now, s.HeartbeatInterval) == worker.Gone {
		return w, worker.NotFound(id)
	}
	for _, ns := range w.Namespaces { // grants may have been taken back since
		if err := who.Reach(ns); err != nil {
			return w, err
		}
	}
	return w, s.note(ctx, id, now)
}

// note keeps when workers made a call, not more often than it matters.
func (s *Service) note(ctx context.Context, id string, now time.Time) error {
	const share = 4
	s.mu.Lock()
	late := !s.seen[id].Add(s.HeartbeatInterval / share).After(now)
	if late {
		if len(s.seen) > maxWorkers {
			clear(s.seen)
		}
		s.seen[id] = now
	}
	s.mu.Unlock()
	if !late {
		return nil
	}
	return s.Store.SeenWorkers(ctx, []string{id}, now)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
