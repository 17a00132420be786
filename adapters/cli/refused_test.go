package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"aion/adapters/cli"
	"aion/domain"
)

// lists takes one text, one list and one number.
const lists = `//! Takes its inputs and ends.
workflow lists
  input name: String
  input tags: [String]
  input count: Int
  outcome done: type Done, route success

type Done { name: String }

step only
  route done(name: name)
`

// server 3.3: an input is taken whole and as it is, or refused by name.
func TestInputsAreTakenWholeOrRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("l.awl", lists)
	s.write("big", strings.Repeat("x", 4<<20+1))
	s.write("bad", "ab\xffc")
	s.write("big.awl", strings.Repeat("// x\n", 1<<18))
	const name, tags, count = "-i name=x", "-i tags=x", "-i count=1"
	for _, c := range []struct{ rest, member, want string }{
		{tags + " " + count, "name=@" + s.path("big"), "big has 4194305 bytes; an input has at most 4194304"},
		{tags + " " + count, "name=@/dev/zero", "/dev/zero has more than 4194304 bytes; an input has at most 4194304"},
		{tags + " " + count, "name=@" + s.path("bad"), "-i name is not valid UTF-8 at byte 2"},
		{tags + " " + count, "name=\xc3", "-i name is not valid UTF-8 at byte 0"},
		{tags + " " + count, "name:=\"\xff\"", "-i name is not JSON: the text is not valid UTF-8 at byte 1"},
		{name + " " + count, "tags=ab\xed\xa0\x80", "-i tags is not valid UTF-8 at byte 2"},
		{name + " " + tags, "count=@" + s.path("bad"), "is not an integer of 64 bits"},
		{name + " " + tags + " " + count, "name=b", "-i name is given twice; only elements of a list are"},
		{name + " " + tags + " " + count, `name:="b"`, "-i name is given twice"},
		{name + " " + tags + " " + count, `tags:=["b"]`, "-i tags is given twice"},
		{name + " -i tags=[] " + count, "tags=b", "-i tags is given twice"},
	} {
		args := append(append([]string{"run", "l.awl"}, strings.Fields(c.rest)...), "-i", c.member)
		if out, errs, code := s.run(args...); code != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%.80q: exit %d, %s%.300s", c.member, code, out, errs)
		}
	}
	for file, want := range map[string]string{
		"big": "big has 4194305 bytes; an input has at most 4194304",
		"bad": "--input is not JSON: the text is not valid UTF-8 at byte 2",
	} {
		if out, errs, code := s.run("run", "l.awl", "--input", "@"+s.path(file)); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("--input @%s: exit %d, %s%.300s", file, code, out, errs)
		}
	}
	for _, words := range [][]string{{"awl", "check"}, {"awl", "fmt"}, {"run"}} {
		if out, errs, code := s.run(append(words, "big.awl")...); code != 2 || out != "" || !strings.Contains(errs, "big.awl has 1310720 bytes; a document has at most 1048576") {
			t.Errorf("%v: exit %d, %s%s", words, code, out, errs)
		}
		s.in = strings.Repeat("x", 1<<20+1)
		if _, errs, code := s.run(append(words, "-")...); code != 2 || !strings.Contains(errs, "standard input has more than 1048576 bytes") {
			t.Errorf("%v -: exit %d, %s", words, code, errs)
		}
	}
}

