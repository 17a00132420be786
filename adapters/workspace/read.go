package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aion/domain"
	"aion/domain/document"
	"aion/ports"
)

// maxDocuments bounds a list.
const maxDocuments = 100_000

// Configured implements ports.DocumentStore.
func (w *Workspace) Configured() error {
	if w.dir == "" {
		return ports.WorkspaceUnconfigured()
	}
	return nil
}

// Documents implements ports.DocumentStore.
func (w *Workspace) Documents(ctx context.Context) ([]document.Entry, error) {
	if w.dir == "" {
		return nil, ports.WorkspaceUnconfigured()
	}
	root, err := w.root()
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("the list of documents", err)
	}
	defer func() { _ = root.Close() }()
	l := lister{ctx: ctx}
	if err := l.add(root, ""); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, failed("the list of documents", err)
	}
	slices.SortFunc(l.entries, func(a, b document.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return l.entries, nil
}

type lister struct {
	ctx     context.Context //nolint:containedctx // lives for one call of Documents
	entries []document.Entry
}

// add lists a folder and those below it. Whatever has no valid document path is left out: it cannot be asked for.
func (l *lister) add(dir folder, prefix string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := l.entry(dir, prefix, name); err != nil && !absent(err) { // it may have gone meanwhile
			return err
		}
	}
	return nil
}

func (l *lister) entry(dir folder, prefix, name string) error {
	if strings.HasPrefix(name, ".") {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	full := prefix + name
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if _, err := document.ParsePath(full + "/x.awl"); err != nil {
			return nil // no document below it can be named
		}
		sub, err := dir.child(name)
		if err != nil {
			return err
		}
		defer func() { _ = sub.Close() }()
		return l.add(sub, full+"/")
	case unix.S_IFREG:
		p, err := document.ParsePath(full)
		if err != nil {
			return nil // it is no document
		}
		if len(l.entries) == maxDocuments {
			return &domain.Error{
				Code: domain.CodeBackend, Type: "DocumentIoError",
				Message: fmt.Sprintf("the workspace holds more than %d documents; move some of them away", maxDocuments),
			}
		}
		l.entries = append(l.entries, document.Entry{Path: p, Bytes: st.Size, ModifiedAt: modified(st)})
	}
	return nil
}

func modified(st unix.Stat_t) time.Time {
	return time.Unix(st.Mtim.Unix()).UTC().Truncate(time.Microsecond)
}

// ReadDocument implements ports.DocumentStore. A file over document.MaxBytes, which only a foreign tool can have put
// there, is refused.
func (w *Workspace) ReadDocument(_ context.Context, p document.Path) ([]byte, error) {
	if w.dir == "" {
		return nil, ports.WorkspaceUnconfigured()
	}
	root, err := w.root()
	if absent(err) {
		return nil, document.NotFound(p)
	}
	if err != nil {
		return nil, failed(string(p), err)
	}
	defer func() { _ = root.Close() }()
	body, _, err := readWhole(root, p)
	if absent(err) {
		return nil, document.NotFound(p)
	}
	return body, err
}

// Saved implements ports.RevisionStore.
func (w *Workspace) Saved(_ context.Context, p document.Path) (document.Revision, error) {
	if w.dir == "" {
		return document.Revision{}, ports.WorkspaceUnconfigured()
	}
	root, err := w.root()
	if absent(err) {
		return document.Revision{}, document.NotFound(p)
	}
	if err != nil {
		return document.Revision{}, failed(string(p), err)
	}
	defer func() { _ = root.Close() }()
	body, st, err := readWhole(root, p)
	if absent(err) {
		return document.Revision{}, document.NotFound(p)
	}
	r := document.Revision{SHA256: fmt.Sprintf("%x", sha256.Sum256(body)), SavedAt: modified(st), Bytes: int64(len(body))}
	if err == nil {
		r.SavedBy = root.author(p, revisionName(r.SavedAt, body))
	}
	return r, err
}

// readWhole reads a document; errors that are absent are given as they are.
func readWhole(root folder, p document.Path) ([]byte, unix.Stat_t, error) {
	body, st, err := root.read(string(p), document.MaxBytes+1)
	switch {
	case absent(err):
		return nil, st, err
	case err != nil:
		return nil, st, failed(string(p), err)
	case len(body) > document.MaxBytes:
		return nil, st, &domain.Error{
			Code: domain.CodeBackend, Type: "DocumentIoError",
			Message: fmt.Sprintf("%s: the file in the workspace is larger than %d bytes; move it away by hand", p, document.MaxBytes),
		}
	}
	return body, st, nil
}

// ReadImport implements ports.DocumentStore.
func (w *Workspace) ReadImport(_ context.Context, p document.Path, relative string) ([]byte, error) {
	if w.dir == "" {
		return nil, ports.WorkspaceUnconfigured()
	}
	if !document.ValidImport(relative) {
		return nil, ports.ImportNotFound(relative)
	}
	root, err := w.root()
	if absent(err) {
		return nil, ports.ImportNotFound(relative)
	}
	if err != nil {
		return nil, failed(relative, err)
	}
	defer func() { _ = root.Close() }()
	body, _, err := root.read(path.Join(path.Dir(string(p)), relative), document.MaxImportBytes+1)
	switch {
	case absent(err):
		return nil, ports.ImportNotFound(relative)
	case err != nil:
		return nil, failed(relative, err)
	}
	return body, nil
}
