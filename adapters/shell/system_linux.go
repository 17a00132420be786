package shell

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waitAll looks for a child that has ended, of whatever kind, without waiting.
const waitAll = unix.WNOHANG | unix.WALL

// pipe makes a pipe that children do not inherit.
func pipe() (fds [2]int, err error) {
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds, err
}

// ownProc reports whether /proc shows this process, and not those of another PID namespace.
func ownProc() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// bootID names the time since the machine was started: pids and start times mean nothing beyond it.
func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(raw)), err
}

// markOf asks no file system that may not answer: what is known of a directory here is enough.
func markOf(dir string) (*mark, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &st)
	if err != nil {
		return nil, err
	}
	changed := syscall.NsecToTimespec(st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec))
	return &mark{inode: st.Ino, mode: fs.FileMode(st.Mode), changed: changed, at: time.Now(), young: true}, nil
}

func ownedBySelf(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// mayChangeUser reports whether this process has the capabilities that run_as needs: to become another user, to signal
// its processes, and to give it directories.
func mayChangeUser() bool {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			have, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			const chown, kill, setgid, setuid = 1 << 0, 1 << 5, 1 << 6, 1 << 7
			const need = chown | kill | setgid | setuid
			return err == nil && have&need == need
		}
	}
	return false
}

// pidNamespace names the PID namespace: the same pid means another process in another one.
func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0"
	}
	return strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
}
