// Package namespaces holds the register of tenant boundaries: which exist, how one comes into being, and its settings.
// Whether a caller may use one is the caller's grant (domain/access), decided before anything is looked up here.
package namespaces

import (
	"context"
	"maps"
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
	Index   ports.RunIndex // for Show and Page; nil: they are not called
	Clock   ports.Clock
	Default domain.Namespace
	Closed  bool
	Bounded func() // is told when a namespace gets another bound of its own; nil: nobody is
}

// Service answers for namespaces. It is safe for concurrent use.
type Service struct {
	Deps

	mu    sync.Mutex
	known map[domain.Namespace]time.Time // when the store last said that it exists
	own   map[domain.Namespace]int       // the bounds of activities that namespaces have of their own
}

// New gives a service.
func New(d Deps) *Service {
	return &Service{Deps: d, known: map[domain.Namespace]time.Time{}, own: map[domain.Namespace]int{}}
}

// trusted is how long an answer of the store is used again: another replica may have removed the namespace meanwhile.
const trusted = 5 * time.Second

// Prepare makes sure that the default namespace exists, and reads the bounds of all. It is called once, before the first
// request.
func (s *Service) Prepare(ctx context.Context) error {
	if err := s.readBounds(ctx); err != nil {
		return err
	}
	return s.create(ctx, s.Default, access.Caller{Subject: "server"})
}

// Run reads the bounds again every few seconds until ctx ends, where another server may change them; a store that is away
// leaves them as they are. It returns the cause of ctx.
func (s *Service) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.Clock.After(trusted):
			_ = s.readBounds(ctx) // asked again soon
		}
	}
}

// readBounds replaces the bounds by those that the store has.
func (s *Service) readBounds(ctx context.Context) error {
	own := map[domain.Namespace]int{}
	for after := domain.Namespace(""); ; {
		rows, err := s.Store.Namespaces(ctx, after, scanned)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.Name
			if row.MaxInFlight != nil {
				own[row.Name] = *row.MaxInFlight
			}
		}
		if len(rows) < scanned {
			break
		}
	}
	s.mu.Lock()
	changed := !maps.Equal(own, s.own)
	s.own = own
	s.mu.Unlock()
	if changed && s.Bounded != nil {
		s.Bounded()
	}
	return nil
}

// InFlight is how many activities of a namespace may run at the same time; 0 when it has no bound of its own. It never
// waits.
func (s *Service) InFlight(ns domain.Namespace) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own[ns]
}

// bound notes the bound of a namespace.
func (s *Service) bound(ns domain.Namespace, most *int) {
	s.mu.Lock()
	if most == nil {
		delete(s.own, ns)
	} else {
		s.own[ns] = *most
	}
	s.mu.Unlock()
	if s.Bounded != nil {
		s.Bounded()
	}
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
	return s.create(ctx, ns, who)
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

func (s *Service) create(ctx context.Context, ns domain.Namespace, by access.Caller) error {
	row := ports.NamespaceRow{Name: ns, CreatedAt: s.Clock.Now(), CreatedBy: by.Subject, Audit: by.Audit("namespace.create", ns, string(ns))}
	if _, _, err := s.Store.AddNamespace(ctx, row); err != nil {
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
