// Package runs holds the use cases of one durable workflow: start, signal, query, cancel, pause, reopen, describe, list, history and
// follow. Each method authorises its caller first; a workflow of another namespace is answered like a missing one.
package runs

import (
	"context"
	"fmt"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/run"
	"aion/domain/worker"
	"aion/ports"
)

// catalogue knows the deployed types.
type catalogue interface {
	// Routed gives the version that new runs of a type get, or refuses the type (WorkflowTypeNotFound).
	Routed(ctx context.Context, workflowType string) (*deployment.Contract, error)
	// Contract gives a loaded version, or refuses what is none (CodeNotFound).
	Contract(ctx context.Context, contentHash string) (*deployment.Contract, error)
	// Source gives the text of a version as the store holds it now, or refuses what is none (CodeNotFound).
	Source(ctx context.Context, contentHash string) (string, error)
	// Types names them in order.
	Types(ctx context.Context) ([]string, error)
}

// register tells which namespaces exist. Both methods refuse one that does not (NamespaceNotFound).
type register interface {
	// Enter judges a namespace before something in it is read.
	Enter(ctx context.Context, ns domain.Namespace) error
	// Open judges it before the first thing in it is recorded, and creates it where that is allowed.
	Open(ctx context.Context, who access.Caller, ns domain.Namespace) error
}

// Limits are the bounds of calls. A zero member is its default.
type Limits struct {
	PayloadBytes         int           // of an input, a payload: 2 MiB
	PendingSignals       int           // of one run: 100,000
	IdempotencyRetention time.Duration // 24 h
	QueryTimeout         time.Duration // 10 s
	Poll                 time.Duration // against a lost wake-up: 1 s
}

// Deps is what the service needs. Served says whether something can execute an action now. Without Namespaces every one
// that has a possible name exists.
type Deps struct {
	Namespaces  register
	Engine      *engine.Engine
	Reader      *engine.Reader
	Events      ports.EventStore
	Index       ports.RunIndex
	Changes     ports.ChangeLog // for WatchRuns; nil: it is not asked for
	Transcripts ports.TranscriptStore
	Types       catalogue
	Watch       ports.Watch
	Clock       ports.Clock
	IDs         ports.IDs
	Served      func(c *deployment.Contract, queue, name string) bool
	// Unserved gives what tells why nothing could take an open activity now; it is asked once for each look at a run and must
	// not wait then. nil: Served decides.
	Unserved func(ctx context.Context) func(domain.Namespace, *deployment.Contract, run.Activity) worker.Reason
	Limits   Limits
	Meter    ports.WorkMeter // nil: nobody counts
}

// Service answers for workflows. It is safe for concurrent use.
type Service struct{ Deps }

// New gives a service.
func New(d Deps) *Service {
	if d.Limits.PayloadBytes <= 0 {
		d.Limits.PayloadBytes = 2 << 20
	}
	if d.Limits.PendingSignals <= 0 {
		d.Limits.PendingSignals = 100_000
	}
	if d.Limits.IdempotencyRetention <= 0 {
		d.Limits.IdempotencyRetention = 24 * time.Hour
	}
	if d.Limits.QueryTimeout <= 0 {
		d.Limits.QueryTimeout = 10 * time.Second
	}
	if d.Limits.Poll <= 0 {
		d.Limits.Poll = time.Second
	}
	return &Service{Deps: d}
}

// reach authorises a caller for a namespace and finds it. The grant is decided before anything is looked up, also for a
// name that cannot exist.
func (s *Service) reach(ctx context.Context, who access.Caller, namespace string) (domain.Namespace, error) {
	if err := who.Reach(domain.Namespace(namespace)); err != nil {
		return "", err
	}
	ns, err := domain.ParseNamespace(namespace)
	if err != nil || s.Namespaces == nil {
		return ns, err
	}
	return ns, s.Namespaces.Enter(ctx, ns)
}

// open makes sure that a namespace exists before something is recorded in it.
func (s *Service) open(ctx context.Context, who access.Caller, ns domain.Namespace) error {
	if s.Namespaces == nil {
		return nil
	}
	return s.Namespaces.Open(ctx, who, ns)
}

// located is a run that a caller may see.
type located struct {
	namespace domain.Namespace
	id        domain.WorkflowID
	run       domain.RunID // as asked for; empty: the latest
	row       history.RunRow
	latest    bool
}

// locate authorises the caller and finds the run.
func (s *Service) locate(ctx context.Context, who access.Caller, ref Ref) (located, error) {
	ns, err := s.reach(ctx, who, ref.Namespace)
	if err != nil {
		return located{}, err
	}
	l := located{namespace: ns}
	if l.id, err = domain.ParseWorkflowID(ref.WorkflowID); err != nil {
		return located{}, err
	}
	if ref.RunID != "" {
		if l.run, err = domain.ParseRunID(ref.RunID); err != nil {
			return located{}, err
		}
	}
	rows, err := s.Index.RunsIn(ctx, ns, l.id)
	if err != nil {
		return located{}, err
	}
	l.row, err = run.Find(rows, ns, l.id, l.run)
	l.latest = err == nil && l.row.RunID == rows[len(rows)-1].RunID
	return l, err
}

// live finds the run that a change is meant for in the view of its turn, and refuses one that has ended.
func (l located) live(v engine.View) (*run.Run, error) {
	r, err := l.last(v)
	if err != nil {
		return nil, err
	}
	return r, r.Alive()
}

// last finds the latest run of the workflow. It refuses what is meant for an earlier generation: that has ended.
func (l located) last(v engine.View) (*run.Run, error) {
	if v.Run == nil {
		return nil, run.WorkflowNotFound(l.id, l.namespace)
	}
	if l.run != "" && v.Run.ID() != l.run {
		return nil, run.Superseded(l.id, l.run)
	}
	return v.Run, nil
}

// fits refuses a payload over the limit.
func (s *Service) fits(what string, payload domain.Payload) error {
	if len(payload) <= s.Limits.PayloadBytes {
		return nil
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "PayloadTooLarge",
		Message: fmt.Sprintf("the %s has %d bytes and may have %d (limits.payload_bytes); pass less, or a reference to where the data lies",
			what, len(payload), s.Limits.PayloadBytes),
	}
}

// resultOf is how a metric names the end of a call.
func resultOf(err error) string {
	if err == nil {
		return "ok"
	}
	return string(domain.CodeOf(err))
}
