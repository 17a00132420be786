package shell

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// supervisor is one running supervisor process as the server sees it.
type supervisor struct {
	pid       int
	process   supervise.Process
	conn      *net.UnixConn
	frames    chan supervise.Frame // closed when the channel to it ended
	done      chan struct{}        // closed when it was reaped
	idleSince time.Time
}

// framesPerRun is more than a supervisor says about one command, so that its reader never waits for an attempt that
// gave up.
const framesPerRun = 8

// hire starts a supervisor. Its process ends when the server closes the connection or dies.
func (p *pool) hire() (*supervisor, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a channel to a supervisor: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "server"), os.NewFile(uintptr(pair[1]), "supervisor")
	conn, err := net.FileConn(ours) // a duplicate
	_ = ours.Close()
	if err != nil {
		_ = theirs.Close()
		return nil, fmt.Errorf("make a channel to a supervisor: %w", err)
	}
	s := &supervisor{conn: conn.(*net.UnixConn), frames: make(chan supervise.Frame, framesPerRun), done: make(chan struct{})} //nolint:forcetypeassert // a Unix socket
	// The path of the running binary itself, so that a replaced file on disk changes nothing.
	cmd := exec.Command("/proc/self/exe", supervise.Arg, strconv.Itoa(p.o.OpenFiles)) //nolint:noctx,gosec // it outlives every request
	cmd.Args[0] = "aion-supervisor"
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = p.registry.start(cmd, s)
	_ = theirs.Close()
	if err != nil {
		_ = s.conn.Close()
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	s.process, _ = supervise.Find(s.pid) // it cannot be gone: serve reaps it
	p.running.Go(func() { s.serve(cmd, p.registry) })
	return s, nil
}

// serve hands on what the supervisor says, then reaps it.
func (s *supervisor) serve(cmd *exec.Cmd, r *registry) {
	defer close(s.done)
	for {
		f, err := supervise.Read(s.conn)
		if err != nil {
			break
		}
		s.frames <- f
	}
	_ = s.conn.Close()
	close(s.frames)
	_ = cmd.Wait() // how a supervisor ends says nothing about the command
	r.forget(s)
}

// send writes one frame with the descriptors that belong to it.
func (s *supervisor) send(f supervise.Frame, fds ...int) error {
	raw, err := supervise.Encode(f)
	if err != nil {
		return err
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(sendWithin)); err != nil {
		return err
	}
	for len(raw) > 0 {
		n, _, err := s.conn.WriteMsgUnix(raw, oob, nil)
		if err != nil {
			return err
		}
		raw, oob = raw[n:], nil
	}
	return nil
}

// alive reports whether the process still runs, as far as it is known.
func (s *supervisor) alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// nudge lets a supervisor go on that its own command has stopped.
func (s *supervisor) nudge() { _ = supervise.Send(s.process, unix.SIGCONT) }

// killTree kills below the supervisor, in its place.
func (s *supervisor) killTree() {
	table, err := supervise.Table()
	if err != nil {
		return // the next beat reads again
	}
	for _, p := range supervise.Below(table, s.pid) {
		_ = supervise.Send(p, unix.SIGKILL) // who may not be killed is reported when the tree is given up
	}
}

// end closes the channel, so that the supervisor kills what it still has and ends, and waits for that. It is killed after
// a time; 0: never.
func (s *supervisor) end(limit time.Duration) {
	_ = s.conn.Close() // it may be closed already
	beat := time.NewTicker(ladderBeat)
	defer beat.Stop()
	for patience := time.Now().Add(limit); ; {
		select {
		case <-s.done:
			return
		case <-beat.C:
			s.nudge()
			if limit > 0 && time.Now().After(patience) {
				_ = supervise.Send(s.process, unix.SIGKILL) // again with the next beat
			}
		}
	}
}