// A value that would count as a flag that is not given is refused: the script that gave it meant something.
func TestFlagsWithNothingInThemAreRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", hello(t))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "h.awl", "--idempotency-key", ""}, "--idempotency-key is given without a value"},
		{[]string{"run", "h.awl", "--idempotency-key", "a b"}, "--idempotency-key takes 1 to 128 visible ASCII characters"},
		{[]string{"run", "h.awl", "--idempotency-key", "é"}, "--idempotency-key takes 1 to 128 visible ASCII characters"},
		{[]string{"run", "h.awl", "--idempotency-key", strings.Repeat("x", 129)}, "--idempotency-key takes 1 to 128 visible ASCII characters"},
		{[]string{"run", "h.awl", "--timeout", "0"}, "--timeout must be more than 0; got 0s"},
		{[]string{"run", "h.awl", "--timeout", "-5s"}, "--timeout must be more than 0; got -5s"},
		{[]string{"resume", "01234567", "--timeout", "0"}, "--timeout must be more than 0; got 0s"},
		{[]string{"run", "h.awl", "--drain", "-1s"}, "--drain must not be negative; got -1s"},
		{[]string{"run", "h.awl", "--store", ""}, "--store is given without a value"},
		{[]string{"run", "h.awl", "--input", ""}, "--input is given without a value"},
		{[]string{"run", "h.awl", "--workflow-id", ""}, "--workflow-id is given without a value"},
		{[]string{"awl", "check", "h.awl", "--config", ""}, "--config is given without a value"},
		{[]string{"--home", "", "awl", "check", "h.awl"}, "--home is given without a value"},
		{[]string{"server", "--home", ""}, "--home is given without a value"},
	} {
		if out, errs, code := s.run(c.args...); code != 2 || out != "" || !strings.Contains(errs, "error[usage]: "+c.want) {
			t.Errorf("%.80q: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}

// unwritable is a stream that gives an error for every write.
type unwritable struct{ err error }

func (b unwritable) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: b.err}
}

// server 3.1: a reader who has gone away ends a command quietly; a disk that is full is no success and no usage.
func TestStandardOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", hello(t))
	for _, args := range [][]string{
		{"version"},
		{"version", "-o", "json"},
		{"--help"},
		{"awl"},
		{"awl", "check", s.path("h.awl")},
		{"awl", "check", "-o", "json", s.path("h.awl")},
		{"awl", "fmt", "-"},
		{"awl", "schema", s.path("h.awl")},
		{"awl", "graph", s.path("h.awl")},
		{"awl", "guide"},
		{"awl", "guide", "--card"},
		{"config", "init"},
		{"config", "show"},
		{"config", "validate"},
	} {
		for reason, want := range map[syscall.Errno]string{
			syscall.ENOSPC: "error[unavailable]: standard output cannot be written: no space left on device\nOutputUnwritable\n",
			syscall.EPIPE:  "",
		} {
			var errs strings.Builder
			code := cli.Run(t.Context(), cli.Program{In: strings.NewReader(hello(t)), Out: unwritable{reason}, Err: &errs, NoColor: true, Backend: &process{}}, args)
			if errs.String() != want || (want == "") != (code == 0) || code != 0 && code != 3 {
				t.Errorf("%v: %v: exit %d, %s", args, reason, code, errs.String())
			}
		}
	}
}

// process is a process side whose start can be told how to go.
type process struct {
	cli.Backend

	start func(ctx context.Context, o cli.Open) error
	ready bool
}

func (*process) AddFlags(*pflag.FlagSet) {}

func (*process) ConfigFile() string { return "# nothing\n" }

func (p *process) Configuration(o cli.Open) ([]cli.Setting, []string, error) {
	if p.start != nil {
		return nil, nil, p.start(context.Background(), o)
	}
	return []cli.Setting{{Key: "a.b", Value: 1}}, nil, nil
}

func (p *process) Open(ctx context.Context, o cli.Open) (*cli.Engine, error) {
	return nil, p.start(ctx, o)
}

func (p *process) Serve(ctx context.Context, o cli.Open, ready func(cli.Listening) bool) error {
	if p.ready {
		o.Loaded()
		ready(cli.Listening{})
	}
	return p.start(ctx, o)
}

// An error that nobody foresaw is a fault of the program, never of the command line.
func TestAnUntypedErrorIsAFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		ready bool
		code  int
	}{
		{[]string{"config", "show"}, false, 3},
		{[]string{"config", "validate"}, false, 3},
		{[]string{"server"}, false, 3},
		{[]string{"server"}, true, 1}, // server 3.4: a fault of a server that served
		{[]string{"resume", "01234567"}, false, 3},
	} {
		var errs strings.Builder
		p := &process{ready: c.ready, start: func(context.Context, cli.Open) error { return errors.New("a wheel came off") }}
		code := cli.Run(t.Context(), cli.Program{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Backend: p}, c.args)
		if code != c.code || errs.String() != "error[backend]: a wheel came off\n" {
			t.Errorf("%v: exit %d, %s", c.args, code, errs.String())
		}
	}
}

