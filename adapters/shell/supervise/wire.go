package supervise

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// Kind is what a message says.
type Kind byte

// The kinds of frames. The server sends run (with the write ends of two pipes, standard output first; before them the
// standard input, when there is one), lease, stop, kill and bye; the supervisor sends the others. Each run is answered by failed, or
// by started, exited and empty in this order; expired may come before exited, and then started and exited may be missing.
const (
	KindRun     Kind = iota + 1
	KindStop         // the ladder: TERM and CONT, the grace, KILL
	KindKill         // KILL at once
	KindStarted      // the program was executed
	KindExited       // the leader ended; Leftovers live on and are being stopped
	KindEmpty        // nothing of the tree is left: the proof
	KindFailed       // the program was not executed
	KindBye          // the server lets go; without it, it died
	KindLease        // how long it may go on from now
	KindExpired      // the lease has ended: the command is being stopped, or was not started
)

// Frame is one message. Members beyond Kind belong to it. Texts that reach execve need not be UTF-8.
type Frame struct {
	Kind Kind

	Path    string // run
	Argv    []string
	Env     []string
	Dir     string
	GraceMS int64
	Input   bool  // a descriptor for the standard input comes too
	User    *User // nil: that of the server
	Limits  Limits
	Lease   uint64 // run, lease: the SinceBoot at which the command is stopped unless another lease comes; 0: never

	Pid   int    // started
	Start uint64 // exact while it lives; else it was not before
	Ago   uint64 // microseconds since then

	Code      int // exited; 128+n for signal n
	Signal    int
	Leftovers int

	Spent bool // empty, failed: the cgroup was killed, or frozen, and is for no new process

	Errno int // failed
	Text  string
}

// User is whom the command runs as.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Limits are those of the command's processes, each by itself; 0: none.
type Limits struct {
	Processes  uint64 // of the user
	Memory     uint64 // bytes of address space
	CPUSeconds uint64
}

// Failed is the frame for a program that was not executed.
func Failed(err error) Frame {
	f := Frame{Kind: KindFailed, Text: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		f.Errno = int(errno)
	}
	return f
}

// Exited is the frame for a leader that ended.
func Exited(status unix.WaitStatus) Frame {
	f := Frame{Kind: KindExited, Code: status.ExitStatus()}
	if status.Signaled() {
		f.Signal = int(status.Signal())
		f.Code = 128 + f.Signal
	}
	return f
}

// maxFrame is more than the largest run: 1 MiB of arguments and environment.
const maxFrame = 4 << 20

// headSize is that of the length before each frame.
const headSize = 4

// Append adds the bytes of a frame: a length of 4 bytes, the kind, then its members as varints and counted bytes. (A
// packet socket would cap a frame below the argument limit, so the stream is framed here.)
func Append(b []byte, f Frame) ([]byte, error) {
	at := len(b)
	b = append(b, 0, 0, 0, 0, byte(f.Kind))
	switch f.Kind {
	case KindRun:
		b = f.appendRun(b)
	case KindStarted:
		b = appendNumbers(b, uint64(f.Pid), f.Start, f.Ago)
	case KindExited:
		b = appendNumbers(b, uint64(f.Code), uint64(f.Signal), uint64(f.Leftovers))
	case KindEmpty:
		b = appendNumbers(b, flag(f.Spent))
	case KindFailed:
		b = appendText(appendNumbers(b, uint64(f.Errno), flag(f.Spent)), f.Text)
	case KindLease:
		b = appendNumbers(b, f.Lease)
	case KindStop, KindKill, KindBye, KindExpired:
	}
	size := len(b) - at - headSize
	if size > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes is over the limit of %d", size, maxFrame)
	}
	binary.BigEndian.PutUint32(b[at:], uint32(size))
	return b, nil
}

func (f Frame) appendRun(b []byte) []byte {
	b = appendList(appendList(appendText(b, f.Path), f.Argv), f.Env)
	b = appendNumbers(appendText(b, f.Dir), uint64(f.GraceMS), flag(f.Input), f.Limits.Processes, f.Limits.Memory, f.Limits.CPUSeconds, f.Lease)
	if f.User == nil {
		return appendNumbers(b, 0)
	}
	b = appendNumbers(b, 1, uint64(f.User.UID), uint64(f.User.GID), uint64(len(f.User.Groups)))
	for _, g := range f.User.Groups {
		b = appendNumbers(b, uint64(g))
	}
	return b
}

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, text := range list {
		b = appendText(b, text)
	}
	return b
}

// Read reads one frame. The error is io.EOF when the other side is gone between two frames.
func Read(r *bufio.Reader) (Frame, error) {
	head, err := r.Peek(headSize)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	n := int(binary.BigEndian.Uint32(head))
	if n == 0 || n > maxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes; 1 to %d are possible", n, maxFrame)
	}
	_, _ = r.Discard(headSize) // it is there
	if n > r.Size() {
		body := make([]byte, n)
		_, err = io.ReadFull(r, body)
		return decode(string(body), err)
	}
	body, err := r.Peek(n)
	f, err := decode(string(body), err)
	_, _ = r.Discard(len(body)) // as above
	return f, err
}

func decode(body string, err error) (Frame, error) {
	if err != nil {
		return Frame{}, err
	}
	f, d := Frame{Kind: Kind(body[0])}, decoder{rest: body[1:]}
	switch f.Kind {
	case KindRun:
		d.run(&f)
	case KindStarted:
		f.Pid, f.Start, f.Ago = int(d.number()), d.number(), d.number()
	case KindExited:
		f.Code, f.Signal, f.Leftovers = int(d.number()), int(d.number()), int(d.number())
	case KindEmpty:
		f.Spent = d.number() != 0
	case KindFailed:
		f.Errno, f.Spent, f.Text = int(d.number()), d.number() != 0, d.text()
	case KindLease:
		f.Lease = d.number()
	case KindStop, KindKill, KindBye, KindExpired:
	default:
		d.bad = true
	}
	if d.bad || len(d.rest) > 0 {
		return Frame{}, errors.New("a frame that cannot be read")
	}
	return f, nil
}

// decoder reads the members of a frame; bad is set by the first one that is not there.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) run(f *Frame) {
	f.Path, f.Argv, f.Env, f.Dir = d.text(), d.list(), d.list(), d.text()
	f.GraceMS, f.Input = int64(d.number()), d.number() != 0
	f.Limits, f.Lease = Limits{Processes: d.number(), Memory: d.number(), CPUSeconds: d.number()}, d.number()
	if d.number() == 0 {
		return
	}
	f.User = &User{UID: uint32(d.number()), GID: uint32(d.number())}
	for range d.count() {
		f.User.Groups = append(f.User.Groups, uint32(d.number()))
	}
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint([]byte(d.rest[:min(len(d.rest), binary.MaxVarintLen64)]))
	if size <= 0 {
		d.rest, d.bad = "", true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// count reads a number of things that follow, each of at least a byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.rest, d.bad = "", true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

func (d *decoder) list() []string {
	n := d.count()
	list := make([]string, 0, min(n, 1024))
	for range n {
		list = append(list, d.text())
	}
	return list
}
