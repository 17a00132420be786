package authoring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/document"
)

var (
	// errMoved says that a document was written while its hash was computed.
	errMoved = errors.New("the document was written meanwhile")
	// errUnexpected says that there is, or is not, a document against what the caller expects.
	errUnexpected = errors.New("the document is not what was expected")
)

// Save writes a document, checked or not, and keeps the one before it as a revision; it needs the deploy grant. With an
// expectation the save is refused (RevisionMismatch, PreconditionRequired) when the document is not what the caller expects.
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
	for {
		expected, err := s.expectation(ctx, p, req)
		if err != nil {
			return Saved{}, err
		}
		var before []byte // nil: none
		created, err := s.Documents.WriteDocument(ctx, p, req.Source, who.Subject, func(present []byte) error {
			before = present
			if err := expected(present); err != nil || present != nil && bytes.Equal(present, req.Source) {
				return err // a save that changes nothing has no record
			}
			return s.record(ctx, who, "document.save", p, req.Source)
		})
		switch {
		case errors.Is(err, errMoved) && ctx.Err() == nil:
			continue // someone else saved: judge what stands now
		case errors.Is(err, errUnexpected):
			return Saved{}, s.unexpected(ctx, p, req.Expect, before)
		case err != nil:
			return Saved{}, err
		}
		out := Saved{
			Path: p, Name: p.Name(), ContentHash: awl.ContentHash(req.Source, s.imports(ctx, p, nil)), Bytes: int64(len(req.Source)),
			Created: created, Changed: !bytes.Equal(before, req.Source) || created,
		}
		if before != nil {
			out.Previous = awl.ContentHash(before, s.imports(ctx, p, nil))
		}
		return out, nil
	}
}

// Delete removes a document and keeps it as a revision; it needs the deploy grant. With an expectation it is refused
// (RevisionMismatch, PreconditionRequired) when the document is not what the caller expects.
func (s *Service) Delete(ctx context.Context, who access.Caller, req DeleteRequest) error {
	if err := s.mayWrite(who); err != nil {
		return err
	}
	p, err := document.ParsePath(req.Path)
	if err != nil {
		return err
	}
	for {
		expected, err := s.expectation(ctx, p, SaveRequest{ExpectedHash: req.ExpectedHash, Expect: req.Expect})
		if domain.TypeOf(err) == "RevisionMismatch" {
			if _, gone := s.Documents.ReadDocument(ctx, p); domain.CodeOf(gone) == domain.CodeNotFound && gone != nil {
				return gone
			}
		}
		if err != nil {
			return err
		}
		var before []byte
		err = s.Documents.DeleteDocument(ctx, p, func(present []byte) error {
			before = present
			if err := expected(present); err != nil {
				return err
			}
			return s.record(ctx, who, "document.delete", p, present)
		})
		switch {
		case errors.Is(err, errMoved) && ctx.Err() == nil:
			continue
		case errors.Is(err, errUnexpected):
			return s.unexpected(ctx, p, req.Expect, before)
		}
		return err
	}
}

// expectation judges the present document before the store is locked, because the judgement reads imports, and gives what
// only has to see under the lock that it is still there.
func (s *Service) expectation(ctx context.Context, p document.Path, req SaveRequest) (func([]byte) error, error) {
	if req.ExpectedHash == "" {
		return func(present []byte) error {
			if present != nil && (req.Expect == Nothing || req.Expect == Unnamed) || present == nil && req.Expect == Something {
				return errUnexpected
			}
			return nil
		}, nil
	}
	judged, err := s.Documents.ReadDocument(ctx, p)
	absent := domain.CodeOf(err) == domain.CodeNotFound && err != nil
	if err != nil && !absent {
		return nil, err
	}
	if absent {
		return nil, document.RevisionMismatch(p, "")
	}
	if current := awl.ContentHash(judged, s.imports(ctx, p, nil)); current != req.ExpectedHash {
		return nil, document.RevisionMismatch(p, current)
	}
	return func(present []byte) error {
		if present == nil || string(present) != string(judged) {
			return errMoved
		}
		return nil
	}, nil
}

// unexpected refuses what errUnexpected has found; present is nil where there is no document.
func (s *Service) unexpected(ctx context.Context, p document.Path, expect Expectation, present []byte) error {
	if expect == Unnamed {
		return document.PreconditionRequired(p)
	}
	if present == nil {
		return document.RevisionMismatch(p, "")
	}
	return document.RevisionMismatch(p, awl.ContentHash(present, s.imports(ctx, p, nil)))
}

// record writes the record of a change, under the lock of the store and right before it happens.
func (s *Service) record(ctx context.Context, who access.Caller, action string, p document.Path, source []byte) error {
	if s.Audit == nil {
		return nil
	}
	record := who.Audit(action, "", string(p))
	record.Detail = domain.AuditDetail(map[string]any{"bytes": len(source), "sha256": fmt.Sprintf("%x", sha256.Sum256(source))})
	return s.Audit(ctx, *record)
}
