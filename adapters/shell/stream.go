package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"aion/domain/action"

	"golang.org/x/sys/unix"
)

// readSize is the size of one read; it is also what a pipe holds by default.
const readSize = 64 << 10

// stream reads one pipe of one process from start to end: into the bounded capture, and line by line into the
// transcript.
type stream struct {
	pipe    *os.File
	capture *action.Output
	lines   lines
	masker  masker
	joint   *masker // of the capture, when it goes over several processes: a secret may begin in one and end in the next

	mu    sync.Mutex
	until time.Time // when the pipe must have ended; zero: whenever it does
	armed time.Time // the deadline that is set

	incomplete bool // it did not end in time; readable once read has returned
}

// halfPipe makes a pipe and keeps one end (0 to read, 1 to write), which takes deadlines. The other one blocks, as a command expects,
// and is a plain descriptor: it is sent away and closed.
func halfPipe(kept int) (ours *os.File, theirs int, err error) {
	fds, err := pipe()
	if err != nil {
		return nil, 0, fmt.Errorf("make a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[kept], true); err != nil {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return nil, 0, fmt.Errorf("make a pipe: %w", err)
	}
	return os.NewFile(uintptr(fds[kept]), "pipe"), fds[1-kept], nil
}

// newStream makes a pipe, and gives the end that a command writes.
func newStream(capture *action.Output, hidden *secrets, emit func(at time.Time, text string, partial bool)) (s *stream, writeEnd int, err error) {
	pipe, writeEnd, err := halfPipe(0)
	if err != nil {
		return nil, 0, err
	}
	return &stream{pipe: pipe, capture: capture, lines: lines{emit: emit}, masker: masker{secrets: hidden}}, writeEnd, nil
}

// finish tells the reader that the tree is gone: the pipe has until then to reach its end.
func (s *stream) finish(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = until
	s.set(until)
}

// set gives the pipe a deadline. The lock is held.
func (s *stream) set(at time.Time) {
	if !at.Equal(s.armed) {
		_ = s.pipe.SetReadDeadline(at) // a closed pipe needs none
	}
	s.armed = at
}

// arm sets the deadline of the next read: the first of waiting text and of finish.
func (s *stream) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.lines.ready()
	if at.IsZero() || !s.until.IsZero() && s.until.Before(at) {
		at = s.until
	}
	s.set(at)
}

// over reports whether the time that finish gave has passed.
func (s *stream) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.until.IsZero() && !time.Now().Before(s.until)
}

// read returns when the pipe has ended, or its time is over and it is empty. The buffer is used until then.
func (s *stream) read(buffer []byte) {
	defer func() { _ = s.pipe.Close() }()
	for {
		s.arm()
		n, err := s.pipe.Read(buffer)
		at := now()
		s.take(buffer[:n], at)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && !s.over():
			s.lines.flush(at)
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.drain(buffer)
			s.end()
			return
		default:
			s.incomplete = !errors.Is(err, io.EOF)
			s.end()
			return
		}
	}
}

// take masks what was read and hands it on.
func (s *stream) take(p []byte, at time.Time) {
	if s.joint != nil {
		_, _ = s.capture.Write(s.joint.take(p)) // never fails
	}
	s.keep(s.masker.take(p), at)
}

func (s *stream) keep(p []byte, at time.Time) {
	if s.joint == nil {
		_, _ = s.capture.Write(p) // as above
	}
	s.lines.take(p, at)
}

func (s *stream) end() {
	at := now()
	s.keep(s.masker.end(), at)
	s.lines.end(at)
}

// drain takes what the pipe still holds after its time: the reader may have been held up by the transcript meanwhile. It
// stops after as much as a pipe can hold, because a foreign process may go on writing.
func (s *stream) drain(buffer []byte) {
	const mostInPipe = 1 << 20
	raw, err := s.pipe.SyscallConn()
	if err != nil {
		s.incomplete = true
		return
	}
	for taken := 0; taken < mostInPipe; {
		n, readErr := 0, error(nil)
		// Control and not Read: a read with a deadline in the past does not look into the pipe.
		err := raw.Control(func(fd uintptr) { n, readErr = unix.Read(int(fd), buffer) })
		if err == nil && readErr == nil && n == 0 {
			return
		}
		if err != nil || readErr != nil && !errors.Is(readErr, unix.EINTR) {
			s.incomplete = true
			return
		}
		n = max(n, 0)
		s.take(buffer[:n], now())
		taken += n
	}
	s.incomplete = true
}
