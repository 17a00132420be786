package supervise

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start executes the program of a run, in a session of its own, with /dev/null and the two pipes. The answer is started
// or failed.
func (s *supervisor) start(f Frame, fds []int) {
	if s.running || len(fds) != 2 || len(f.Argv) == 0 {
		send(Frame{Kind: KindFailed, Errno: int(unix.EINVAL), Text: "the supervisor got a run that it cannot serve"})
		return
	}
	pidfd := -1
	pid, err := syscall.ForkExec(string(f.Path), texts(f.Argv), &syscall.ProcAttr{ //nolint:gosec // running what it is told is the purpose
		Dir: string(f.Dir), Env: texts(f.Env),
		Files: []uintptr{uintptr(s.null), uintptr(fds[0]), uintptr(fds[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd},
	})
	if err != nil {
		if pidfd >= 0 {
			_ = unix.Close(pidfd)
		}
		failed := Frame{Kind: KindFailed, Text: err.Error()}
		var errno syscall.Errno
		if errors.As(err, &errno) {
			failed.Errno = int(errno)
		}
		send(failed)
		return
	}
	s.running, s.leader, s.pidfd, s.ladder, s.killing = true, pid, pidfd, false, false
	s.grace = time.Duration(f.GraceMS) * time.Millisecond
	leader, _ := Find(pid) // it cannot be gone: nobody else reaps
	send(Frame{Kind: KindStarted, Pid: pid, Start: leader.Start})
}

func texts(bytes [][]byte) []string {
	list := make([]string, len(bytes))
	for i, b := range bytes {
		list[i] = string(b)
	}
	return list
}
