package shell_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// actions 28, 30
func TestACommandInheritsNothingOfHowTheServerWasStarted(t *testing.T) {
	t.Parallel()
	const look = `sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status; ls /proc/self/fd'`
	cmd := exec.Command("sh", "-c", `trap "" HUP TERM TSTP USR1 PIPE; umask 077; exec "$@" 9</dev/null`, "sh",
		os.Args[0], serverMode, t.TempDir(), look)
	done := make(chan error, 1)
	var out []byte
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with its mask
		mask := unix.Sigset_t{}
		mask.Val[0] = 1<<(unix.SIGINT-1) | 1<<(unix.SIGUSR2-1)
		err := unix.PthreadSigmask(unix.SIG_BLOCK, &mask, nil)
		if err == nil {
			out, err = cmd.Output()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := `completed:{"exit_code":0,"stdout":"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n1\n2\n3","stderr":""}`
	if !strings.Contains(string(out), want) {
		t.Errorf("got %s", out)
	}
}

// actions 42; report 45
func TestAsPID1NoZombieIsLeft(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Skip("no PID namespaces here: ", err)
	}
	const orphans = `sh -c 'i=0; while [ $i -lt 50 ]; do (setsid sleep 0.00$i &); i=$((i+1)); done'`
	commands := make([]string, 20)
	for i := range commands {
		commands[i] = orphans
	}
	out, err := exec.Command("unshare", append([]string{"--pid", "--fork", "--mount-proc", os.Args[0], serverMode, t.TempDir()},
		commands...)...).CombinedOutput()
	if err != nil || strings.Count(string(out), "completed:") != 20 || !strings.Contains(string(out), "zombies 0\n") {
		t.Errorf("%v: %s", err, out)
	}
}
