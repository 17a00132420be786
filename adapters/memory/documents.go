package memory

import (
	"bytes"
	"cmp"
	"context"
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
}

type file struct {
	body     []byte
	modified time.Time
}

var _ ports.DocumentStore = (*Documents)(nil)

// NewDocuments gives an empty workspace.
func NewDocuments(clock ports.Clock) *Documents {
	return &Documents{clock: clock, files: map[string]file{}}
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

// WriteDocument implements ports.DocumentStore. Revisions are not kept: nothing here can read them.
func (d *Documents) WriteDocument(_ context.Context, p document.Path, source []byte, expected func(present []byte) error) (bool, error) {
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
	d.files[string(p)] = file{body: bytes.Clone(source), modified: stored(d.clock.Now())}
	return !ok, nil
}

// present copies bytes that exist: an empty file is not nil.
func present(b []byte) []byte { return append([]byte{}, b...) }
