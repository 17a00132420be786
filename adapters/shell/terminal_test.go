package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/shell"

	"golang.org/x/sys/unix"
)

// actions 27: a command of a server on a terminal has none, so whatever asks there fails at once.
func TestACommandOfAServerOnATerminalHasNone(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainSupervisor, shell.ContainGroup} {
		tty := terminal(t)
		onTerminal := func(args ...string) *exec.Cmd {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stdin, cmd.Env = tty, append(os.Environ(), contained+"="+kind)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			return cmd
		}
		if out, err := onTerminal("sh", "-c", "echo x > /dev/tty").CombinedOutput(); err != nil {
			t.Fatalf("no terminal: %v, %s", err, out)
		}
		out, err := onTerminal(os.Args[0], serverMode, t.TempDir(), "sh -c 'echo password? > /dev/tty'").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "exit_nonzero retryable:") || !strings.Contains(string(out), "/dev/tty: No such device") {
			t.Errorf("%s: %v, %s", kind, err, out)
		}
	}
}

// actions 28: of every kind of containment.
func TestNoDescriptorOfTheServerReachesACommand(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainAuto, shell.ContainSupervisor, shell.ContainGroup} {
		cmd := exec.Command("sh", "-c", `exec "$@" 9</dev/null 5>&1`, "sh", os.Args[0], serverMode, t.TempDir(), "ls /proc/self/fd")
		cmd.Env = append(os.Environ(), contained+"="+kind)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"stdout":"0\n1\n2\n3"`) {
			t.Errorf("%s: %v, %s", kind, err, out)
		}
	}
}

// terminal opens a pseudo terminal and gives the side of its programs.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return tty
}
