package workspace

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"aion/domain"
)

// folder is an open directory. Names below it are single segments: whoever swaps a directory for a link meanwhile changes
// nothing of what is open.
type folder struct{ *os.File }

func (f folder) fd() int { return int(f.Fd()) }

// root opens the workspace; an error that is absent means that it does not exist.
func (w *Workspace) root() (folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(w.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return folder{}, err
	}
	f := folder{os.NewFile(uintptr(fd), ".")}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = f.Close()
		return folder{}, err
	}
	if st.Mode&0o077 != 0 {
		_ = f.Close()
		return folder{}, &domain.Error{
			Code: domain.CodeBackend, Type: "DocumentIoError",
			Message: "the document workspace can be reached by other users of its host; its operator must make it private (chmod 700)",
		}
	}
	return f, nil
}

// enter opens the folder at a relative path, name by name.
func (f folder) enter(dir string) (folder, error) {
	return f.walk(dir, func(parent folder, name string) (folder, error) { return parent.child(name) })
}

// make opens the folder at a relative path and creates what is missing.
func (f folder) make(dir string) (folder, error) {
	return f.walk(dir, func(parent folder, name string) (folder, error) {
		sub, err := parent.child(name)
		if !errors.Is(err, unix.ENOENT) {
			return sub, err
		}
		if err := unix.Mkdirat(parent.fd(), name, dirMode); err != nil && !errors.Is(err, unix.EEXIST) {
			return folder{}, err
		}
		if err := parent.Sync(); err != nil {
			return folder{}, err
		}
		return parent.child(name)
	})
}

func (f folder) walk(dir string, step func(parent folder, name string) (folder, error)) (folder, error) {
	at, err := f.child(".") // the caller closes what it gets, and keeps what it has
	if err != nil || dir == "." || dir == "" {
		return at, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		if name == ".." || name == "" { // no valid path has such a name, and it would lead out
			_ = at.Close()
			return folder{}, errNotPlain
		}
		next, err := step(at, name)
		_ = at.Close()
		if err != nil {
			return folder{}, err
		}
		at = next
	}
	return at, nil
}

func (f folder) child(name string) (folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return folder{}, err
	}
	return folder{os.NewFile(uintptr(fd), name)}, nil
}

// read gives at most limit bytes of a plain file at a relative path, and its state.
func (f folder) read(name string, limit int64) ([]byte, unix.Stat_t, error) {
	var st unix.Stat_t
	dir, err := f.enter(path.Dir(name))
	if err != nil {
		return nil, st, err
	}
	defer func() { _ = dir.Close() }()
	// A pipe would block the opening.
	fd, err := retry(func() (int, error) {
		return unix.Openat(dir.fd(), path.Base(name), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, st, err
	}
	file := os.NewFile(uintptr(fd), path.Base(name))
	defer func() { _ = file.Close() }()
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, st, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, st, errNotPlain
	}
	body, err := io.ReadAll(io.LimitReader(file, limit))
	return body, st, err
}

// replace puts a file in place of another, or of none: readers see the old bytes or the new ones, and what is there when
// it returns survives a power cut. The caller holds the lock, so the name of the half-written file is free.
func (f folder) replace(name string, body []byte) error {
	half := "." + name + ".new"
	if err := unix.Unlinkat(f.fd(), half, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd(), half, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	})
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), half)
	_, err = file.Write(body)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = unix.Renameat(f.fd(), half, f.fd(), name)
	}
	if err != nil {
		_ = unix.Unlinkat(f.fd(), half, 0)
		return err
	}
	return f.Sync()
}

// retry repeats a call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
