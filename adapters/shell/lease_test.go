package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/domain/action"
)

// actions 53: what a server runs ends with its claim, also while the server itself stands still; it learns of that when it goes on.
func TestACommandDoesNotOutliveItsClaimWhenItsServerStandsStill(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], serverMode, home, stubborn)
	cmd.Env, cmd.Stderr = append(os.Environ(), leased+"=8s", contained+"="+shell.ContainSupervisor), os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	eventually(t, "the tree stands", func() bool { return commands(t, home) == 2 })
	kill(t, cmd.Process.Pid, syscall.SIGSTOP)
	eventually(t, "the tree is gone", func() bool { return commands(t, home) == 0 })
	if p, _ := supervise.Find(cmd.Process.Pid); p.State != 'T' {
		t.Errorf("the server is in state %c; this test shows nothing", p.State)
	}
	kill(t, cmd.Process.Pid, syscall.SIGCONT)
	if got := read(t, out); !strings.Contains(got, "dropped\n") {
		t.Errorf("the server says %q", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// actions 53: how long an attempt may run is asked again while it runs, and told to its supervisor.
func TestAnAttemptRunsAsLongAsItIsAllowedTo(t *testing.T) {
	t.Parallel()
	logged := &journal{}
	x, e := open(t, logged.keep), run(`sh -c '(setsid sleep 300 &); echo up; exec sleep 300'`)
	var over atomic.Bool
	e.Left = func() time.Duration {
		if over.Load() {
			return -time.Minute
		}
		return time.Hour
	}
	_, verdict, rec := start(t, x, e)
	over.Store(true)
	if got := <-verdict; got != "dropped" {
		t.Errorf("got %s", got)
	}
	if got := rec.statuses(); got != `{"cause":"claim_lost","status":"stopping"}` {
		t.Errorf("statuses: %s", got)
	}
	if line := logged.line(t, e.Dispatch.Key, "a command has run as long as it may without a renewed claim; it is stopped"); line["level"] != "WARN" {
		t.Errorf("logged %v", line)
	}
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	e = run("echo started")
	e.Left = func() time.Duration { return -time.Minute }
	rec = &recorder{}
	if got := text(x.Execute(t.Context(), e, rec)); got != "dropped" || len(rec.texts("command stdout")) > 0 {
		t.Errorf("what may not run any more: %s, %v", got, rec.all())
	}
	e = run("echo hi", action.CaptureText)
	e.Left = func() time.Duration { return time.Hour }
	if got := execute(t, x, e); got != `completed:"hi"` {
		t.Errorf("the next command: %s", got)
	}
}
