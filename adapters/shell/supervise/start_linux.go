package supervise

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start executes the program of a run, in a session of its own, with its input (or /dev/null) and the two pipes. The
// answer is started or failed.
func (s *supervisor) start(f Frame, fds []int) {
	files := []uintptr{uintptr(s.null)}
	if f.Input {
		files = nil
	}
	for _, fd := range fds {
		files = append(files, uintptr(fd))
	}
	if s.running || len(files) != 3 || len(f.Argv) == 0 {
		send(Frame{Kind: KindFailed, Errno: int(unix.EINVAL), Text: "the supervisor got a run that it cannot serve"})
		return
	}
	if s.lease = f.Lease; s.expired() {
		send(Frame{Kind: KindExpired}, Frame{Kind: KindEmpty})
		return
	}
	pidfd := -1
	attr := &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd}
	if f.User != nil {
		attr.Credential = &syscall.Credential{Uid: f.User.UID, Gid: f.User.GID, Groups: f.User.Groups}
	}
	if s.cgroup != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, s.cgroup.dir
	}
	before := ticks()
	pid, err := syscall.ForkExec(f.Path, f.Argv, &syscall.ProcAttr{ //nolint:gosec // running what it is told is the purpose
		Dir: f.Dir, Env: f.Env, Files: files, Sys: attr,
	})
	if err != nil {
		if pidfd >= 0 {
			_ = unix.Close(pidfd)
		}
		send(Failed(err))
		return
	}
	s.running, s.leader, s.pidfd, s.told, s.ladder, s.killing, s.failed = true, pid, pidfd, false, false, false, nil
	s.grace = time.Duration(f.GraceMS) * time.Millisecond
	if err := s.limit(f.Limits, f.User); err != nil {
		s.undo(Frame{Kind: KindFailed, Errno: int(unix.EPERM), Text: err.Error()})
		return
	}
	s.news, s.tellAt = append(s.news, Frame{Kind: KindStarted, Pid: pid, Start: before}), time.Now().Add(startedAfter)
	// When the clock still shows the same there is no need to look into /proc, which takes a third of a fork; else that
	// can wait, because most commands have ended by the time.
	now := ticks()
	s.unsure = now != before || now == 0
}

// ticks is the time since boot in the unit of Process.Start: 100 a second, on every architecture. 0 is unknown.
func ticks() uint64 { return uint64(SinceBoot() / (10 * time.Millisecond)) }

// SinceBoot is the time since the machine was started, the same for all its processes; it goes on while the machine sleeps.
// 0 is unknown.
func SinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
