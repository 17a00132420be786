package shell

import (
	"bufio"
	"errors"
	"net"
	"os/exec"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// supervisor is one running supervisor process as the server sees it.
type supervisor struct {
	pid       int
	process   supervise.Process
	conn      *net.UnixConn
	frames    chan []supervise.Frame // what came at once; closed when the channel to it ended
	done      chan struct{}          // closed when it was reaped
	idleSince time.Time
	slot      *slot
	group     *group    // instead of a supervisor process, where there are none
	buffers   [2][]byte // for the readers of the two pipes
}

// framesPerRun is more than a supervisor says about one command, so that its reader never waits for an attempt that
// gave up.
const framesPerRun = 8

func newSupervisor(slot *slot) *supervisor {
	return &supervisor{
		frames: make(chan []supervise.Frame, framesPerRun), done: make(chan struct{}), slot: slot,
		buffers: [2][]byte{make([]byte, readSize), make([]byte, readSize)},
	}
}

// hire starts a supervisor. Its process ends when the server closes the connection or dies.
func (p *pool) hire() (*supervisor, error) {
	slot, err := p.newSlot()
	if err != nil {
		return nil, err
	}
	launch := p.launch
	if p.o.Containment == ContainGroup {
		launch = p.local
	}
	s, err := launch(slot)
	if err == nil {
		err = slot.clear(p.idle(s))
	}
	if err != nil {
		if s != nil {
			p.dismiss(s, p.o.KillWait)
			return nil, err
		}
		return nil, errors.Join(err, slot.remove())
	}
	return s, nil
}

// serve hands on what the supervisor says, then reaps it.
func (s *supervisor) serve(cmd *exec.Cmd, r *registry) {
	defer close(s.done)
	in := bufio.NewReader(s.conn)
	for err := error(nil); err == nil; {
		came := make([]supervise.Frame, 0, 3) // what a short command comes to
		for more := true; more && err == nil; more = in.Buffered() > 0 {
			var f supervise.Frame
			if f, err = supervise.Read(in); err == nil {
				came = append(came, f)
			}
		}
		s.frames <- came
	}
	_ = s.conn.Close()
	close(s.frames)
	_ = cmd.Wait() // how a supervisor ends says nothing about the command
	r.forget(s)
}

// send writes one frame with the descriptors that belong to it.
func (s *supervisor) send(f supervise.Frame, fds ...int) error {
	if s.group != nil {
		return s.group.take(f, fds)
	}
	raw, err := supervise.Append(make([]byte, 0, 512), f)
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
func (s *supervisor) nudge() {
	if s.group == nil {
		_ = supervise.Send(s.process, unix.SIGCONT)
	}
}

// killTree kills below the supervisor, in its place.
func (s *supervisor) killTree() {
	if s.group != nil {
		_ = s.send(supervise.Frame{Kind: supervise.KindKill})
		return
	}
	s.slot.leaf.kill()
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
	if s.group != nil {
		s.group.leave()
		<-s.done
		return
	}
	_ = s.send(supervise.Frame{Kind: supervise.KindBye})
	_ = s.conn.Close() // as may be the case already
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
