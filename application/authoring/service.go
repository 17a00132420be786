// Package authoring holds the use cases of workflow documents: list, read, check, save and deploy. Documents are the
// server's own and stand outside namespaces.
package authoring

import (
	"context"
	"sync/atomic"
	"time"

	"aion/application/deployments"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/awl/plan"
	"aion/domain/document"
	"aion/ports"
)

// Deps is what the service needs.
type Deps struct {
	Documents   ports.DocumentStore
	Revisions   ports.RevisionStore
	Deployments *deployments.Service
	Clock       ports.Clock
	IDs         ports.IDs
	// Policy tells what this server will refuse to run of a plan; a deploy passes it on as warnings. nil: nothing.
	Policy func(*plan.Plan) []string
	// Audit records a save; one that cannot be recorded does not happen. nil: nothing is recorded.
	Audit func(context.Context, domain.AuditRecord) error
	// Checked is told how long each check took, and each compilation; nil: nobody is.
	Checked func(took time.Duration)
}

// Service answers for the documents of the workspace. It is safe for concurrent use.
type Service struct {
	Deps
	draining atomic.Bool
}

// New gives a service over a workspace.
func New(d Deps) *Service { return &Service{Deps: d} }

// Drain closes the door for saves and deploys: the server shuts down. Reads and checks go on.
func (s *Service) Drain() { s.draining.Store(true) }

// mayWrite authorises a caller for a change.
func (s *Service) mayWrite(who access.Caller) error {
	if err := who.MayDeploy(); err != nil {
		return err
	}
	if s.draining.Load() {
		return domain.Unavailable("ShuttingDown", "the server is shutting down; repeat the call later", nil)
	}
	return nil
}

// listed is how many documents a listing shows.
const listed = 1000

// List shows the saved documents by path, the first 1,000 of them, each with its present content hash. Whoever is
// authenticated may read documents.
func (s *Service) List(ctx context.Context, _ access.Caller) (Listing, error) {
	entries, err := s.Documents.Documents(ctx)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Count: len(entries), Truncated: len(entries) > listed, Entries: make([]document.Entry, 0, min(len(entries), listed))}
	for _, e := range entries[:min(len(entries), listed)] {
		source, err := s.Documents.ReadDocument(ctx, e.Path)
		if domain.CodeOf(err) == domain.CodeNotFound {
			l.Count-- // it was removed meanwhile
			continue
		}
		if err != nil {
			return Listing{}, err
		}
		e.Bytes = int64(len(source))
		e.ContentHash = awl.ContentHash(source, s.imports(ctx, e.Path, nil))
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

// Read returns the stored bytes of one document, unchanged, with their hash.
func (s *Service) Read(ctx context.Context, _ access.Caller, path string) (Document, error) {
	p, err := document.ParsePath(path)
	if err != nil {
		return Document{}, err
	}
	source, err := s.Documents.ReadDocument(ctx, p)
	if err != nil {
		return Document{}, err
	}
	return Document{Path: p, Name: p.Name(), Source: source, ContentHash: awl.ContentHash(source, s.imports(ctx, p, nil))}, nil
}

// Check judges a draft without storing or running anything; findings are its result. With a path, imports are read from
// where the draft would stand.
func (s *Service) Check(ctx context.Context, _ access.Caller, req CheckRequest) (awl.Report, error) {
	if err := s.Documents.Configured(); err != nil {
		return awl.Report{}, err
	}
	opts, err := s.options(ctx, req)
	if err != nil {
		return awl.Report{}, err
	}
	return s.check(req.Source, opts), nil
}

func (s *Service) check(source []byte, opts awl.Options) awl.Report {
	defer s.timed()()
	return awl.Check(source, opts)
}

// timed tells at its end how long a check, or a compilation, took.
func (s *Service) timed() (end func()) {
	if s.Checked == nil {
		return func() {}
	}
	began := s.Clock.Now()
	return func() { s.Checked(s.Clock.Now().Sub(began)) }
}

// options says where the imports of a draft come from.
func (s *Service) options(ctx context.Context, req CheckRequest) (awl.Options, error) {
	if len(req.Source) > document.MaxBytes {
		return awl.Options{}, document.TooLarge(len(req.Source))
	}
	if req.Imports != nil {
		return awl.Options{Import: packed(req.Imports).resolve}, nil
	}
	if req.Path == "" {
		return awl.Options{}, nil
	}
	p, err := document.ParsePath(req.Path)
	if err != nil {
		return awl.Options{}, err
	}
	return awl.Options{Import: s.imports(ctx, p, nil)}, nil
}

// imports resolves the imports of a document; what was read is kept in into, unless it is nil.
func (s *Service) imports(ctx context.Context, p document.Path, into map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		b, err := s.Documents.ReadImport(ctx, p, path)
		if err == nil && into != nil {
			into[path] = string(b)
		}
		return b, err
	}
}
