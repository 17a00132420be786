package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"aion/domain/document"
	"aion/ports"
)

const (
	revisions = ".revisions"
	authors   = ".authors"
	lockName  = ".lock"
	// revisionTime begins the name of a revision; the hash of its bytes follows behind a hyphen.
	revisionTime = "20060102T150405.000000Z"
	lockPause    = 5 * time.Millisecond
)

// WriteDocument implements ports.DocumentStore. Bytes that are there already are not written again.
func (w *Workspace) WriteDocument(ctx context.Context, p document.Path, source []byte, by string, expected func(present []byte) error) (bool, error) {
	if w.dir == "" {
		return false, ports.WorkspaceUnconfigured()
	}
	if len(source) > document.MaxBytes {
		return false, document.TooLarge(len(source))
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	root, err := w.ensure()
	if err != nil {
		return false, failed(string(p), err)
	}
	defer func() { _ = root.Close() }()
	unlock, err := root.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()

	present, st, err := readWhole(root, p)
	switch {
	case errors.Is(err, unix.ENOENT):
		present = nil
	case absent(err):
		return false, blocked(p)
	case err != nil:
		return false, err
	}
	if expected != nil {
		if err := expected(present); err != nil {
			return false, err
		}
	}
	if present != nil && bytes.Equal(present, source) {
		return false, nil
	}
	if present != nil {
		if err := root.keep(p, present, modified(st)); err != nil {
			return false, failed(string(p), err)
		}
	}
	if err := root.put(p, source); err != nil {
		return false, err
	}
	root.sign(p, by)
	return present == nil, nil
}

// DeleteDocument implements ports.DocumentStore.
func (w *Workspace) DeleteDocument(ctx context.Context, p document.Path, expected func(present []byte) error) error {
	if w.dir == "" {
		return ports.WorkspaceUnconfigured()
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	root, err := w.root()
	if absent(err) {
		return document.NotFound(p)
	}
	if err != nil {
		return failed(string(p), err)
	}
	defer func() { _ = root.Close() }()
	unlock, err := root.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	present, st, err := readWhole(root, p)
	if absent(err) {
		return document.NotFound(p)
	}
	if err == nil && expected != nil {
		err = expected(present)
	}
	if err != nil {
		return err
	}
	if err = root.keep(p, present, modified(st)); err == nil {
		err = root.remove(p)
	}
	if err != nil {
		return failed(string(p), err)
	}
	return nil
}

// ensure opens the workspace and creates it when it is missing.
func (w *Workspace) ensure() (folder, error) {
	root, err := w.root()
	if !errors.Is(err, unix.ENOENT) {
		return root, err
	}
	if err := os.MkdirAll(w.dir, dirMode); err != nil {
		return folder{}, err
	}
	return w.root()
}

// lock keeps other processes from writing until unlock is called.
func (f folder) lock(ctx context.Context) (unlock func(), err error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd(), lockName, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	})
	if err != nil {
		return nil, failed("the workspace's lock", err)
	}
	file := os.NewFile(uintptr(fd), lockName)
	for {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = file.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			_ = file.Close()
			return nil, failed("the workspace's lock", err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

// keep stores the bytes that are about to be replaced under the time at which they were saved.
func (f folder) keep(p document.Path, body []byte, saved time.Time) error {
	dir, err := f.make(path.Join(revisions, string(p)))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return dir.replace(revisionName(saved, body), body)
}

// revisionName names a text by when it was saved and what it is.
func revisionName(saved time.Time, body []byte) string {
	return fmt.Sprintf("%s-%x", saved.UTC().Format(revisionTime), sha256.Sum256(body))
}

// remove takes a file away; that it is gone survives a power cut.
func (f folder) remove(p document.Path) error {
	dir, err := f.enter(path.Dir(string(p)))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := unix.Unlinkat(dir.fd(), path.Base(string(p)), 0); err != nil {
		return err
	}
	return dir.Sync()
}

func (f folder) put(p document.Path, source []byte) error {
	dir, err := f.make(path.Dir(string(p)))
	if absent(err) {
		return blocked(p)
	}
	if err != nil {
		return failed(string(p), err)
	}
	defer func() { _ = dir.Close() }()
	switch err := dir.replace(path.Base(string(p)), source); {
	case errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return blocked(p)
	case err != nil:
		return failed(string(p), err)
	}
	return nil
}
