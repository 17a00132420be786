package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The pace of the loop. The leader announces its end by its pidfd, other children by a signal that interrupts the poll;
// looking besides costs little and forgives a signal that came between two polls.
const (
	reapEvery   = 500 * time.Millisecond
	lookEvery   = 5 * time.Millisecond  // a tree that is being ended
	rescanEvery = 20 * time.Millisecond // what forked meanwhile is killed by the next round
	// startedAfter is how long the news of a start may wait for that of the end: most commands are short, and each message
	// wakes the server.
	startedAfter = 10 * time.Millisecond
	// attention is how long a wait keeps the Go runtime out. Around a system call that lasts longer than some 20 us the
	// runtime gives the processor of the waiting goroutine away and takes it back, which takes three other threads; for a
	// short command that was more than all else that a supervisor does.
	attention = 20 * time.Millisecond
)

// supervisor runs one command at a time, on one goroutine.
type supervisor struct {
	null    int
	self    int
	family  string // what the supervisors of one server have in common
	bye     bool   // the server lets go, and does not just die
	channel receiver
	in      *bufio.Reader // over channel
	cgroup  *cgroup       // of the commands; nil: there is none

	running bool
	leader  int
	pidfd   int  // of the leader; -1 once it was reaped
	told    bool // it has told of the end; who waits on for the leader is a tracer, and the signal comes when that lets go
	grace   time.Duration
	lease   uint64    // see Frame
	ladder  bool      // TERM was sent
	killing bool      // KILL was sent
	spent   bool      // the cgroup was killed
	next    time.Time // the end of the grace, or the next round of killing
	leaving bool      // the server is gone: exit when the tree is empty
	news    []Frame   // what was not told yet
	tellAt  time.Time // when it is
	failed  *Frame    // why what was started is ended again
	unsure  bool      // the start that it names may be too early
}

func (s *supervisor) loop() error {
	for !s.leaving || s.running {
		heard, err := s.poll()
		if err != nil {
			return err
		}
		if heard {
			s.listen()
		}
		if s.running {
			s.reap()
		}
		if len(s.news) > 0 && !time.Now().Before(s.tellAt) {
			s.tell()
		}
		if s.running && !s.ladder && !s.killing && s.expired() {
			s.news = append(s.news, Frame{Kind: KindExpired})
			s.tell()
			s.stop()
		}
		if s.running && (s.ladder || s.killing) && !time.Now().Before(s.next) {
			s.kill()
		}
	}
	return nil
}

// poll waits until there is something to do, and reports whether the server said something. A command that is running
// is looked at after every wake-up.
func (s *supervisor) poll() (heard bool, err error) {
	fds := []unix.PollFd{{Fd: -1, Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}}
	if !s.leaving {
		fds[0].Fd = socket
	}
	if s.running && !s.told {
		fds[1].Fd = int32(s.pidfd)
	}
	limit := s.wait()
	awake := attention
	if limit >= 0 {
		awake = min(awake, limit)
	}
	n, err := attend(fds, awake)
	if err == nil && n == 0 && awake != limit {
		_, err = unix.Poll(fds, int(limit.Milliseconds()))
	}
	if err != nil && !errors.Is(err, unix.EINTR) {
		return false, fmt.Errorf("poll: %w", err)
	}
	s.told = s.told || fds[1].Revents != 0
	return fds[0].Revents != 0, nil
}

// attend is a poll of which the runtime learns nothing.
func attend(fds []unix.PollFd, limit time.Duration) (ready int, err error) {
	t := unix.NsecToTimespec(limit.Nanoseconds())
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(&t)), 0, 0, 0) //nolint:gosec // a system call takes addresses
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// wait gives the time until the loop looks again by itself; forEver is without end.
func (s *supervisor) wait() time.Duration {
	switch {
	case !s.running:
		return forEver
	case len(s.news) > 0:
		return startedAfter
	case s.ladder || s.killing:
		return lookEvery
	default:
		return reapEvery
	}
}

