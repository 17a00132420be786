package gormstore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace puts a SQLite file in the place of a store that nobody has open. A store that is there must be empty (StoreNotEmpty);
// with a suffix it is moved aside under its name and that suffix instead, whatever is in it.
func Replace(ctx context.Context, o Options, file, suffix string) (err error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return misplaced("%q is no path for a store", o.Path)
	}
	o.Path = path
	if o.Readers <= 0 {
		o.Readers = 1
	}
	if err := checkPlace(o); err != nil {
		return err
	}
	l, clean, err := takeLock(path, o.Clock.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release(clean || err == nil)) }()
	if suffix == "" {
		if err := leaveEmpty(ctx, o, clean); err != nil {
			return err
		}
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if suffix != "" {
			err = os.Rename(path+end, path+suffix+end)
		} else {
			err = os.Remove(path + end)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return unwritable(path, err)
		}
	}
	if err := copyFile(file, path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// leaveEmpty refuses a store that holds something.
func leaveEmpty(ctx context.Context, o Options, clean bool) error {
	if info, err := os.Stat(o.Path); err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // nothing is there
	}
	s, err := open(ctx, o, clean)
	if err != nil {
		return err
	}
	return errors.Join(s.empty(ctx), s.pool.Close(), s.write.close())
}

// copyFile puts a copy of a file at a path: it is there whole or not at all, also after a power cut.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	half := to + ".new"
	if err := os.Remove(half); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(half, to)
	}
	if err != nil {
		_ = os.Remove(half)
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
