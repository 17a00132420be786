package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/domain"
	"aion/domain/action"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// actions 23, 44, 57: a failure says which line of which command it is about, and what is known of its process.
func TestEveryFailureOfALineNamesIt(t *testing.T) {
	t.Parallel()
	x, script := open(t), filepath.Join(t.TempDir(), "s")
	write(t, script, "#!/no/such/sh\n", 0o700)
	for name, c := range map[string]struct {
		lines   []string
		capture action.Capture
		want    string
	}{
		"missing": {[]string{"printf one", "no-such-program", "true"}, action.CaptureText, "command `build` line 2 of 3: `no-such-program` could not be started: ENOENT: " +
			`… {"line":2,"lines":3,"program":"no-such-program","errno":"ENOENT","stderr_bytes":0,"stdout_bytes":3}`},
		"no interpreter": {[]string{"true", script}, action.CaptureText, "command `build` line 2 of 2: `" + domain.Quote(script, 64) + "` could not be started: ENOENT: " +
			`… {"line":2,"lines":2,"program":"` + script + `","errno":"ENOENT","stderr_bytes":0,"stdout_bytes":0}`},
		"bound": {[]string{"printf one", "sh -c 'echo no >&2; sleep 60'", "true"}, action.CaptureText, "the attempt exceeded its authored bound of 1h0m0s" +
			`… {"exit_code":143,"signal":15,"line":2,"lines":3,"program":"sh","stderr_bytes":3,"stdout_bytes":3,"bound_ms":3600000}`},
		"no JSON": {[]string{"printf [", "printf 1"}, action.CaptureJSON, "standard output is not one JSON value: unexpected end of JSON input, at byte offset 2" +
			`… {"exit_code":0,"line":2,"lines":2,"program":"printf","stderr_bytes":0,"stdout_bytes":2}`},
		"exit": {[]string{"printf one", "false"}, action.CaptureJSON, "command `build` line 2 of 2 (`false`) exited with code 1" +
			`… {"exit_code":1,"line":2,"lines":2,"program":"false","stderr_bytes":0,"stdout_bytes":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, rec := recipe(t, c.capture, c.lines...), &recorder{}
			e.Bound = time.Hour
			ctx, stop := context.WithCancelCause(t.Context())
			done := make(chan action.Verdict, 1)
			go func() { done <- x.Execute(ctx, e, rec) }()
			if name == "bound" {
				eventually(t, "the second line runs", func() bool { return len(rec.texts("command stderr (line 2 of 3)")) > 0 })
				stop(ports.StopDeadline)
			}
			f, _ := (<-done).(action.Failed)
			stop(nil)
			begin, details, _ := strings.Cut(c.want, "… ")
			if !strings.HasPrefix(f.Message, begin) || string(f.Details) != details {
				t.Errorf("got %s %s", f.Message, f.Details)
			}
		})
	}
}

// actions 57: every error of a start that has a meaning has the one of actions 6.2, and says what it is called.
func TestEveryErrorOfAStartHasItsClass(t *testing.T) {
	t.Parallel()
	for class, all := range map[action.Class][]unix.Errno{
		action.Terminal:  {unix.ENOENT, unix.EACCES, unix.ENOEXEC, unix.ENOTDIR, unix.ELOOP, unix.EINVAL, unix.E2BIG},
		action.Retryable: {unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY},
	} {
		for _, errno := range all {
			name := unix.ErrnoName(errno)
			for _, err := range []error{errno, &os.PathError{Op: "fork/exec", Path: "/p", Err: errno}, fmt.Errorf("start: %w", errno)} {
				f := shell.SpawnFailure("/p", err)
				if f.Class != class || f.Code != action.CodeSpawnFailed || !strings.HasPrefix(f.Message, "`/p` could not be started: "+name+": ") ||
					string(f.Details) != `{"program":"/p","errno":"`+name+`"}` {
					t.Errorf("%s: %s %s %s", name, f.Code, f.Error(), f.Details)
				}
			}
		}
	}
	if f := shell.SpawnFailure("/p", errors.New("lost")); f.Class != action.Retryable || !strings.Contains(f.Message, "unknown: lost") {
		t.Errorf("without a number: %s", f.Error())
	}
}

// actions 57: a directory that cannot be used is named with its error, also when it was there before the line before.
func TestADirectoryThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	dir, x := t.TempDir(), open(t)
	write(t, filepath.Join(dir, "file"), "", 0o600)
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(dir, "gone"))
	long := filepath.Join(dir, strings.Repeat("V", 300))
	for cwd, want := range map[string]string{
		filepath.Join(dir, "missing"): "line 1 of 2: the directory %q cannot be used: ENOENT: no such file or directory; it must be there",
		filepath.Join(dir, "file"):    "line 1 of 2: the directory %q cannot be used: ENOTDIR: not a directory; it must be there",
		filepath.Join(dir, "loop"):    "line 1 of 2: the directory %q cannot be used: ELOOP: ",
		long:                          "line 1 of 2: the directory %q cannot be used: ENAMETOOLONG: ",
		filepath.Join(dir, "gone"):    "line 2 of 2: the directory %q cannot be used: ENOENT: no such file or directory; it must be there",
		"":                            "line 2 of 2: the directory ",
	} {
		e := recipe(t, action.CaptureText, `sh -c 'rmdir "$PWD"'`, "true")
		if cwd != "" {
			e.Body.Command.Command.Cwd = []action.Piece{{Lit: &cwd}}
			want = fmt.Sprintf(want, domain.Quote(cwd, 64))
		}
		f, _ := x.Execute(t.Context(), e, nil).(action.Failed)
		_, after, _ := strings.Cut(f.Message, "cannot be used: ")
		name, _, _ := strings.Cut(after, ":")
		if f.Code != action.CodeSpawnFailed || f.Class != action.Terminal || !strings.HasPrefix(f.Message, "command `build` "+want) ||
			strings.Count(f.Message, "V") > 64 || !strings.Contains(string(f.Details), `"errno":"`+name+`"`) {
			t.Errorf("%s: %s %s", cwd, text(f), f.Details)
		}
	}
}

// actions 57: a host without room for the directory of an attempt may have some later.
func TestADirectoryThatCannotBeMadeIsRetryable(t *testing.T) {
	t.Parallel()
	var home string
	x := open(t, func(o *shell.Options) { home = o.Home })
	scratch := filepath.Join(home, "scratch")
	if err := os.Remove(scratch); err != nil {
		t.Fatal(err)
	}
	write(t, scratch, "", 0o600)
	if got := execute(t, x, run("true")); !strings.HasPrefix(got, "spawn_failed retryable:") {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(scratch); err != nil {
		t.Fatal(err)
	}
	mkdir(t, scratch)
	if got := execute(t, x, run("true")); !strings.HasPrefix(got, "completed:") {
		t.Errorf("afterwards: %s", got)
	}
}

// actions 57: a process that a tracer holds stays, killed or not, until the tracer lets go: nobody else can reap it. The attempt ends all
// the same, its failure and the log name the process, and so does Stuck until it is gone.
func TestATreeThatCannotBeEndedIsGivenUpAndNamed(t *testing.T) {
	t.Parallel()
	logged := &journal{}
	x := open(t, logged.keep, func(o *shell.Options) { o.KillWait = 300 * time.Millisecond })
	e := run(`sh -c 'echo up $$; exec sleep 300'`)
	stop, verdict, rec := start(t, x, e)
	pid, err := strconv.Atoi(strings.Fields(rec.texts("command stdout")[0])[1])
	if err != nil {
		t.Fatal(err)
	}
	letGo := hold(t, pid)
	stop(ports.StopDeadline)
	got, name := <-verdict, fmt.Sprintf("pid %d (Z)", pid)
	if !strings.HasPrefix(got, "containment_failed terminal:processes of the command could not be ended: "+name+"; ") {
		t.Errorf("got %s", got)
	}
	line := logged.line(t, e.Dispatch.Key, "processes of a command could not be ended")
	if line["level"] != "ERROR" || line["processes"] != name {
		t.Errorf("logged %v", line)
	}
	if c := x.Counts(); x.Stuck() != name || c.Stuck != 1 || c.ContainmentFailures != 1 || c.Busy != 0 {
		t.Errorf("stuck: %q, counted %+v", x.Stuck(), c)
	}
	if got := execute(t, x, run("echo next", action.CaptureText)); got != `completed:"next"` {
		t.Errorf("the next command: %s", got)
	}
	letGo()
	eventually(t, "it is gone", func() bool { return x.Stuck() == "" })
}

// hold traces a process that goes on, so that it cannot be reaped until it is let go.
func hold(t *testing.T, pid int) (letGo func()) {
	t.Helper()
	return traced(t, pid, func() error { return syscall.PtraceCont(pid, 0) }, func() {
		_, _ = syscall.Wait4(pid, nil, 0, nil) // whether it is gone is seen by its parent
	})
}

// traced stops a process as its tracer; then runs at once and end when it is let go, both on the thread that traces.
func traced(t *testing.T, pid int, then func() error, end func()) (letGo func()) {
	t.Helper()
	attached, release, released := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // which is what traces; it ends with the goroutine
		defer close(released)
		err := syscall.PtraceAttach(pid)
		if err == nil {
			_, err = syscall.Wait4(pid, nil, 0, nil)
		}
		if err == nil {
			err = then()
		}
		attached <- err
		if err == nil {
			<-release
			end()
		}
	}()
	if err := <-attached; err != nil {
		t.Skip("this system does not let a test trace a process: ", err)
	}
	return sync.OnceFunc(func() {
		close(release)
		<-released
	})
}
