package system_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"aion/adapters/system"
)

// manager listens as a service manager does.
func manager(t *testing.T, name string) (socket string, read func() string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return name, func() string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 4096)
		n, err := conn.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:n])
	}
}

// server 48: what a service manager hears is one datagram of whole lines, on a path and on an abstract socket.
func TestAServiceManagerHearsHowTheProcessStands(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "notify-") //nolint:usetesting // a socket has a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{filepath.Join(dir, "notify"), "@aion-test-" + filepath.Base(dir)} {
		socket, read := manager(t, name)
		env := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
		n := system.NewNotifier(func(name string) string { return env[name] })
		for _, c := range []struct {
			say  func() error
			want string
		}{
			{func() error { return n.Ready("serving\nREADY=0") }, "^READY=1\nSTATUS=serving READY=0$"},
			{n.Reloading, "^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+$"},
			{func() error { return n.Stopping("draining") }, "^STOPPING=1\nSTATUS=draining$"},
			{func() error { return n.Status("half way") }, "^STATUS=half way$"},
			{n.Alive, "^WATCHDOG=1$"},
		} {
			if err := c.say(); err != nil {
				t.Fatal(err)
			}
			if got := read(); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("%s: %q is not %s", name, got, c.want)
			}
		}
	}
}

func TestWithoutAServiceManagerNothingIsSaid(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{
		{}, {"NOTIFY_SOCKET": "relative", "WATCHDOG_USEC": "1"}, {"NOTIFY_SOCKET": "vsock:2:1"},
	} {
		n := system.NewNotifier(func(name string) string { return env[name] })
		for _, err := range []error{n.Ready(""), n.Reloading(), n.Stopping(""), n.Alive()} {
			if err != nil {
				t.Errorf("%v: %v", env, err)
			}
		}
	}
	gone := system.NewNotifier(func(name string) string {
		return map[string]string{"NOTIFY_SOCKET": "/nonexistent", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"}[name]
	})
	if gone.Ready("") == nil || gone.Alive() != nil {
		t.Error("a manager that is gone is told of, and the watchdog of another process is not fed")
	}
}