// server 3.1.8: the first signal ends a command that waits for a file or a pipe, and a start that is under way, without a
// word about an error; the exit code is the signal's, and 0 of a server, whose stop it is.
func TestTheFirstSignalEndsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", hello(t))
	fifo := s.path("fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	never, end := io.Pipe()
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = end.Close()
		wait.Wait()
		if f, err := os.OpenFile(fifo, os.O_RDWR, 0); err == nil { // lets go of those who still open it
			_ = f.Close()
		}
	})
	stuck := func(context.Context, cli.Open) error { _, err := never.Read(make([]byte, 1)); return err }
	begun := func(ctx context.Context, o cli.Open) error {
		o.Loaded()
		<-ctx.Done()
		return &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: "the store broke off", Err: ctx.Err()}
	}
	for _, c := range []struct {
		args  []string
		start func(context.Context, cli.Open) error
		clean bool
	}{
		{[]string{"run", fifo}, nil, false},
		{[]string{"run", "-"}, nil, false},
		{[]string{"run", s.path("h.awl"), "--input", "-"}, nil, false},
		{[]string{"run", s.path("h.awl"), "-i", "name=@" + fifo}, nil, false},
		{[]string{"awl", "check", fifo}, nil, false},
		{[]string{"awl", "fmt", fifo}, nil, false},
		{[]string{"awl", "fmt", "-"}, nil, false},
		{[]string{"awl", "graph", fifo}, nil, false},
		{[]string{"awl", "schema", fifo}, nil, false},
		{[]string{"config", "validate", fifo}, stuck, false},
		{[]string{"config", "show"}, stuck, false},
		{[]string{"resume", "01234567"}, stuck, false},
		{[]string{"resume", "01234567"}, begun, false},
		{[]string{"run", s.path("h.awl"), "-i", "name=a"}, begun, false},
		{[]string{"server"}, stuck, true},
		{[]string{"server"}, begun, true},
	} {
		for _, exit := range []int{130, 143} {
			t.Run(fmt.Sprint(c.args, exit), func(t *testing.T) {
				t.Parallel()
				signals := make(chan cli.Interrupt)
				var errs locked
				ended, reached := make(chan int, 1), make(chan struct{})
				p := &process{start: func(ctx context.Context, o cli.Open) error {
					if c.start == nil {
						return errors.New("let go at the end of the test")
					}
					close(reached)
					return c.start(ctx, o)
				}}
				wait.Go(func() {
					ended <- cli.Run(context.Background(), cli.Program{In: never, Out: io.Discard, Err: &errs, NoColor: true, Backend: p, Interrupts: signals}, c.args)
				})
				if c.start != nil {
					<-reached
				}
				signals <- cli.Interrupt{Exit: exit} // taken while the command runs
				want := exit
				if c.clean {
					want = 0
				}
				if code := <-ended; code != want || strings.Contains(errs.String(), "error") {
					t.Errorf("exit %d, %s", code, errs.String())
				}
			})
		}
	}
}

// locked is a buffer that a command may still write to when its end is read.
type locked struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The warnings of a server are those of config validate.
func TestValidatePrintsTheWarnings(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	code := cli.Run(t.Context(), cli.Program{In: strings.NewReader(""), Out: &out, Err: &errs, Backend: warned{&process{}}}, []string{"config", "validate"})
	if code != 0 || out.String() != "ok\n" || errs.String() != "warning: AION_X is nothing\n" {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
}

type warned struct{ *process }

func (warned) Configuration(cli.Open) ([]cli.Setting, []string, error) {
	return nil, []string{"AION_X is nothing"}, nil
}

// server 3.1.8: a command that has something to end hears the first signal and the second; the third waits for nobody.
func TestTheThirdSignalWaitsForNobody(t *testing.T) {
	t.Parallel()
	let, heard := make(chan struct{}), make(chan struct{})
	p := &process{start: func(ctx context.Context, o cli.Open) error {
		o.Loaded()
		close(heard)
		<-ctx.Done() // the clean stop begins, and sticks
		<-let
		return nil
	}}
	signals, ended := make(chan cli.Interrupt), make(chan int, 1)
	var wait sync.WaitGroup
	wait.Go(func() {
		ended <- cli.Run(context.Background(), cli.Program{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Backend: p, Interrupts: signals}, []string{"server"})
	})
	<-heard
	for range 2 {
		signals <- cli.Interrupt{Exit: 143}
	}
	select {
	case code := <-ended:
		t.Errorf("exit %d before the stop was over", code)
	case signals <- cli.Interrupt{Exit: 143}:
		if code := <-ended; code != 143 {
			t.Errorf("exit %d", code)
		}
	}
	close(let)
	wait.Wait()
}
