package supervise

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The kinds of frames. The server sends run (with the write ends of two pipes, standard output first), stop and kill;
// the supervisor sends the others. Each run is answered by failed, or by started, exited and empty in this order.
const (
	KindRun     = "run"
	KindStop    = "stop"    // the ladder: TERM and CONT, the grace, KILL
	KindKill    = "kill"    // KILL at once
	KindStarted = "started" // the program was executed
	KindExited  = "exited"  // the leader ended; Leftovers live on and are being stopped
	KindEmpty   = "empty"   // nothing of the tree is left: the proof
	KindFailed  = "failed"  // the program was not executed
)

// Frame is one message. Members beyond Kind belong to it. Texts that reach execve are bytes: they need not be UTF-8.
type Frame struct {
	Kind string `json:"kind"`

	Path    []byte   `json:"path,omitempty"` // run
	Argv    [][]byte `json:"argv,omitempty"`
	Env     [][]byte `json:"env,omitempty"`
	Dir     []byte   `json:"dir,omitempty"`
	GraceMS int64    `json:"grace_ms,omitempty"`

	Pid   int    `json:"pid,omitempty"` // started
	Start uint64 `json:"start,omitempty"`

	Code      int `json:"code,omitempty"` // exited; 128+n for signal n
	Signal    int `json:"signal,omitempty"`
	Leftovers int `json:"leftovers,omitempty"`

	Errno int    `json:"errno,omitempty"` // failed
	Text  string `json:"text,omitempty"`
}

// maxFrame is more than the largest run: 1 MiB of arguments and environment in base64.
const maxFrame = 4 << 20

// Encode gives the bytes of a frame: a length of 4 bytes, then JSON. (A packet socket would cap a frame below the
// argument limit, so the stream is framed here.)
func Encode(f Frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	if len(body) > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes is over the limit of %d", len(body), maxFrame)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...), nil
}

// Read reads one frame. The error is io.EOF when the other side is gone between two frames.
func Read(r io.Reader) (Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes is over the limit of %d", n, maxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return Frame{}, err
	}
	var f Frame
	if err := json.Unmarshal(body, &f); err != nil {
		return Frame{}, fmt.Errorf("decode frame: %w", err)
	}
	return f, nil
}
