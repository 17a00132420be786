// Package replicas keeps a server in touch with those that work on the same store (engine 8): its lease, the others that
// live, and the shards that this one looks after. Safety needs none of it, because the store decides: a shard that nobody
// holds for a moment is looked after a little later, and one that two hold costs a lost race.
package replicas

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"aion/ports"
)

// The times of a lease. A server that died is replaced when its lease has ended and the others have looked.
const (
	lease = 10 * time.Second
	renew = 3 * time.Second
	look  = time.Second
	// gap is how far two answers of the store may be apart for it to have answered all the time.
	gap = 10 * time.Second
)

// Lease is how long a server counts as alive after it was seen.
const Lease = lease

// Deps is what the service needs. Self is this server; its Epoch and Until are the store's to give. Moved is called when
// other shards fall to this server than before, and must not wait; nil: nobody is told.
type Deps struct {
	Store  ports.ReplicaStore
	Clock  ports.Clock
	Logger *slog.Logger
	Self   ports.Replica
	Moved  func()
}

// Service knows the servers of a store. It is safe for concurrent use. A nil one is a server that has its store for itself.
type Service struct {
	Deps
	told chan struct{} // the members may have changed

	mu      sync.Mutex
	address string
	until   time.Time // the own lease holds so long, by this server's clock
	members []ports.Replica
	shards  ports.Shards // of the last view
	others  bool
	first   time.Time // answer without a gap since
	last    time.Time // answer of the store; zero: the last call failed
}

// New gives a server that has not joined yet.
func New(d Deps) *Service {
	return &Service{Deps: d, told: make(chan struct{}, 1), shards: ports.Shards{}, address: d.Self.Address}
}

// Join takes the lease and sees who else is there. It is called before anything else of the server begins.
func (s *Service) Join(ctx context.Context) error { return s.renew(ctx) }

// Run renews the lease and looks at the others until ctx ends; then it leaves, so that they need not wait for the end of
// the lease. It returns the cause of ctx.
func (s *Service) Run(ctx context.Context) error {
	renewal, view := s.Clock.After(renew), s.Clock.After(look)
	away := false
	for {
		var err error
		select {
		case <-ctx.Done():
			s.leave(context.WithoutCancel(ctx))
			return context.Cause(ctx)
		case <-renewal:
			err = s.renew(ctx)
			renewal = s.Clock.After(renew)
			if err != nil {
				renewal = s.Clock.After(look)
			}
		case <-view:
			err = s.view(ctx)
			view = s.Clock.After(look)
		case <-s.told:
			err = s.view(ctx)
		}
		if err != nil && !away && ctx.Err() == nil {
			s.Logger.Warn("the servers of this store cannot be seen", "error", err)
		}
		away = err != nil
	}
}

// Changed tells that the members may have changed: they are looked at soon. It never waits.
func (s *Service) Changed() {
	if s == nil {
		return
	}
	select {
	case s.told <- struct{}{}:
	default:
	}
}

// Serve gives the address that the next renewal tells the others; empty: nowhere any more.
func (s *Service) Serve(address string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = address
}

// renew holds the lease from the time before the call: the store counts from later, so it never ends earlier there.
func (s *Service) renew(ctx context.Context) error {
	began := s.Clock.Now()
	self := s.Self
	s.mu.Lock()
	self.Address = s.address
	s.mu.Unlock()
	members, err := s.Store.RenewReplica(ctx, self, lease)
	if err == nil {
		s.mu.Lock()
		s.until = began.Add(lease)
		s.mu.Unlock()
	}
	return s.answered(members, err)
}

func (s *Service) view(ctx context.Context) error {
	return s.answered(s.Store.Replicas(ctx))
}

// answered notes an answer of the store, or that there was none.
func (s *Service) answered(members []ports.Replica, err error) error {
	s.mu.Lock()
	now, moved := s.Clock.Now(), false
	switch {
	case err != nil:
		s.last = time.Time{}
	case s.last.IsZero() || now.Sub(s.last) > gap:
		s.first, s.last = now, now
	default:
		s.last = now
	}
	if err == nil {
		moved = s.see(members)
	}
	s.mu.Unlock()
	if moved && s.Moved != nil {
		s.Moved()
	}
	return err
}

func (s *Service) leave(ctx context.Context) {
	s.mu.Lock()
	s.until = time.Time{}
	s.mu.Unlock()
	if err := s.Store.LeaveReplica(ctx, s.Self.ID); err != nil {
		s.Logger.Warn("this server cannot leave the others; its lease ends by itself", "error", err)
	}
}

// Shards are those that this server looks after now: none when its lease has ended, all for a nil Service.
func (s *Service) Shards() ports.Shards {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.valid() {
		return ports.Shards{}
	}
	return s.shards
}

// Others reports whether the last view showed another server.
func (s *Service) Others() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.others
}

// Members are the servers of the last view, this one included, by ID.
func (s *Service) Members() []ports.Replica {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members
}

// Valid reports whether the lease of this server holds.
func (s *Service) Valid() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.valid()
}

func (s *Service) valid() bool { return s.Clock.Now().Before(s.until) }

// Gapless is how long the store had answered this server without a gap when it last did. An error starts it again, and so
// does a pause between two answers, whoever made it: also a process that was frozen has not seen what happened meanwhile.
func (s *Service) Gapless() time.Duration {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() || s.Clock.Now().Sub(s.last) > gap {
		return 0
	}
	return s.last.Sub(s.first)
}
