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
	// A thousand commands, each with three orphans; the server runs the list so many times.
	const orphans = `sh -c '(setsid sleep 0.00$(($$%9)) &); ((setsid true &) &); (exec sleep 0.001) &'`
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", os.Args[0], serverMode, t.TempDir(), orphans, orphans, orphans, orphans)
	cmd.Env = append(os.Environ(), repeat+"=250")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "completed:") != 1000 || !strings.Contains(string(out), "zombies 0\n") {
		t.Errorf("%v: %d commands: %.2000s", err, strings.Count(string(out), "completed:"), out)
	}
}
