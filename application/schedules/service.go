package schedules

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/schedule"
	"aion/ports"
)

// Deps is what the service needs.
type Deps struct {
	Store ports.ScheduleStore
	Queue ports.ScheduleQueue
	Runs  *runs.Service
	Zones ports.Zones
	Clock ports.Clock
	IDs   ports.IDs
	Log   *slog.Logger
	Meter ports.ScheduleMeter // nil: nothing is counted

	Shards func() ports.Shards // that this server looks after; nil: all
	Shared bool                // other servers change schedules, too
	Poll   time.Duration       // how often what may be due is looked at: 1 s
	// Keys is how long the key of a creation is known: 24 h.
	Keys time.Duration
}

// Service answers for schedules. It is safe for concurrent use; they fire while Run runs.
type Service struct {
	Deps
	sooner   chan struct{} // something may be due earlier than was known
	draining atomic.Bool
}

// New gives a service.
func New(d Deps) *Service {
	if d.Poll <= 0 {
		d.Poll = time.Second
	}
	d.Poll = min(d.Poll, schedule.Punctual/2) // what another server has made must be on time here
	if d.Keys <= 0 {
		d.Keys = 24 * time.Hour
	}
	return &Service{Deps: d, sooner: make(chan struct{}, 1)}
}

// Drain closes the door for changes, and nothing fires any more: the server shuts down. Reads go on.
func (s *Service) Drain() { s.draining.Store(true) }

// now has the resolution of stores, so that what is read back is the same.
func (s *Service) now() time.Time { return s.Clock.Now().UTC().Truncate(time.Microsecond) }

// wake lets the loop look at the store.
func (s *Service) wake() {
	select {
	case s.sooner <- struct{}{}:
	default:
	}
}

// find authorises a caller and names a schedule. An id that cannot exist is answered like one that does not.
func (s *Service) find(ctx context.Context, who access.Caller, namespace, id string) (schedule.Ref, error) {
	ns, err := s.Runs.Reach(ctx, who, namespace)
	if err != nil {
		return schedule.Ref{}, err
	}
	parsed, err := schedule.ParseID(id)
	if err != nil {
		return schedule.Ref{}, schedule.NotFound(id, ns)
	}
	return schedule.Ref{Namespace: ns, ID: parsed}, nil
}

// forChange is find for a call that changes something.
func (s *Service) forChange(ctx context.Context, who access.Caller, namespace, id string) (schedule.Ref, error) {
	of, err := s.find(ctx, who, namespace, id)
	if err == nil && s.draining.Load() {
		err = shuttingDown()
	}
	return of, err
}

func shuttingDown() error {
	return domain.Unavailable("ShuttingDown", "the server is shutting down; repeat the call later", nil)
}

// creator is who a schedule acts for.
func creator(who access.Caller) schedule.Creator {
	return schedule.Creator{
		Subject: who.Subject, Mode: who.Mode, Source: who.Source, Issuer: who.Issuer,
		AllNamespaces: who.AllNamespaces, Namespaces: who.Namespaces, Deploy: who.Deploy,
	}
}

// caller is the creator of a schedule as the one who starts its runs.
func caller(c schedule.Creator) access.Caller {
	return access.Caller{
		Subject: c.Subject, Mode: c.Mode, Source: c.Source, Issuer: c.Issuer,
		AllNamespaces: c.AllNamespaces, Namespaces: c.Namespaces, Deploy: c.Deploy, Via: access.Via{Surface: "schedule"},
	}
}

// startOf is the start that a schedule asks for.
func startOf(ns string, id schedule.ID, set schedule.Settings) runs.StartRequest {
	return runs.StartRequest{Namespace: ns, WorkflowType: set.WorkflowType, Input: set.Input, Labels: set.Labels, ScheduleID: string(id)}
}
