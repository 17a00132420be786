package workspace

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aion/domain/document"
	"aion/ports"
)

var _ ports.RevisionStore = (*Workspace)(nil)

// Revised implements ports.RevisionStore.
func (w *Workspace) Revised(ctx context.Context) ([]document.Path, error) {
	kept, err := w.kept(".")
	if err != nil || kept.File == nil {
		return nil, err
	}
	defer func() { _ = kept.Close() }()
	var list []document.Path
	if err := revised(ctx, kept, "", &list); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, failed("the list of revisions", err)
	}
	slices.Sort(list)
	return list, nil
}

// revised walks the folders of revisions: one that has the name of a document holds its texts.
func revised(ctx context.Context, dir folder, prefix string, into *[]document.Path) error {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p, err := document.ParsePath(prefix + name); err == nil {
			*into = append(*into, p)
			// A folder may be called like a document; what is below it is looked for too.
		}
		sub, err := dir.child(name)
		if absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := document.ParsePath(prefix + name + "/x.awl"); err == nil {
			err = revised(ctx, sub, prefix+name+"/", into)
			if err = errors.Join(err, sub.Close()); err != nil {
				return err
			}
			continue
		}
		_ = sub.Close()
	}
	return nil
}

// kept opens the folder of the revisions of a document; without one its File is nil.
func (w *Workspace) kept(of string) (folder, error) {
	if w.dir == "" {
		return folder{}, ports.WorkspaceUnconfigured()
	}
	root, err := w.root()
	if absent(err) {
		return folder{}, nil
	}
	if err != nil {
		return folder{}, failed(of, err)
	}
	defer func() { _ = root.Close() }()
	dir, err := root.enter(path.Join(revisions, of))
	if absent(err) {
		return folder{}, nil
	}
	if err != nil {
		return folder{}, failed(of, err)
	}
	return dir, nil
}

// Revisions implements ports.RevisionStore.
func (w *Workspace) Revisions(_ context.Context, p document.Path) ([]document.Revision, error) {
	dir, err := w.kept(string(p))
	if err != nil || dir.File == nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, failed(string(p), err)
	}
	root, err := w.root()
	if err != nil {
		return nil, failed(string(p), err)
	}
	defer func() { _ = root.Close() }()
	var list []document.Revision
	for _, name := range names {
		r, ok := revisionOf(name)
		if !ok {
			continue // nothing of ours
		}
		var st unix.Stat_t
		if err := unix.Fstatat(dir.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue // it has gone meanwhile
		}
		r.Bytes, r.SavedBy = st.Size, root.author(p, name)
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b document.Revision) int {
		return cmp.Or(b.SavedAt.Compare(a.SavedAt), cmp.Compare(a.SHA256, b.SHA256))
	})
	return list, nil
}

// revisionOf reads the name of a revision.
func revisionOf(name string) (document.Revision, bool) {
	stamp, sum, _ := strings.Cut(name, "-")
	at, err := time.Parse(revisionTime, stamp)
	if err != nil || len(sum) != 64 || strings.ToLower(sum) != sum {
		return document.Revision{}, false
	}
	_, err = hex.DecodeString(sum)
	return document.Revision{SHA256: sum, SavedAt: at}, err == nil
}

// ReadRevision implements ports.RevisionStore.
func (w *Workspace) ReadRevision(_ context.Context, p document.Path, r document.Revision) ([]byte, error) {
	dir, err := w.kept(string(p))
	if err != nil {
		return nil, err
	}
	if dir.File == nil {
		return nil, document.RevisionNotFound(r.SHA256)
	}
	defer func() { _ = dir.Close() }()
	body, _, err := dir.read(fmt.Sprintf("%s-%s", r.SavedAt.UTC().Format(revisionTime), r.SHA256), document.MaxBytes+1)
	switch {
	case absent(err):
		return nil, document.RevisionNotFound(r.SHA256)
	case err != nil:
		return nil, failed(string(p), err)
	}
	return body, nil
}
