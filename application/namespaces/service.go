// Package namespaces holds the register of tenant boundaries: which exist, how one comes into being, and its settings.
// Whether a caller may use one is the caller's grant (domain/access), decided before anything is looked up here.
package namespaces

import (
	"context"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// Deps is what the service needs. Default always exists. Closed says that a namespace must be created before it is used;
// otherwise the first start in it creates it, and until then it reads as empty.
type Deps struct {
	Store   ports.NamespaceStore
	Clock   ports.Clock
	Default domain.Namespace
	Closed  bool
}

// Service answers for namespaces. It is safe for concurrent use.
type Service struct {
	Deps

	mu    sync.Mutex
	known map[domain.Namespace]time.Time // when the store last said that it exists
}

// New gives a service.
func New(d Deps) *Service { return &Service{Deps: d, known: map[domain.Namespace]time.Time{}} }

// trusted is how long an answer of the store is used again: another replica may have removed the namespace meanwhile.
const trusted = 5 * time.Second

// Prepare makes sure that the default namespace exists. It is called once, before the first request.
func (s *Service) Prepare(ctx context.Context) error {
	return s.create(ctx, s.Default, "server")
}

// Enter refuses a namespace that cannot be read (NamespaceNotFound): one that does not exist, when they are created by
// hand only.
func (s *Service) Enter(ctx context.Context, ns domain.Namespace) error {
	if !s.Closed {
		return nil
	}
	return s.registered(ctx, ns)
}

// Open makes sure that a namespace exists before something is recorded in it, or refuses like Enter.
func (s *Service) Open(ctx context.Context, who access.Caller, ns domain.Namespace) error {
	err := s.registered(ctx, ns)
	if s.Closed || domain.CodeOf(err) != domain.CodeNotFound {
		return err
	}
	return s.create(ctx, ns, who.Subject)
}

// registered refuses a namespace that is not in the register.
func (s *Service) registered(ctx context.Context, ns domain.Namespace) error {
	if s.fresh(ns) {
		return nil
	}
	if _, err := s.Store.Namespace(ctx, ns); err != nil {
		return err
	}
	s.remember(ns)
	return nil
}

func (s *Service) create(ctx context.Context, ns domain.Namespace, by string) error {
	if _, _, err := s.Store.AddNamespace(ctx, ports.NamespaceRow{Name: ns, CreatedAt: s.Clock.Now(), CreatedBy: by}); err != nil {
		return err
	}
	s.remember(ns)
	return nil
}

func (s *Service) fresh(ns domain.Namespace) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.known[ns]
	return known && s.Clock.Now().Sub(at) < trusted
}

// maxKnown bounds what is remembered; beyond it everything is asked for again.
const maxKnown = 10_000

func (s *Service) remember(ns domain.Namespace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[ns] = s.Clock.Now()
}

func (s *Service) forget(ns domain.Namespace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, ns)
}
