package ports

import (
	"context"

	"aion/domain/document"
)

// DocumentStore keeps the workspace: one file per document, and its earlier revisions. When the workspace is not
// configured every method refuses with CodeNotConfigured (WorkspaceUnconfigured).
type DocumentStore interface {
	// Configured refuses when there is no workspace, and nothing else.
	Configured() error
	// Documents lists the saved documents by path in byte order. A workspace that does not exist yet is empty. ContentHash
	// is left empty: it depends on imports (document.ContentHash).
	Documents(ctx context.Context) ([]document.Entry, error)
	// ReadDocument returns the stored bytes, or CodeNotFound (DocumentNotFound). Links are not followed.
	ReadDocument(ctx context.Context, path document.Path) ([]byte, error)
	// ReadImport returns a file that a document imports, relative to the document's folder; CodeNotFound when it does not
	// exist or is no plain file below the workspace. At most document.MaxImportBytes + 1 bytes are returned.
	ReadImport(ctx context.Context, path document.Path, relative string) ([]byte, error)
	// WriteDocument replaces a document atomically and keeps the bytes before it as a revision; by is who saves it. expected, when not nil, is
	// called under the store's lock with the present bytes (nil: absent) and refuses by returning an error.
	WriteDocument(ctx context.Context, path document.Path, source []byte, by string, expected func(present []byte) error) (created bool, err error)
	// DeleteDocument removes a document and keeps its bytes as a revision, or refuses with CodeNotFound (DocumentNotFound).
	// expected, when not nil, is called like that of WriteDocument, with bytes that are present.
	DeleteDocument(ctx context.Context, path document.Path, expected func(present []byte) error) error
}

// RevisionStore tells when documents were saved, and what they were before they were written or removed. It refuses like DocumentStore when the
// workspace is not configured.
type RevisionStore interface {
	// Saved returns the present text of a document as a revision, or CodeNotFound (DocumentNotFound).
	Saved(ctx context.Context, path document.Path) (document.Revision, error)
	// Revised names the documents of which an earlier text is kept, removed ones too, in byte order.
	Revised(ctx context.Context) ([]document.Path, error)
	// Revisions lists the earlier texts of a document, newest first; none when nothing is kept.
	Revisions(ctx context.Context, path document.Path) ([]document.Revision, error)
	// ReadRevision returns the bytes of one, or CodeNotFound (RevisionNotFound).
	ReadRevision(ctx context.Context, path document.Path, r document.Revision) ([]byte, error)
}