const forEver = -time.Millisecond // as poll takes it

// listen takes what the server said.
func (s *supervisor) listen() {
	for s.hear(); !s.leaving && s.in.Buffered() > 0; {
		s.hear()
	}
}

// hear takes one frame. A channel that ended means that the server died or let go: nothing may outlive that.
func (s *supervisor) hear() {
	f, err := Read(s.in)
	if err != nil {
		s.leaving = true
		if s.running {
			s.kill()
		}
		return
	}
	switch f.Kind {
	case KindRun:
		fds := s.channel.take() // of nothing else: a stop that came too late may have been read together with this order
		s.start(f, fds)
		closeAll(fds) // the tree alone holds the pipes: their end of file means that it let go
	case KindLease:
		s.lease = f.Lease
	case KindStop:
		if s.running {
			s.stop()
		}
	case KindKill:
		if s.running {
			s.kill()
		}
	case KindBye:
		s.bye = true
	default: // what a supervisor says itself
	}
}

// expired reports whether the server should have been heard of by now: it is stopped, or does not know how long it was away.
func (s *supervisor) expired() bool { return s.lease != 0 && uint64(SinceBoot()) >= s.lease }

// tell sends the news.
func (s *supervisor) tell() {
	if len(s.news) == 0 {
		return
	}
	if first := &s.news[0]; first.Kind == KindStarted {
		if s.unsure && s.leader != 0 {
			leader, _ := Find(s.leader) // it cannot be gone: nobody else reaps
			first.Start = leader.Start
		}
		first.Ago = uint64(max(startedAfter-time.Until(s.tellAt), 0) / time.Microsecond)
	}
	send(s.news...)
	s.news = s.news[:0]
}

// reap takes every process below that has ended. ECHILD is the proof that nothing is left. All kinds of children (WALL)
// matter: one may have been made to end without SIGCHLD.
func (s *supervisor) reap() {
	exited := false
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			populated, frozen := s.cgroup.state()
			if populated { // something left the tree of this process: only the cgroup still knows it
				s.tell()
				s.kill()
				return
			}
			s.running = false
			last := Frame{Kind: KindEmpty}
			if s.failed != nil {
				last = *s.failed
			}
			last.Spent = s.spent || frozen
			s.news = append(s.news, last)
			s.tell()
			return
		case pid == 0:
			if exited {
				s.liveOn()
			}
			return
		case pid == s.leader:
			_ = unix.Close(s.pidfd)
			s.leader, s.pidfd = 0, -1
			if s.failed == nil {
				exited, s.news = true, append(s.news, Exited(status))
			}
		}
	}
}

// liveOn handles what is left: a command whose leader has just ended leaves nothing behind.
func (s *supervisor) liveOn() {
	s.news[len(s.news)-1].Leftovers = max(len(s.tree()), 1)
	s.tell()
	s.stop()
}

// stop begins the ladder, once: TERM to all, CONT to all, because a stopped process does not see TERM, then the grace.
func (s *supervisor) stop() {
	if s.ladder || s.killing {
		return
	}
	s.ladder, s.next = true, time.Now().Add(s.grace)
	tree := s.tree()
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGCONT} {
		for _, p := range tree {
			_ = Send(p, sig) // who may not be signalled is found again by kill, and by the server's limit
		}
	}
}

// kill is one round of the end of the ladder; rounds follow until the tree is empty. A cgroup that was killed takes no
// new process, so this comes first only when nothing runs here any more.
func (s *supervisor) kill() {
	if s.killing || s.leaving {
		s.spent = s.cgroup != nil
		s.cgroup.kill()
	}
	s.killing, s.next = true, time.Now().Add(rescanEvery)
	for _, p := range s.tree() {
		_ = Send(p, unix.SIGKILL) // see stop
	}
}

func (s *supervisor) tree() []Process {
	table, err := Table()
	if err != nil {
		return nil // the next round reads again
	}
	return Below(table, s.self)
}
