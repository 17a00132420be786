package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/domain/action"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// silent mounts a file system that never answers, until answer ends it.
func silent(t *testing.T) (dir string, answer func()) {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no FUSE here: ", err)
	}
	dir = t.TempDir()
	if err := unix.Mount("silent", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd)); err != nil {
		_ = unix.Close(fd)
		t.Skip("this process may not mount: ", err)
	}
	answer = sync.OnceFunc(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		_ = unix.Close(fd) // who waits gets an error
	})
	t.Cleanup(answer)
	return dir, answer
}

// actions 44, 46, 48, 50: wherever a command meets a file system that does not answer, its bound, a cancel and a drain end its
// attempt, other commands run, and the executor ends.
func TestAFileSystemThatDoesNotAnswerHoldsNoAttempt(t *testing.T) {
	t.Parallel()
	x := open(t)
	given := open(t, func(o *shell.Options) { o.KillWait = 300 * time.Millisecond })
	listed := open(t, func(o *shell.Options) { o.AllowedPrograms = []string{"/bin/sh"} })
	dir, answer := silent(t)
	rooted := open(t, func(o *shell.Options) { o.WorkspaceRoot = filepath.Join(dir, "root") })
	atPath, atDir := recipe(t, action.CaptureText, "echo hi"), recipe(t, action.CaptureText, "echo hi")
	atPath.Body.Command.Command.Env = []action.EnvVar{{Name: "PATH", Value: dir + ":/usr/bin:/bin"}}
	cwd := filepath.Join(dir, "x")
	atDir.Body.Command.Command.Cwd = []action.Piece{{Lit: &cwd}}
	type place struct {
		x *shell.Executor
		e ports.Execution
	}
	for name, at := range map[string]place{
		"program": {x, run(dir + "/x")}, "path": {x, atPath}, "directory": {given, atDir},
		"list": {listed, atPath}, "root": {rooted, run("echo {workspace_root}")},
	} {
		for cause, want := range map[ports.StopCause]string{
			ports.StopDeadline: "deadline_exceeded timeout:", ports.StopCancelled: "dropped", ports.StopDrain: "parked",
		} {
			e := at.e
			e.Dispatch.Key = run("").Dispatch.Key
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if cause == ports.StopDeadline {
				e.Bound = 100 * time.Millisecond
			}
			verdict := make(chan string, 1)
			go func() { verdict <- text(at.x.Execute(ctx, e, nil)) }()
			if cause != ports.StopDeadline && name != "root" && name != "list" {
				eventually(t, "it is under way", func() bool { return at.x.Counts().Busy > 0 })
			}
			if cause != ports.StopDeadline {
				cancel(cause)
			}
			got := <-verdict
			if name == "directory" && strings.HasPrefix(got, "containment_failed") { // not every kernel can kill who waits
				continue
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s: got %s", name, cause, got)
			}
		}
		if got := execute(t, x, run("echo hi", action.CaptureText)); got != `completed:"hi"` {
			t.Errorf("beside %s: %s", name, got)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := x.Start(ctx, shell.Command{Name: "harness", Argv: []string{dir + "/x"}}); err == nil {
		t.Error("it was started")
	}
	for _, x := range []*shell.Executor{x, listed, rooted} {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	if x.Unanswered() == 0 {
		t.Error("nothing waits for the file system; this test shows nothing")
	}
	answer()
	eventually(t, "nothing is stuck", func() bool { return given.Stuck() == "" })
	for _, x := range []*shell.Executor{x, listed, rooted} {
		eventually(t, "nothing waits for it", func() bool { return x.Unanswered() == 0 })
	}
}

// A file system that does not answer holds no start: whoever starts a server learns which settings were not examined.
func TestAFileSystemThatDoesNotAnswerHoldsNoStart(t *testing.T) {
	t.Parallel()
	dir, answer := silent(t)
	x := open(t, func(o *shell.Options) {
		o.KillWait, o.WorkspaceRoot = 300*time.Millisecond, filepath.Join(dir, "root")
		o.AllowedPrograms, o.ProgramDirs = []string{"env"}, []string{dir, "/usr/bin"}
	})
	got := strings.Join(x.Warnings(), "\n")
	for _, key := range []string{"actions.allowed_programs", "actions.workspace_root"} {
		if !strings.Contains(got, key+" was not examined: ") {
			t.Errorf("no word of %s in %q", key, got)
		}
	}
	answer()
	eventually(t, "nothing waits for it", func() bool { return x.Unanswered() == 0 })
	if got := strings.Join(x.Warnings(), "\n"); !strings.Contains(got, "actions.allowed_programs names env") || strings.Contains(got, "examined") {
		t.Errorf("afterwards: %q", got)
	}
}

// A variable that is granted from what gives nothing to read holds no start either, and no command: the start is refused, and a
// command has its bound.
func TestAGrantFromWhatGivesNothingIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	o := options(t.TempDir())
	o.KillWait, o.Env = 300*time.Millisecond, []shell.Grant{{Name: "TOKEN", FromFile: pipe, Queues: []string{"tools"}}}
	write(t, pipe, "there at the start", 0o600)
	x, err := shell.New(o)
	if err == nil {
		err = os.Remove(pipe)
	}
	if err == nil {
		err = unix.Mkfifo(pipe, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shell.New(o); err == nil || !strings.Contains(err.Error(), "actions.env: the grant of \"TOKEN\" has no value: nothing could be read") {
		t.Errorf("the next start: %v", err)
	}
	e := run("true")
	e.Bound = 100 * time.Millisecond
	if got := execute(t, x, e); !strings.HasPrefix(got, "deadline_exceeded") {
		t.Errorf("got %s", got)
	}
	end, err := os.OpenFile(pipe, os.O_WRONLY, 0) // who waits reads nothing, and the end
	if err != nil {
		t.Fatal(err)
	}
	if err := end.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "nothing waits for it", func() bool { return x.Unanswered() == 0 })
}

// What nobody waits for is bounded: then a look is a failure at once.
func TestLooksThatAreNeverAnsweredAreBounded(t *testing.T) {
	t.Parallel()
	x := open(t)
	dir, answer := silent(t)
	e := run(dir + "/x")
	e.Bound = time.Millisecond
	var got string
	for range 300 {
		e.Dispatch.Key = run("").Dispatch.Key
		if got = execute(t, x, e); !strings.HasPrefix(got, "deadline_exceeded") {
			break
		}
	}
	if !strings.HasPrefix(got, "spawn_failed retryable:") || !strings.Contains(got, "256 looks at files of this host were never answered") {
		t.Errorf("got %s", got)
	}
	answer()
	eventually(t, "commands run again", func() bool { return strings.HasPrefix(execute(t, x, run("true")), "completed:") })
}

// actions 44, 57: the bound runs when nothing tells of a start, because the supervisor is held. What is given up is named, when
// nothing is below it the supervisor itself.
func TestTheBoundRunsWithoutNewsOfAStart(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.KillWait = 300 * time.Millisecond })
	stop, verdict, rec := start(t, x, run(`sh -c 'echo up $PPID; exec sleep 300'`))
	stop(ports.StopCancelled)
	<-verdict
	pid, err := strconv.Atoi(strings.Fields(rec.texts("command stdout")[0])[1])
	if err != nil {
		t.Fatal(err)
	}
	letGo := still(t, pid)
	e := run("echo never")
	e.Bound = 100 * time.Millisecond
	want := fmt.Sprintf("containment_failed terminal:processes of the command could not be ended: the supervisor itself, pid %d (t), "+
		"below which nothing is seen; ", pid)
	if got := execute(t, x, e); !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	letGo()
	eventually(t, "it is gone", func() bool { return x.Stuck() == "" })
}

// still stops a process as its tracer, so that no signal makes it go on, until it is let go.
func still(t *testing.T, pid int) (letGo func()) {
	t.Helper()
	letGo = traced(t, pid, func() error { return nil }, func() { _ = syscall.PtraceDetach(pid) })
	t.Cleanup(letGo)
	return letGo
}

// actions 4.4: a command that freezes its cgroup ends at its bound and is no command's neighbour; a cgroup that somebody else
// froze is thawed when nothing starts in it.
func TestAFrozenCgroupHoldsNoOtherCommand(t *testing.T) {
	t.Parallel()
	base := delegated(t)
	x := open(t)
	const own = `$(basename "$(sed -n "s/^0:://p" /proc/self/cgroup)")`
	e := run(`sh -c 'echo 1 > ` + base + `/` + own + `/cgroup.freeze; exec sleep 300'`)
	e.Bound = 200 * time.Millisecond
	if got := execute(t, x, e); !strings.HasPrefix(got, "deadline_exceeded") {
		t.Errorf("got %s", got)
	}
	got := execute(t, x, run(`sh -c 'echo `+own+`'`, action.CaptureText))
	leaf, ok := strings.CutPrefix(got, `completed:"`)
	if !ok {
		t.Fatalf("the next command: %s", got)
	}
	freeze := filepath.Join(base, strings.TrimSuffix(leaf, `"`), "cgroup.freeze")
	if err := os.WriteFile(freeze, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := execute(t, x, run("echo hi", action.CaptureText)); got != `completed:"hi"` {
		t.Errorf("in a frozen cgroup: %s", got)
	}
}
