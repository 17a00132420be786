package supervise_test

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"aion/adapters/shell/supervise"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func frames() []supervise.Frame {
	return []supervise.Frame{
		{Kind: supervise.KindStop},
		{Kind: supervise.KindKill},
		{Kind: supervise.KindBye},
		{Kind: supervise.KindLease, Lease: 1 << 60},
		{Kind: supervise.KindExpired},
		{Kind: supervise.KindStarted, Pid: 1 << 22, Start: 1 << 40, Ago: 1 << 20},
		{Kind: supervise.KindExited, Code: 137, Signal: 9, Leftovers: 3},
		{Kind: supervise.KindEmpty, Spent: true},
		{Kind: supervise.KindFailed, Errno: 2, Text: "no such file \xff"},
		{
			Kind: supervise.KindRun, Path: "/bin/sh", Argv: []string{"sh", "", "a\x00\xff"}, Env: []string{"A=b"},
			Dir: "/", GraceMS: 2000, Input: true, User: &supervise.User{UID: 1, GID: 2, Groups: []uint32{3, 1 << 31}},
			Limits: supervise.Limits{Processes: 5, Memory: 1 << 40, CPUSeconds: 7}, Lease: 1 << 50,
		},
		{Kind: supervise.KindRun, Argv: []string{strings.Repeat("x", 1<<20)}},
	}
}

// byText compares large parts of frames as a whole.
func byText() cmp.Option {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b string) bool { return a == b })}
}

func TestAFrameIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	for _, f := range frames() {
		b, err := supervise.Append(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		wire.Write(b)
	}
	in := bufio.NewReader(&wire)
	for i, want := range frames() {
		got, err := supervise.Read(in)
		if diff := cmp.Diff(want, got, byText()); err != nil || diff != "" {
			t.Errorf("frame %d: %v %s", i, err, diff)
		}
	}
	if _, err := supervise.Append(nil, supervise.Frame{Kind: supervise.KindRun, Dir: strings.Repeat("/", 5<<20)}); err == nil {
		t.Error("a frame over the limit was written")
	}
}

// No bytes make a reader panic, wait for what cannot come, or take more memory than they have.
func FuzzReadFrame(f *testing.F) {
	for _, frame := range frames()[:10] {
		b, err := supervise.Append(nil, frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0, 0, 0, 6, 1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := supervise.Read(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		again, err := supervise.Append(nil, frame)
		if err != nil {
			t.Fatal(err)
		}
		back, err := supervise.Read(bufio.NewReader(bytes.NewReader(again)))
		if diff := cmp.Diff(frame, back, byText()); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}
