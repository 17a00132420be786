package gormstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"aion/domain"
)

const fileMode = 0o600

// header is how a SQLite file begins.
const header = "SQLite format 3\x00"

// checkPlace refuses a place that others can read or that is not what its name says. It creates the empty file, because
// SQLite gives the files beside it the same mode.
func checkPlace(o Options) error {
	dir := filepath.Dir(o.Path)
	if err := checkDirectory(dir); err != nil {
		return err
	}
	if !o.UnsafeNetworkFS {
		if name := networkFS(dir); name != "" {
			return misplaced("store directory %s is on a network file system (%s), where locks and fsync cannot be relied on; "+
				"move it to a local disk, or set store.unsafe_network_fs", dir, name)
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm", lockSuffix} {
		info, err := os.Lstat(o.Path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return unwritable(o.Path, err)
		}
		if !info.Mode().IsRegular() {
			return misplaced("store file %s is not a regular file; links are not followed: name the file itself", o.Path+suffix)
		}
	}
	return nil
}

func checkDirectory(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return misplaced("store directory %s does not exist; create it: mkdir -m 700 %s", dir, dir)
	}
	if err != nil {
		return unwritable(filepath.Join(dir, "x"), err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return misplaced("store directory %s is a link; name the directory that it leads to", dir)
	}
	if !info.IsDir() {
		return misplaced("%s is not a directory; name one for the store", dir)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err == nil && int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return misplaced("store directory %s belongs to uid %d and this process runs as uid %d; run: chown %d %s", dir, st.Uid, os.Geteuid(), os.Geteuid(), dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return misplaced("store directory %s has mode %04o and must be private: put the store into a folder of its own (mkdir -m 700 %s), "+
			"or run: chmod 700 %s", dir, mode, filepath.Join(dir, "store"), dir)
	}
	return nil
}

// prepareFile makes sure that the file is there with a private mode, and that it is empty or a SQLite file.
func prepareFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return unwritable(path, err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Chmod(fileMode); err != nil {
		return unwritable(path, err)
	}
	start := make([]byte, len(header))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return unwritable(path, err)
	}
	if !bytes.Equal(start[:n], []byte(header)) {
		return corrupt(path, "it does not begin like a SQLite file")
	}
	return nil
}

func misplaced(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "StoreMisplaced", Message: fmt.Sprintf(format, args...)}
}

// unwritable names the directory, its owner and who wants to write there.
func unwritable(path string, cause error) error {
	dir := filepath.Dir(path)
	owner := "an unknown user"
	var st unix.Stat_t
	if unix.Lstat(dir, &st) == nil {
		owner = fmt.Sprintf("uid %d", st.Uid)
	}
	fix := fmt.Sprintf("run: chown %d %s", os.Geteuid(), dir)
	if errors.Is(cause, unix.EROFS) {
		fix = "it is mounted read-only; mount it for writing"
	}
	if errors.Is(cause, unix.ENOSPC) || errors.Is(cause, unix.EDQUOT) {
		fix = "its disk is full; free some space"
	}
	return &domain.Error{
		Code: domain.CodeUnavailable, Type: "StoreReadOnly", Err: cause,
		Message: fmt.Sprintf("store directory %s (owner %s) cannot be written by this process (uid %d); %s", dir, owner, os.Geteuid(), fix),
	}
}

func corrupt(path, finding string) error {
	return fault(fmt.Sprintf("the store at %s is damaged (%s); restore a backup (aion backup restore FILE --replace), or move %s aside to begin with an empty store", path, finding, path), nil)
}
