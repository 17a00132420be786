package supervise

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CloseOnExec marks every descriptor from 3 up, so that nothing which this process was given without the flag reaches
// a child.
func CloseOnExec() error {
	err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	dir, err := os.Open("/proc/self/fd")
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

// Adopt makes this process the one that orphans below it are handed to.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// settle gives this process what every command shall inherit: limits and umask.
func settle(openFiles uint64) error {
	syscall.Umask(0o022)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limit core files: %w", err)
	}
	var have syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &have); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	// Through package syscall: it forgets the limit that it would otherwise restore in children.
	want := min(openFiles, have.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: want, Max: want}); err != nil {
		return fmt.Errorf("limit open files: %w", err)
	}
	return CloseOnExec()
}

// slack is how late the kernel may end a sleep: its default. Every process inherits that of the thread that forked it.
const slack = 50 * time.Microsecond

// punctual gives this thread, and what it forks, the usual slack again: the server starts a supervisor with more.
func punctual() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack: %w", err)
	}
	return nil
}

// pause sleeps on this thread, whose sleeps are punctual. Those of the Go runtime are not.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early: whoever pauses looks again
}

// unblockSignals makes sure that no signal is blocked, in any thread: a child inherits the mask of the thread that forks
// it, and each thread that of the process's start. So a process that was started with a mask starts itself once more
// without.
func unblockSignals() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var blocked, none unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &blocked); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	if blocked == none {
		return nil
	}
	return fmt.Errorf("start again without blocked signals: %w", syscall.Exec("/proc/self/exe", os.Args, []string{Environment})) //nolint:gosec // this same process once more
}

// catchSignals gives a command a default for every signal: a caught signal is at its default after exec, while an ignored
// one stays ignored. So all are caught, which also repairs what nohup left behind, and none of them ends this process.
// Go catches two by itself: SIGURG, and SIGCHLD, which interrupts the poll of the main thread.
func catchSignals() {
	var all []os.Signal
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if sig != unix.SIGCHLD && sig != unix.SIGURG {
			all = append(all, sig)
		}
	}
	signal.Notify(make(chan os.Signal, 1), all...)
}

// CatchIgnored is catchSignals for a process that is no supervisor and starts commands all the same: it catches what it was
// started to ignore, and goes on as if it ignored that.
func CatchIgnored() {
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if ignored, err := isIgnored(uintptr(sig)); err == nil && ignored {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// Unblocked lets a process be forked with no signal blocked, whatever this one was started with.
func Unblocked(fork func() (pid int, err error)) (pid int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &before); err != nil {
		return 0, fmt.Errorf("unblock signals: %w", err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // as it could be set
	return fork()
}
