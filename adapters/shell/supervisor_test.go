package shell_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain/action"
	"aion/ports"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// supervised starts a supervisor that finds orders at once, and gives the kinds of its answers up to the last one, the exit code
// that it tells, and the output.
func supervised(t *testing.T, orders ...supervise.Frame) (kinds []supervise.Kind, code int, output string) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer func() { _ = ours.Close() }()
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range orders {
		raw, err := supervise.Append(nil, f)
		var oob []byte
		if f.Kind == supervise.KindRun {
			oob = unix.UnixRights(int(write.Fd()), int(write.Fd()))
		}
		if err == nil {
			err = unix.Sendmsg(pair[0], raw, oob, nil, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = write.Close()
	cmd := exec.Command(os.Args[0], supervise.Arg, "64")
	cmd.Env, cmd.Stderr, cmd.ExtraFiles = []string{supervise.Environment}, os.Stderr, []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	in := bufio.NewReader(ours)
	var last supervise.Frame
	for last.Kind != supervise.KindEmpty && last.Kind != supervise.KindFailed {
		if last, err = supervise.Read(in); err != nil {
			t.Fatal(err)
		}
		if kinds = append(kinds, last.Kind); last.Kind == supervise.KindExited {
			code = last.Code
		}
	}
	output = read(t, pipe)
	_ = ours.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return kinds, code, output
}

// order is that to run a script.
func order(script string, lease time.Duration) supervise.Frame {
	return supervise.Frame{Kind: supervise.KindRun, Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Dir: "/", GraceMS: 300, Lease: uint64(lease)}
}

// actions 4.1: a supervisor that comes to its channel late finds several orders at once. A stop that came after the end of
// its command is for nobody, and the descriptors behind it belong to the next command.
func TestAnOrderKeepsItsDescriptorsBehindOneThatIsTooLate(t *testing.T) {
	t.Parallel()
	kinds, code, out := supervised(t, supervise.Frame{Kind: supervise.KindStop}, supervise.Frame{Kind: supervise.KindKill}, order("echo ran; exit 3", 0))
	if diff := cmp.Diff([]supervise.Kind{supervise.KindStarted, supervise.KindExited, supervise.KindEmpty}, kinds); diff != "" {
		t.Error(diff)
	}
	if code != 3 || out != "ran\n" {
		t.Errorf("exited with %d, output %q", code, out)
	}
}

// actions 53: a supervisor ends a command with its lease, and starts none whose lease has ended.
func TestACommandEndsWithItsLease(t *testing.T) {
	t.Parallel()
	lease := func(d time.Duration) supervise.Frame {
		return supervise.Frame{Kind: supervise.KindLease, Lease: uint64(d)}
	}
	const trapped = `exec 2>/dev/null; trap "echo stopped; exit 4" TERM; echo ran; while :; do sleep 0.02; done`
	started, exited := supervise.KindStarted, supervise.KindExited
	expired, empty := supervise.KindExpired, supervise.KindEmpty
	for name, c := range map[string]struct {
		orders []supervise.Frame
		kinds  []supervise.Kind
		code   int
		output string
	}{
		"over":      {[]supervise.Frame{order("echo ran", time.Nanosecond)}, []supervise.Kind{expired, empty}, 0, ""},
		"ends":      {[]supervise.Frame{order(trapped, 5*time.Second)}, []supervise.Kind{started, expired, exited, empty}, 4, "ran\nstopped\n"},
		"stubborn":  {[]supervise.Frame{order(`trap "" TERM; sleep 300`, 5*time.Second)}, []supervise.Kind{started, expired, exited, empty}, 137, ""},
		"goes on":   {[]supervise.Frame{order("sleep 6; echo ran; exit 3", 5*time.Second), lease(time.Hour)}, []supervise.Kind{started, exited, empty}, 3, "ran\n"},
		"cut short": {[]supervise.Frame{order(`sleep 300`, time.Hour), lease(time.Nanosecond)}, []supervise.Kind{started, expired, exited, empty}, 143, ""},
		"is kept":   {[]supervise.Frame{order("echo ran", time.Hour)}, []supervise.Kind{started, exited, empty}, 0, "ran\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range c.orders { // from now on
				c.orders[i].Lease += uint64(supervise.SinceBoot())
			}
			kinds, code, out := supervised(t, c.orders...)
			if diff := cmp.Diff(c.kinds, kinds); diff != "" || code != c.code || out != c.output {
				t.Errorf("exited with %d, output %q, %s", code, out, diff)
			}
		})
	}
}

// actions 4.1: whoever waits takes no processor: without a command, beside one that runs, and beside one whose dead leader a
// tracer keeps.
func TestASupervisorThatWaitsTakesNoProcessor(t *testing.T) {
	t.Parallel()
	x := open(t)
	stopRest, rest, idle := start(t, x, run(`sh -c 'echo up $PPID; exec sleep 300'`))
	stopBusy, busy, running := start(t, x, run(`sh -c 'echo up $PPID; exec sleep 300'`))
	_, ended, held := start(t, x, run(`sh -c 'echo up $PPID $$; exec sleep 300'`))
	word := func(rec *recorder, n int) int {
		pid, err := strconv.Atoi(strings.Fields(rec.texts("command stdout")[0])[n])
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	stopRest(ports.StopCancelled)
	<-rest
	letGo := hold(t, word(held, 2))
	defer letGo()
	if err := unix.Kill(word(held, 2), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	before := map[string]int{}
	of := map[string]int{"idle": word(idle, 1), "running": word(running, 1), "held": word(held, 1)}
	for name, pid := range of {
		before[name] = spent(t, pid)
	}
	if err := exec.Command("sleep", "1").Run(); err != nil { // what they do meanwhile counts
		t.Error(err)
	}
	for name, pid := range of {
		if took := spent(t, pid) - before[name]; took > 10 {
			t.Errorf("%s: %d hundredths of a second", name, took)
		}
	}
	letGo()
	if got := <-ended; !strings.HasPrefix(got, "exit_signal retryable:") {
		t.Errorf("got %s", got)
	}
	stopBusy(ports.StopCancelled)
	<-busy
}

// actions 4.1: supervisors are kept, and those that are too many end once they have had no work for long.
func TestSupervisorsWithoutWorkEndButForAFew(t *testing.T) {
	t.Parallel()
	x := open(t)
	var stops []context.CancelCauseFunc
	var ends []<-chan string
	for range 4 {
		stop, verdict, _ := start(t, x, run(`sh -c 'echo up; exec sleep 300'`))
		stops, ends = append(stops, stop), append(ends, verdict)
	}
	for i := range stops {
		stops[i](ports.StopCancelled)
		<-ends[i]
	}
	for _, c := range []struct {
		before time.Time
		left   int
	}{{time.Now().Add(-time.Minute), 4}, {time.Now().Add(time.Minute), 2}, {time.Now().Add(time.Minute), 2}} {
		x.Shrink(2, c.before)
		if got := x.Counts().Idle; got != c.left {
			t.Errorf("%d are kept, want %d", got, c.left)
		}
	}
	if got := execute(t, x, run("echo again", action.CaptureText)); got != `completed:"again"` || x.Counts().Idle != 2 {
		t.Errorf("got %s, counted %+v", got, x.Counts())
	}
}

// spent is the time that a process has had a processor, in hundredths of a second.
func spent(t *testing.T, pid int) (ticks int) {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	for _, field := range strings.Fields(rest)[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return ticks
}
