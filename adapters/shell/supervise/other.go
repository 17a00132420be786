//go:build !linux

package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has what a supervisor needs.
func Supported() bool { return false }

var errUnsupported = errors.New("this system has no subreapers")

// Run is the life of a supervisor, which this system does not have.
func Run() int {
	fmt.Fprintln(os.Stderr, "aion supervisor:", errUnsupported)
	return 1
}

// Adopt makes this process the one that orphans below it are handed to: not on this system.
func Adopt() error { return errUnsupported }

// RestoreInternalSignals does nothing: no other C library keeps signals for itself.
func RestoreInternalSignals() error { return nil }

// SinceBoot is unknown: nobody needs it without supervisors.
func SinceBoot() time.Duration { return 0 }

// CatchIgnored gives commands a default for the two signals that this process is commonly started to ignore: it catches them
// instead.
func CatchIgnored() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// Unblocked forks; what this process was started with as blocked stays so here.
func Unblocked(fork func() (pid int, err error)) (pid int, err error) { return fork() }

// CloseOnExec marks every descriptor from 3 up, so that nothing which this process was given without the flag reaches
// a child.
func CloseOnExec() error {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return fmt.Errorf("mark descriptors close-on-exec: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // only read from
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd >= 3 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// Find reads one process; ok is false when there is none with this pid.
func Find(pid int) (p Process, ok bool) {
	table, err := Table()
	if err != nil {
		return Process{}, false
	}
	for _, p := range table {
		if p.Pid == pid {
			return p, true
		}
	}
	return Process{}, false
}

// Send signals this process when its start still matches. A process that is gone is not an error.
func Send(p Process, sig unix.Signal) error {
	if now, ok := Find(p.Pid); !ok || now.Start != p.Start {
		return nil
	}
	if err := unix.Kill(p.Pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", p.Pid, err)
	}
	return nil
}
