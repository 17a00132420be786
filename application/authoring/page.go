package authoring

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"aion/application/deployments"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/document"
)

// Page lists saved documents by path. Whoever is authenticated may read documents.
func (s *Service) Page(ctx context.Context, _ access.Caller, req PageRequest) (Page, error) {
	entries, err := s.Documents.Documents(ctx)
	if err != nil {
		return Page{}, err
	}
	uses, err := s.Deployments.Uses(ctx)
	if err != nil {
		return Page{}, err
	}
	entries = slices.DeleteFunc(entries, func(e document.Entry) bool { return !strings.HasPrefix(string(e.Path), req.Prefix) })
	out := Page{Documents: []State{}, Count: len(entries)}
	for _, e := range entries {
		if ctx.Err() != nil {
			return Page{}, context.Cause(ctx)
		}
		past := string(e.Path) <= req.After
		if req.Query == "" && (past || len(out.Documents) == req.Limit) {
			out.More = out.More || !past
			continue
		}
		source, err := s.Documents.ReadDocument(ctx, e.Path)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound && err != nil, err == nil && !holds(e.Path, source, req.Query):
			out.Count-- // it was removed meanwhile, or is another one
			continue
		case err != nil:
			return Page{}, err
		case past:
			continue
		case len(out.Documents) == req.Limit:
			out.More = true
			continue
		}
		out.Documents = append(out.Documents, s.state(ctx, document.Revision{SavedAt: e.ModifiedAt}, e.Path, source, uses))
	}
	return out, nil
}

// holds tells whether a text is part of a document or of its name, whatever the case. The workflow's name is in the document.
func holds(p document.Path, source []byte, query string) bool {
	lower := strings.ToLower(query)
	return query == "" || strings.Contains(strings.ToLower(p.Name()), lower) || bytes.Contains(bytes.ToLower(source), []byte(lower))
}

func (s *Service) state(ctx context.Context, r document.Revision, p document.Path, source []byte, uses deployments.Uses) State {
	hash := awl.ContentHash(source, s.imports(ctx, p, nil))
	return State{Path: p, ContentHash: hash, Bytes: int64(len(source)), SavedAt: r.SavedAt, SavedBy: r.SavedBy, Deployed: uses.Of(hash)}
}

// Describe gives what is known of a document, with its stored bytes, unchanged.
func (s *Service) Describe(ctx context.Context, _ access.Caller, path string) (State, []byte, error) {
	p, err := document.ParsePath(path)
	if err != nil {
		return State{}, nil, err
	}
	for {
		before, err := s.Revisions.Saved(ctx, p)
		if err != nil {
			return State{}, nil, err
		}
		source, err := s.Documents.ReadDocument(ctx, p)
		if err != nil {
			return State{}, nil, err
		}
		if after, err := s.Revisions.Saved(ctx, p); err != nil || after != before {
			if err := ctx.Err(); err != nil {
				return State{}, nil, context.Cause(ctx)
			}
			continue // it was written meanwhile: its time would be another text's
		}
		uses, err := s.Deployments.Uses(ctx)
		if err != nil {
			return State{}, nil, err
		}
		return s.state(ctx, before, p, source, uses), source, nil
	}
}
