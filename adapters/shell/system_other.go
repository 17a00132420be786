//go:build !linux

package shell

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waitAll looks for a child that has ended without waiting.
const waitAll = unix.WNOHANG

// pipe makes a pipe that children do not inherit.
func pipe() (fds [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(fds[:]); err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return fds, err
}

func ownProc() bool { return true }

// bootID names the time since the machine was started. Start times are those of the wall clock here, so that one name is
// enough.
func bootID() (string, error) { return "any", nil }

// markOf gives no time of change here: directories are looked into instead.
func markOf(dir string) (*mark, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("no status of " + dir)
	}
	return &mark{inode: st.Ino, mode: info.Mode(), at: time.Now(), young: true}, nil
}

func ownedBySelf(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// mayChangeUser reports whether this process may become another user.
func mayChangeUser() bool { return os.Geteuid() == 0 }

func pidNamespace() string { return "0" }
