package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"aion/domain/document"
	"aion/ports"
)

// Configured implements ports.DocumentStore: there always is a workspace.
func (*Documents) Configured() error { return nil }

// Documents implements ports.DocumentStore. It is safe for concurrent use.
type Documents struct {
	clock ports.Clock

	mu    sync.Mutex
	files map[string]file
	old   map[document.Path][]file // oldest first
}

type file struct {
	body     []byte
	modified time.Time
	by       string
}

// kept is what a document was until it was written or removed.
func (f file) kept() document.Revision {
	return document.Revision{SHA256: fmt.Sprintf("%x", sha256.Sum256(f.body)), SavedAt: f.modified, Bytes: int64(len(f.body)), SavedBy: f.by}
}

var (
	_ ports.DocumentStore = (*Documents)(nil)
	_ ports.RevisionStore = (*Documents)(nil)
)

// NewDocuments gives an empty workspace.
func NewDocuments(clock ports.Clock) *Documents {
	return &Documents{clock: clock, files: map[string]file{}, old: map[document.Path][]file{}}
}

// PutFile lays a file beside the documents, such as a schema that one imports.
func (d *Documents) PutFile(name string, body []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path.Clean(name)] = file{body: bytes.Clone(body), modified: stored(d.clock.Now())}
}

// Documents implements ports.DocumentStore.
func (d *Documents) Documents(_ context.Context) ([]document.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []document.Entry
	for name, f := range d.files {
		if strings.HasSuffix(name, ".awl") {
			entries = append(entries, document.Entry{Path: document.Path(name), Bytes: int64(len(f.body)), ModifiedAt: f.modified})
		}
	}
	slices.SortFunc(entries, func(a, b document.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return entries, nil
}

// ReadDocument implements ports.DocumentStore.
func (d *Documents) ReadDocument(_ context.Context, p document.Path) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[string(p)]
	if !ok {
		return nil, document.NotFound(p)
	}
	return present(f.body), nil
}

// ReadImport implements ports.DocumentStore.
func (d *Documents) ReadImport(_ context.Context, p document.Path, relative string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[path.Join(path.Dir(string(p)), relative)]
	if !ok || !document.ValidImport(relative) {
		return nil, ports.ImportNotFound(relative)
	}
	return present(f.body[:min(len(f.body), document.MaxImportBytes+1)]), nil
}

// WriteDocument implements ports.DocumentStore. Bytes that are there already are not written again.
func (d *Documents) WriteDocument(_ context.Context, p document.Path, source []byte, by string, expected func(present []byte) error) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.files[string(p)]
	if expected != nil {
		var now []byte
		if ok {
			now = present(old.body)
		}
		if err := expected(now); err != nil {
			return false, err
		}
	}
	if ok && bytes.Equal(old.body, source) {
		return false, nil
	}
	if ok {
		d.old[p] = append(d.old[p], old)
	}
	d.files[string(p)] = file{body: present(source), modified: stored(d.clock.Now()), by: by}
	return !ok, nil
}

// DeleteDocument implements ports.DocumentStore.
func (d *Documents) DeleteDocument(_ context.Context, p document.Path, expected func(present []byte) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.files[string(p)]
	if !ok {
		return document.NotFound(p)
	}
	if expected != nil {
		if err := expected(present(old.body)); err != nil {
			return err
		}
	}
	d.old[p] = append(d.old[p], old)
	delete(d.files, string(p))
	return nil
}

// Saved implements ports.RevisionStore.
func (d *Documents) Saved(_ context.Context, p document.Path) (document.Revision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[string(p)]
	if !ok {
		return document.Revision{}, document.NotFound(p)
	}
	return f.kept(), nil
}

// Revised implements ports.RevisionStore.
func (d *Documents) Revised(context.Context) ([]document.Path, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.old)), nil
}

// Revisions implements ports.RevisionStore.
func (d *Documents) Revisions(_ context.Context, p document.Path) ([]document.Revision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []document.Revision
	for _, f := range slices.Backward(d.old[p]) {
		list = append(list, f.kept())
	}
	return list, nil
}

// ReadRevision implements ports.RevisionStore.
func (d *Documents) ReadRevision(_ context.Context, p document.Path, r document.Revision) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.old[p] {
		if f.kept() == r {
			return present(f.body), nil
		}
	}
	return nil, document.RevisionNotFound(r.SHA256)
}

// present copies bytes that exist: an empty file is not nil.
func present(b []byte) []byte { return append([]byte{}, b...) }
