package authoring

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/document"
)

// RevisionPosition is a place in the order of History.
type RevisionPosition struct {
	SavedAt time.Time
	SHA256  string
}

// History gives at most limit texts of a document, newest first: the present one, and what it was before. A document that
// was removed still has its texts; one that never was is refused (DocumentNotFound). next is nil at the end. The content
// hash of an earlier text counts its imports as they are now.
func (s *Service) History(ctx context.Context, _ access.Caller, path string, after *RevisionPosition, limit int) (list []State, next *RevisionPosition, err error) {
	p, err := document.ParsePath(path)
	if err != nil {
		return nil, nil, err
	}
	texts, err := s.texts(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if len(texts) == 0 {
		return nil, nil, document.NotFound(p)
	}
	uses, err := s.Deployments.Uses(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range texts {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if after != nil && !older(r, *after) {
			continue
		}
		if len(list) == limit {
			return list, next, nil
		}
		source, err := s.text(ctx, p, r)
		if domain.CodeOf(err) == domain.CodeNotFound && err != nil {
			continue // it has gone meanwhile
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s.state(ctx, r.Revision, p, source, uses))
		next = &RevisionPosition{SavedAt: r.SavedAt, SHA256: r.SHA256}
	}
	return list, nil, nil
}

func older(r textOf, than RevisionPosition) bool {
	if !r.SavedAt.Equal(than.SavedAt) {
		return r.SavedAt.Before(than.SavedAt)
	}
	return r.SHA256 > than.SHA256
}

// textOf is a text of a document; present tells the one that it has now.
type textOf struct {
	document.Revision
	present bool
}

// texts are all texts of a document, newest first.
func (s *Service) texts(ctx context.Context, p document.Path) ([]textOf, error) {
	var list []textOf
	switch now, err := s.Revisions.Saved(ctx, p); {
	case err == nil:
		list = append(list, textOf{now, true})
	case domain.CodeOf(err) != domain.CodeNotFound:
		return nil, err
	}
	kept, err := s.Revisions.Revisions(ctx, p)
	for _, r := range kept {
		list = append(list, textOf{r, false})
	}
	// The time of the present text is that of its file, which may be older than what it was before.
	slices.SortStableFunc(list, func(a, b textOf) int {
		return cmp.Or(b.SavedAt.Compare(a.SavedAt), cmp.Compare(a.SHA256, b.SHA256))
	})
	return list, err
}

func (s *Service) text(ctx context.Context, p document.Path, r textOf) ([]byte, error) {
	if r.present {
		return s.Documents.ReadDocument(ctx, p)
	}
	return s.Revisions.ReadRevision(ctx, p, r.Revision)
}

var contentHashShape = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Revision gives the text with a content hash: of a stored version, or of a document as it is or was. It refuses
// RevisionNotFound, also what is no content hash: that asks nobody.
func (s *Service) Revision(ctx context.Context, _ access.Caller, contentHash string) ([]byte, error) {
	if !contentHashShape.MatchString(contentHash) {
		return nil, document.RevisionNotFound(contentHash)
	}
	source, err := s.Deployments.Source(ctx, contentHash)
	if err == nil {
		return []byte(source), nil
	}
	if domain.CodeOf(err) != domain.CodeNotFound {
		return nil, err
	}
	if s.Documents.Configured() != nil { // then there are no others
		return nil, document.RevisionNotFound(contentHash)
	}
	paths, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		source, err := s.find(ctx, p, contentHash)
		if err != nil || source != nil {
			return source, err
		}
	}
	return nil, document.RevisionNotFound(contentHash)
}

// known names every document that has a text, present or removed, some of them twice.
func (s *Service) known(ctx context.Context) ([]document.Path, error) {
	paths, err := s.Revisions.Revised(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := s.Documents.Documents(ctx)
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths, err
}

// find looks for a text among those of a document; nil when none has the hash.
func (s *Service) find(ctx context.Context, p document.Path, contentHash string) ([]byte, error) {
	texts, err := s.texts(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range texts {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		source, err := s.text(ctx, p, r)
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound && err != nil:
			continue // it has gone meanwhile
		case err != nil:
			return nil, err
		case awl.ContentHash(source, s.imports(ctx, p, nil)) == contentHash:
			return source, nil
		}
	}
	return nil, nil
}
