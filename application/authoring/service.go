// Package authoring holds the use cases of workflow documents: list, read, check, save and deploy. Documents are the
// server's own and stand outside namespaces.
package authoring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

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
	Deployments *deployments.Service
	Clock       ports.Clock
	IDs         ports.IDs
	// Policy tells what this server will refuse to run of a plan; a deploy passes it on as warnings. nil: nothing.
	Policy func(*plan.Plan) []string
	// Audit records a save; one that cannot be recorded does not happen. nil: nothing is recorded.
	Audit func(context.Context, domain.AuditRecord) error
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
	if len(req.Source) > document.MaxBytes {
		return awl.Report{}, document.TooLarge(len(req.Source))
	}
	var opts awl.Options
	if req.Path != "" {
		p, err := document.ParsePath(req.Path)
		if err != nil {
			return awl.Report{}, err
		}
		opts.Import = s.imports(ctx, p, nil)
	}
	return awl.Check(req.Source, opts), nil
}

// errMoved says that a document was written while its hash was computed.
var errMoved = errors.New("the document was written meanwhile")

// Save writes a document, checked or not, and keeps the one before it as a revision; it needs the deploy grant. With an
// expected hash the save is refused (RevisionMismatch) when the document is not what the caller has read.
func (s *Service) Save(ctx context.Context, who access.Caller, req SaveRequest) (Saved, error) {
	if err := s.mayWrite(who); err != nil {
		return Saved{}, err
	}
	p, err := document.ParsePath(req.Path)
	if err != nil {
		return Saved{}, err
	}
	if len(req.Source) > document.MaxBytes {
		return Saved{}, document.TooLarge(len(req.Source))
	}
	var created bool
	for {
		expected, err := s.expectation(ctx, p, req.ExpectedHash)
		if err != nil {
			return Saved{}, err
		}
		created, err = s.Documents.WriteDocument(ctx, p, req.Source, s.recorded(ctx, who, p, req.Source, expected))
		if errors.Is(err, errMoved) && ctx.Err() == nil {
			continue // someone else saved: judge what stands now
		}
		if err != nil {
			return Saved{}, err
		}
		break
	}
	return Saved{
		Path: p, Name: p.Name(), ContentHash: awl.ContentHash(req.Source, s.imports(ctx, p, nil)), Bytes: int64(len(req.Source)),
		Created: created,
	}, nil
}

// expectation judges the present document before the store is locked, because the judgement reads imports, and gives what
// only has to see under the lock that it is still there.
func (s *Service) expectation(ctx context.Context, p document.Path, hash string) (func([]byte) error, error) {
	if hash == "" {
		return nil, nil //nolint:nilnil // no expectation is what the port calls nil
	}
	judged, err := s.Documents.ReadDocument(ctx, p)
	absent := domain.CodeOf(err) == domain.CodeNotFound && err != nil
	if err != nil && !absent {
		return nil, err
	}
	if absent {
		return nil, document.RevisionMismatch(p, "")
	}
	if current := awl.ContentHash(judged, s.imports(ctx, p, nil)); current != hash {
		return nil, document.RevisionMismatch(p, current)
	}
	return func(present []byte) error {
		if present == nil || string(present) != string(judged) {
			return errMoved
		}
		return nil
	}, nil
}

// recorded is an expectation that also writes the record of the save, under the lock of the store and right before the
// bytes. A save that changes nothing has none.
func (s *Service) recorded(ctx context.Context, who access.Caller, p document.Path, source []byte, expected func([]byte) error) func([]byte) error {
	if s.Audit == nil {
		return expected
	}
	return func(present []byte) error {
		if expected != nil {
			if err := expected(present); err != nil {
				return err
			}
		}
		if present != nil && bytes.Equal(present, source) {
			return nil
		}
		record := who.Audit("document.save", "", string(p))
		record.Detail = domain.AuditDetail(map[string]any{"bytes": len(source), "sha256": fmt.Sprintf("%x", sha256.Sum256(source))})
		return s.Audit(ctx, *record)
	}
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
