// Package retention removes workflows that closed long ago (engine 7). How long they are kept is a setting of the server, and
// of a namespace when it has one of its own; what must not go yet is the store's to tell. The audit log stays.
package retention

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"aion/domain"
	"aion/ports"
)

// store is what is removed from, with the settings of the namespaces.
type store interface {
	ports.NamespaceStore
	ports.RetentionStore
}

// The bounds of a look: workflows that are found at a time, those that one call of the store removes, and the pause until the
// next look.
const (
	page  = 256
	batch = 32
	pause = time.Minute
)

// Deps is what the service needs. Mine tells whether this server is the one that removes; nil: it is alone. Removed is told
// how many workflows have gone, and must not wait.
type Deps struct {
	Store   store
	Clock   ports.Clock
	Logger  *slog.Logger
	Keep    time.Duration // 0: for ever
	Mine    func() bool
	Removed func(workflows int)
}

// Service removes closed workflows. It is safe for concurrent use.
type Service struct {
	Deps
	keep atomic.Int64
}

// New gives a service that does nothing until Run.
func New(d Deps) *Service {
	s := &Service{Deps: d}
	s.Change(d.Keep)
	return s
}

// Change replaces how long workflows of namespaces without a setting of their own are kept; 0: for ever.
func (s *Service) Change(keep time.Duration) { s.keep.Store(int64(keep)) }

// Run looks once a minute until ctx ends, and returns its cause. A store that is away is asked again at the next look.
func (s *Service) Run(ctx context.Context) error {
	for {
		if err := s.rest(ctx, pause); err != nil {
			return err
		}
		if s.Mine != nil && !s.Mine() {
			continue
		}
		if n, err := s.Sweep(ctx); n > 0 || err != nil && ctx.Err() == nil {
			level := slog.LevelInfo
			if err != nil {
				level = slog.LevelWarn
			}
			s.Logger.Log(ctx, level, "closed workflows removed", "workflows", n, "error", err)
		}
	}
}

// Sweep removes what is over now, and says how many workflows that were.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	if err := s.remove(ctx, nil, &removed); err != nil { // what an earlier server has left half done
		return removed, err
	}
	for after := domain.Namespace(""); ; {
		rows, err := s.Store.Namespaces(ctx, after, page)
		if err != nil {
			return removed, err
		}
		for _, row := range rows {
			after = row.Name
			keep := time.Duration(s.keep.Load())
			if row.Retention != nil {
				keep = *row.Retention
			}
			if keep <= 0 {
				continue
			}
			if err := s.sweep(ctx, row.Name, s.Clock.Now().Add(-keep), &removed); err != nil {
				return removed, err
			}
		}
		if len(rows) < page {
			return removed, nil
		}
	}
}

// sweep removes what closed in a namespace by a time. What is needed is passed over; the next look finds it again.
func (s *Service) sweep(ctx context.Context, ns domain.Namespace, by time.Time, removed *int) error {
	var after *ports.ClosedWorkflow
	for {
		closed, err := s.Store.Closed(ctx, ns, by, after, page)
		if err != nil || len(closed) == 0 {
			return err
		}
		after = &closed[len(closed)-1]
		for some := range slices.Chunk(closed, batch) {
			if err := s.remove(ctx, some, removed); err != nil {
				return err
			}
		}
		if len(closed) < page {
			return nil
		}
	}
}

// remove removes a few, and then leaves the store to others for as long as that took.
func (s *Service) remove(ctx context.Context, some []ports.ClosedWorkflow, removed *int) error {
	began := s.Clock.Now()
	n, err := s.Store.RemoveClosed(ctx, some)
	*removed += n
	if n > 0 && s.Removed != nil {
		s.Removed(n)
	}
	if err != nil || len(some) == 0 {
		return err
	}
	return s.rest(ctx, s.Clock.Now().Sub(began))
}

func (s *Service) rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Clock.After(d):
		return nil
	}
}
