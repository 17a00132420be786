package supervise

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// limit sets what is not to hold for this process itself. What the leader started meanwhile gets it too; from then on it
// is inherited.
func (s *supervisor) limit(l Limits, of *User) error {
	if l == (Limits{}) {
		return nil
	}
	wanted := map[int]unix.Rlimit{
		unix.RLIMIT_NPROC: {Cur: l.Processes, Max: l.Processes},
		unix.RLIMIT_AS:    {Cur: l.Memory, Max: l.Memory},
		unix.RLIMIT_CPU:   {Cur: l.CPUSeconds, Max: l.CPUSeconds + 1}, // first SIGXCPU, then SIGKILL
	}
	for _, p := range append([]Process{{Pid: s.leader}}, s.tree()...) {
		for resource, limit := range wanted {
			if limit.Cur == 0 {
				continue
			}
			err := unix.Prlimit(p.Pid, resource, &limit, nil)
			if errors.Is(err, unix.EPERM) {
				err = lower(p.Pid, resource, limit, of)
			}
			if err == nil {
				continue
			}
			if now, ok := Find(p.Pid); ok && !now.Dead() {
				return fmt.Errorf("limit process %d of the command: %w", p.Pid, err)
			}
		}
	}
	return nil
}

// lower sets a limit without the capability to do so for others, and to raise it: for a process of the same real user, and no
// higher than it is. The thread takes the user's real ids for this; what it may do hangs on the effective ones.
func lower(pid, resource int, limit unix.Rlimit, of *User) error {
	if of != nil {
		uid, gid := unix.Getuid(), unix.Getgid()
		if err := realIDs(int(of.UID), int(of.GID)); err != nil {
			return err
		}
		defer func() { _ = realIDs(uid, gid) }() // whoever may become another user may become itself again
	}
	var now unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &now); err != nil {
		return err
	}
	limit.Cur, limit.Max = min(limit.Cur, now.Max), min(limit.Max, now.Max)
	return unix.Prlimit(pid, resource, &limit, nil)
}

// realIDs changes those of this thread, on which the supervisor works and forks.
func realIDs(uid, gid int) error {
	keep := ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), keep, keep); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep); errno != 0 {
		return errno
	}
	return nil
}

// undo ends a command that may not run as it is, and tells so once nothing of it is left.
func (s *supervisor) undo(failed Frame) {
	s.failed = &failed
	s.kill()
	s.next = time.Now() // what it started meanwhile
}
