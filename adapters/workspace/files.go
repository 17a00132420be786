package workspace

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"aion/domain"
	"aion/domain/document"
	"aion/ports"
)

var _ ports.FileStore = (*Workspace)(nil)

// Files implements ports.FileStore.
func (w *Workspace) Files(ctx context.Context, file func(path string, body []byte) error) error {
	if w.dir == "" {
		return nil
	}
	root, err := w.root()
	if absent(err) {
		return nil
	}
	if err != nil {
		return failed("the workspace", err)
	}
	defer func() { _ = root.Close() }()
	return root.files(ctx, "", file)
}

func (f folder) files(ctx context.Context, prefix string, file func(path string, body []byte) error) error {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return failed("the workspace", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		full := prefix + name
		if name[0] == '.' && full != revisions && full != authors {
			continue
		}
		if err := f.file(ctx, name, full, file); err != nil && !absent(err) { // it may have gone meanwhile
			return err
		}
	}
	return nil
}

func (f folder) file(ctx context.Context, name, full string, file func(path string, body []byte) error) error {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR && strings.Count(full, "/") < 2*maxDepth {
		sub, err := f.child(name)
		if err != nil {
			return err
		}
		defer func() { _ = sub.Close() }()
		return sub.files(ctx, full+"/", file)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || !belongs(full) {
		return nil // neither a document nor what belongs to one
	}
	body, _, err := f.read(name, document.MaxBytes+1)
	if err != nil {
		return err
	}
	if len(body) > document.MaxBytes {
		return failed(full, fmt.Errorf("the file has more than %d bytes; move it out of the workspace", document.MaxBytes))
	}
	return file(full, body)
}

// maxDepth bounds the folders that are walked; a document lies less deep.
const maxDepth = 16

// belongs reports whether a path is that of a document, of a file that documents may import, of an earlier text, or of who
// saved one.
func belongs(name string) bool {
	for _, kept := range []string{revisions, authors} {
		if rest, ok := strings.CutPrefix(name, kept+"/"); ok {
			_, text := revisionOf(path.Base(rest))
			_, err := document.ParsePath(path.Dir(rest))
			return text && err == nil
		}
	}
	_, err := document.ParsePath(name)
	return err == nil || document.ValidImport(name)
}

// PutFile implements ports.FileStore.
func (w *Workspace) PutFile(ctx context.Context, name string, body []byte) error {
	if w.dir == "" {
		return ports.WorkspaceUnconfigured()
	}
	if !belongs(name) || len(body) > document.MaxBytes {
		return &domain.Error{
			Code: domain.CodeInvalidInput, Type: "BackupBroken",
			Message: fmt.Sprintf("%q is no file of a document workspace", domain.Quote(name, 240)),
		}
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	root, err := w.ensure()
	if err != nil {
		return failed(name, err)
	}
	defer func() { _ = root.Close() }()
	unlock, err := root.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return root.put(document.Path(name), body)
}
