package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"aion/domain"
	"aion/domain/document"
	"aion/ports"
)

// Workspace implements ports.DocumentStore. It is safe for concurrent use, also by several processes over one directory.
type Workspace struct {
	dir string

	writing sync.Mutex // before the lock file, which is shared with other processes only
}

var _ ports.DocumentStore = (*Workspace)(nil)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// New gives the workspace at dir. It need not exist yet: the first document creates it. An empty dir is a workspace that
// is not configured. What exists and is no private directory is refused, in one sentence with the fix.
func New(dir string) (*Workspace, error) {
	if dir == "" {
		return &Workspace{}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, refused("authoring.workspace_dir: %q is no path for a directory", dir)
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Workspace{dir: dir}, nil
	case err != nil:
		return nil, refused("authoring.workspace_dir: %s cannot be read by this process (uid %d); run: chown %d %s", dir, os.Geteuid(), os.Geteuid(), dir)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, refused("authoring.workspace_dir: %s is a link; name the directory that it leads to", dir)
	case !info.IsDir():
		return nil, refused("authoring.workspace_dir: %s is no directory", dir)
	case info.Mode().Perm()&0o077 != 0:
		return nil, refused("authoring.workspace_dir: %s has mode %04o and must be private: chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	return &Workspace{dir: dir}, nil
}

func refused(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "WorkspaceMisplaced", Message: fmt.Sprintf(format, args...)}
}

// absent tells that nothing is at a path that may be given: no file, a link, or something that is no plain file.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, errNotPlain)
}

var errNotPlain = errors.New("not a plain file")

// failed turns an error of the file system into a refusal. Messages hold no path outside the workspace.
func failed(what string, err error) error {
	var known *domain.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return domain.Unavailable("StoreReadOnly", what+": the workspace's disk is full; free some space, then repeat the call", err)
	case errors.Is(err, unix.EROFS):
		return domain.Unavailable("StoreReadOnly", what+": the workspace is mounted read-only; repeat the call when it can be written", err)
	default:
		return &domain.Error{
			Code: domain.CodeBackend, Type: "DocumentIoError",
			Message: what + ": the workspace failed; see whether its directory can be read and written, then repeat the call", Err: err,
		}
	}
}

// blocked refuses to write where something else stands.
func blocked(path document.Path) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "DocumentPathInvalid",
		Message: fmt.Sprintf("%s: a link, or a folder where a file is due or a file where a folder is due, stands on this path in the workspace; choose another path", path),
	}
}
