package supervise

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The pace of the loop. A child announces its end, the leader a little sooner; looking besides costs little and forgives
// an announcement that was lost.
const (
	reapEvery   = 500 * time.Millisecond
	lookEvery   = 5 * time.Millisecond  // a tree that is being ended
	rescanEvery = 20 * time.Millisecond // what forked meanwhile is killed by the next round
)

// supervisor runs one command at a time, on one goroutine.
type supervisor struct {
	null    int
	ended   int // becomes readable when a child has ended
	self    int
	channel receiver

	running bool
	leader  int
	pidfd   int // of the leader; -1 once it was reaped
	grace   time.Duration
	ladder  bool      // TERM was sent
	killing bool      // KILL was sent
	next    time.Time // the end of the grace, or the next round of killing
	leaving bool      // the server is gone: exit when the tree is empty
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
		if s.running && (s.ladder || s.killing) && !time.Now().Before(s.next) {
			s.kill()
		}
	}
	return nil
}

// poll waits until there is something to do, and reports whether the server said something. A command that is running
// is looked at after every wake-up.
func (s *supervisor) poll() (heard bool, err error) {
	fds := []unix.PollFd{{Fd: -1, Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}, {Fd: int32(s.ended), Events: unix.POLLIN}}
	if !s.leaving {
		fds[0].Fd = socket
	}
	if s.running {
		fds[1].Fd = int32(s.pidfd)
	}
	if _, err := unix.Poll(fds, s.wait()); err != nil && !errors.Is(err, unix.EINTR) {
		return false, fmt.Errorf("poll: %w", err)
	}
	if fds[2].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(s.ended, count[:]) // it only has to be emptied
	}
	return fds[0].Revents != 0, nil
}

// wait gives the time until the loop looks again by itself, in milliseconds; -1 is for ever.
func (s *supervisor) wait() int {
	switch {
	case !s.running:
		return -1
	case s.ladder || s.killing:
		return int(lookEvery / time.Millisecond)
	default:
		return int(reapEvery / time.Millisecond)
	}
}

// listen takes one frame. A channel that ended means that the server died or let go: nothing may outlive that.
func (s *supervisor) listen() {
	f, err := Read(&s.channel)
	fds := s.channel.take()
	defer closeAll(fds) // the tree alone holds the pipes: their end of file means that it let go
	if err != nil {
		s.leaving = true
		if s.running {
			s.kill()
		}
		return
	}
	switch f.Kind {
	case KindRun:
		s.start(f, fds)
	case KindStop:
		if s.running {
			s.stop()
		}
	case KindKill:
		if s.running {
			s.kill()
		}
	}
}

// reap takes every process below that has ended. ECHILD is the proof that nothing is left. All kinds of children (WALL)
// matter: one may have been made to end without SIGCHLD.
func (s *supervisor) reap() {
	var frames []Frame
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			s.running = false
			send(append(frames, Frame{Kind: KindEmpty})...)
			return
		case pid == 0:
			s.liveOn(frames)
			return
		case pid == s.leader:
			_ = unix.Close(s.pidfd)
			s.leader, s.pidfd = 0, -1
			exited := Frame{Kind: KindExited, Code: status.ExitStatus()}
			if status.Signaled() {
				exited.Signal = int(status.Signal())
				exited.Code = 128 + exited.Signal
			}
			frames = append(frames, exited)
		}
	}
}

// liveOn handles what is left: a command whose leader has just ended leaves nothing behind.
func (s *supervisor) liveOn(frames []Frame) {
	if len(frames) == 0 {
		return
	}
	frames[0].Leftovers = max(len(s.tree()), 1)
	send(frames...)
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

// kill is one round of the end of the ladder; rounds follow until the tree is empty.
func (s *supervisor) kill() {
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
