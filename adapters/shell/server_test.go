package shell_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
)

// actions 28, 30: in every kind of containment.
func TestACommandInheritsNothingOfHowTheServerWasStarted(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainAuto, shell.ContainGroup} {
		// All signals, also those that the C library keeps for itself as far as it lets go of them.
		cmd := exec.Command("sh", "-c", `for n in $(seq 64); do (trap "" $n) 2>/dev/null && trap "" $n; done; umask 077; exec "$@" 9</dev/null`, "sh",
			os.Args[0], maskedMode, t.TempDir(), "grep -E ^Sig(Ign|Blk) /proc/self/status", "ls /proc/self/fd") // no shell: it would unblock signals
		cmd.Env = append(os.Environ(), contained+"="+kind)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000`, `0\n1\n2\n3`} {
			if !strings.Contains(string(out), `completed:{"exit_code":0,"stdout":"`+want+`","stderr":""}`) {
				t.Errorf("%s: got %s", kind, out)
			}
		}
	}
}

// A server that would mistake the processes of another PID namespace for its own does not start.
func TestAServerWithTheProcOfAnotherNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--pid", "--fork", "true").Run(); err != nil {
		t.Skip("no PID namespaces here: ", err)
	}
	out, err := exec.Command("unshare", "--pid", "--fork", os.Args[0], serverMode, t.TempDir(), "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "unshare --mount-proc") || strings.Contains(string(out), "up\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// actions 42; report 45: a thousand commands, each with ten orphans. Those come to their supervisors; what comes to the server
// itself is what a container's `exec` leaves.
func TestAsPID1NoZombieIsLeft(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Skip("no PID namespaces here: ", err)
	}
	const orphans = `sh -c '(setsid sleep 0.00$(($$%9)) &); ((setsid true &) &); (exec sleep 0.001) & (true & true & true & true & true & true & true &)'`
	home := t.TempDir()
	wait := `sh -c 'while [ ! -e ` + home + `/go ]; do sleep 0.05; done'`
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", os.Args[0], serverMode, home, orphans, orphans, orphans, orphans, wait)
	cmd.Env, cmd.Stderr = append(os.Environ(), repeat+"=250"), os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if first, err := out.ReadString('\n'); first != "up\n" {
		t.Fatal(first, err)
	}
	table, err := supervise.Table()
	if err != nil {
		t.Fatal(err)
	}
	server := strconv.Itoa(supervise.Below(table, cmd.Process.Pid)[0].Pid)
	for range 20 {
		guest := exec.Command("nsenter", "--target", server, "--pid", "--mount", "sh", "-c", "(sleep 0.01 & setsid sleep 300 & true & true & true &)")
		if err := guest.Run(); err != nil {
			t.Error(err)
		}
	}
	write(t, home+"/go", "", 0o600)
	text := read(t, out)
	if err := cmd.Wait(); err != nil || strings.Count(text, "completed:") != 1250 || !strings.Contains(text, "zombies 0\n") {
		t.Errorf("%v: %d commands: %.2000s", err, strings.Count(text, "completed:"), text)
	}
}
