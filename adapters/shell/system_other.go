//go:build !linux

package shell

import (
	"io/fs"
	"os"
	"syscall"

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

// bootID names the time since the machine was started. Start times are those of the wall clock here, so that one name is
// enough.
func bootID() (string, error) { return "any", nil }

// changeTime is no part of the mark here: directories are looked into instead.
func changeTime(*syscall.Stat_t) syscall.Timespec { return syscall.Timespec{} }

func ownedBySelf(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// mayChangeUser reports whether this process may become another user.
func mayChangeUser() bool { return os.Geteuid() == 0 }

func pidNamespace() string { return "0" }
