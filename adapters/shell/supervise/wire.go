package supervise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is what a message says.
type Kind byte

// The kinds of frames. The server sends run (with the write ends of two pipes, standard output first; before them the
// standard input, when there is one), stop, kill and bye; the supervisor sends the others. Each run is answered by failed, or by
// started, exited and empty in this order.
const (
	KindRun     Kind = iota + 1
	KindStop         // the ladder: TERM and CONT, the grace, KILL
	KindKill         // KILL at once
	KindStarted      // the program was executed
	KindExited       // the leader ended; Leftovers live on and are being stopped
	KindEmpty        // nothing of the tree is left: the proof
	KindFailed       // the program was not executed
	KindBye          // the server lets go; without it, it died
)

// Frame is one message. Members beyond Kind belong to it. Texts that reach execve are bytes: they need not be UTF-8.
type Frame struct {
	Kind Kind

	Path    []byte // run
	Argv    [][]byte
	Env     [][]byte
	Dir     []byte
	GraceMS int64
	Input   bool  // a descriptor for the standard input comes too
	User    *User // nil: that of the server
	Limits  Limits

	Pid   int // started
	Start uint64
	Ago   uint64 // microseconds since then

	Code      int // exited; 128+n for signal n
	Signal    int
	Leftovers int

	Spent bool // empty: the cgroup was killed and takes no new process

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

// maxFrame is more than the largest run: 1 MiB of arguments and environment.
const maxFrame = 4 << 20

// Encode gives the bytes of a frame: a length of 4 bytes, the kind, then its members as varints and counted bytes. (A
// packet socket would cap a frame below the argument limit, so the stream is framed here.)
func Encode(f Frame) ([]byte, error) {
	b := make([]byte, 4, 256)
	b = append(b, byte(f.Kind))
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
		b = appendBytes(appendNumbers(b, uint64(f.Errno)), []byte(f.Text))
	case KindStop, KindKill, KindBye:
	}
	size := len(b) - 4
	if size > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes is over the limit of %d", size, maxFrame)
	}
	binary.BigEndian.PutUint32(b, uint32(size))
	return b, nil
}

func (f Frame) appendRun(b []byte) []byte {
	b = appendList(appendList(appendBytes(b, f.Path), f.Argv), f.Env)
	b = appendNumbers(appendBytes(b, f.Dir), uint64(f.GraceMS), flag(f.Input), f.Limits.Processes, f.Limits.Memory, f.Limits.CPUSeconds)
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

func appendBytes(b, text []byte) []byte { return append(appendNumbers(b, uint64(len(text))), text...) }

func appendList(b []byte, list [][]byte) []byte {
	b = appendNumbers(b, uint64(len(list)))
	for _, text := range list {
		b = appendBytes(b, text)
	}
	return b
}

// Read reads one frame. The error is io.EOF when the other side is gone between two frames.
func Read(r io.Reader) (Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes; 1 to %d are possible", n, maxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return Frame{}, err
	}
	return decode(body)
}

func decode(body []byte) (Frame, error) {
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
		f.Errno, f.Text = int(d.number()), string(d.bytes())
	case KindStop, KindKill, KindBye:
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
	rest []byte
	bad  bool
}

func (d *decoder) run(f *Frame) {
	f.Path, f.Argv, f.Env, f.Dir = d.bytes(), d.list(), d.list(), d.bytes()
	f.GraceMS, f.Input = int64(d.number()), d.number() != 0
	f.Limits = Limits{Processes: d.number(), Memory: d.number(), CPUSeconds: d.number()}
	if d.number() == 0 {
		return
	}
	f.User = &User{UID: uint32(d.number()), GID: uint32(d.number())}
	for range d.count() {
		f.User.Groups = append(f.User.Groups, uint32(d.number()))
	}
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// count reads a number of things that follow, each of at least a byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.rest, d.bad = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) list() [][]byte {
	n := d.count()
	list := make([][]byte, 0, min(n, 1024))
	for range n {
		list = append(list, d.bytes())
	}
	return list
}
