package e2e_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server 48: the built binary tells its service manager that it is ready, alive, reloading and stopping, in this order.
func TestTheServiceManagerHearsALifeOfTheServer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(filepath.Dir(home), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	hear := func(want string) {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(60 * time.Second)); err != nil {
			t.Fatal(err)
		}
		for text := make([]byte, 4096); ; {
			n, err := conn.Read(text)
			if err != nil {
				t.Fatalf("%s is not heard: %v", want, err)
			}
			if regexp.MustCompile(want).Match(text[:n]) {
				return
			}
			if got := string(text[:n]); got != "WATCHDOG=1" && !strings.HasPrefix(got, "STATUS=") {
				t.Fatalf("%q is heard where %s was due", got, want)
			}
		}
	}
	file := configFile(t, home, "log:\n  level: info\n")
	s := serveIn(t, home, []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=30000000"}, "--config", file)
	hear("^READY=1\nSTATUS=serving at " + s.url + "$")
	hear("^WATCHDOG=1$")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	hear("^RELOADING=1\nMONOTONIC_USEC=[0-9]+$")
	hear("^READY=1\nSTATUS=serving at ")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hear("^STOPPING=1\nSTATUS=draining$")
	<-s.done
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(s.log.String(), "service manager") {
		t.Errorf("exit %d\n%s", code, s.log)
	}
}

// A service manager that is gone holds up nothing, and is told of once.
func TestAServiceManagerThatIsGoneHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := serveIn(t, newHome(t), []string{"NOTIFY_SOCKET=/nonexistent/notify", "WATCHDOG_USEC=30000000"})
	const told = "the service manager cannot be told"
	eventually(t, told, func() bool { return strings.Contains(s.log.String(), told) })
	if code := s.stop(); code != 0 || strings.Count(s.log.String(), told) != 1 {
		t.Errorf("exit %d\n%s", code, s.log)
	}
}
