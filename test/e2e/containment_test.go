package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// actions 57, 4.3: what cannot be ended is terminal, and the probe and the metrics name it until it is gone. A tracer keeps
// the process.
func TestWhatCannotBeEndedIsNamedByTheProbe(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--actions.kill_grace", "100ms", "--actions.kill_wait", "300ms")
	c := connect(t, s)
	c.deploy("kept.awl", document("kept", `echo $$ > "$1/pid.new"; mv "$1/pid.new" "$1/pid"; exec sleep 300`,
		"    timeout 5s, retry 3 every 1s\n"))
	id := c.start("kept", map[string]any{"dir": dir, "key": "k"})
	var pid int
	eventually(t, "the command runs", func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err == nil
	})
	letGo := trace(t, pid)
	defer letGo()
	c.untilEnded(id)
	if _, failed := c.attempts(id); len(failed) != 1 || failed[0]["class"] != "terminal" || failed[0]["code"] != "containment_failed" {
		t.Errorf("failed %v", failed)
	}
	name := fmt.Sprintf("containment_failed: processes of commands could not be ended: pid %d (Z)", pid)
	if got := probe(t, s); !strings.Contains(got, name) {
		t.Errorf("the probe says %s", got)
	}
	if at := s.samples(t); at["aion_containment_failures_total"] != 1 || at[`aion_supervisors{state="stuck"}`] != 1 {
		t.Errorf("counted %v, stuck %v", at["aion_containment_failures_total"], at[`aion_supervisors{state="stuck"}`])
	}
	letGo()
	eventually(t, "it is gone", func() bool { return !strings.Contains(probe(t, s), "containment_failed") })
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ends with %d", code)
	}
}

func probe(t *testing.T, s *server) string {
	t.Helper()
	res, err := http.Get(s.url + "/health/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// trace keeps a process from being reaped until it is let go.
func trace(t *testing.T, pid int) (letGo func()) {
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
			err = syscall.PtraceCont(pid, 0)
		}
		attached <- err
		if err == nil {
			<-release
			_, _ = syscall.Wait4(pid, nil, 0, nil) // whether it is gone is seen by its parent
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
