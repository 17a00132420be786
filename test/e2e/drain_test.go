package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// server 22; actions 5.3: who drains can be read and asked until the running attempts have ended, and begins nothing.
func TestAServerThatDrainsAnswersAndBeginsNothing(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--drain.timeout", "1m")
	c := connect(t, s)
	first := strings.Replace(document("first", `touch "$1/$2.begun"; while [ ! -e "$1/go" ]; do sleep 0.1; done; echo "$2"`, ""),
		"step only\n", "step begin\n", 1)
	two := strings.Replace(first, "  route done(value: value)\n",
		"\nstep second\n  first_it(dir: dir, key: `second`) -> other\n  route done(value: other)\n", 1)
	two = strings.ReplaceAll(two, "`", `"`)
	c.deploy("first.awl", two)
	id := c.start("first", map[string]any{"dir": dir, "key": "begin"})
	begun(t, dir, 1)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the drain begins", func() bool { return strings.Contains(s.log.String(), "draining") })

	if d := c.describe(id); d["status"] != "Running" {
		t.Errorf("the run is %v", d["status"])
	}
	refused, err := c.call("start_run", map[string]any{"namespace": "default", "workflow_type": "first", "input": map[string]any{"dir": dir, "key": "x"}})
	if err != nil || refused.refused["error_type"] != "ShuttingDown" {
		t.Errorf("a start is answered with %v, %v", refused, err)
	}
	response, err := http.Get(s.url + "/health/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var ready struct {
		Checks []struct{ Name, Status string }
	}
	if err := json.NewDecoder(response.Body).Decode(&ready); err != nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready answers %d %v, %v", response.StatusCode, ready, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if <-s.done; s.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("the drain ends with %d:\n%s", s.cmd.ProcessState.ExitCode(), s.log)
	}
	if _, err := os.Stat(filepath.Join(dir, "second.begun")); err == nil {
		t.Error("the next step began while the server drained")
	}
	c = connect(t, serve(t, home))
	if d := c.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("the run is %v", d["status"])
	}
}

// actions 5.3, server 4.2: a drain without time stops running commands at once. Their grace is theirs all the same: a result that
// comes in it is recorded, and the rest goes on with the next start under its number.
func TestADrainWithoutTimeStopsAtOnce(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--drain.timeout", "0", "--actions.kill_grace", "5s")
	c := connect(t, s)
	c.deploy("saves.awl", document("saves", `trap "echo saved; exit 0" TERM; touch "$1/$2.begun"; while :; do sleep 0.1; done`, ""))
	c.deploy("waits.awl", document("waits", `touch "$1/$2.begun"; while [ ! -e "$1/go" ]; do sleep 0.1; done; echo "$2"`, ""))
	saves := c.start("saves", map[string]any{"dir": dir, "key": "a"})
	waits := c.start("waits", map[string]any{"dir": dir, "key": "b"})
	begun(t, dir, 2)
	if code := s.stop(); code != 0 {
		t.Errorf("the drain ends with %d:\n%s", code, s.log)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = connect(t, serve(t, home))
	for _, id := range []string{saves, waits} {
		d := c.untilEnded(id)
		started, failed := c.attempts(id)
		if d["status"] != "Completed" || len(failed) != 0 || started[len(started)-1]["attempt"] != 1.0 {
			t.Errorf("%v, started %v, failed %v", d["status"], started, failed)
		}
	}
	if started, _ := c.attempts(saves); len(started) != 1 {
		t.Errorf("what was saved in the grace ran again: %v", started)
	}
}

// server 5.7: a stop that is announced makes the server unready and refuses nothing until it is over; a second signal does not wait.
func TestAnAnnouncedStopStillServesEverything(t *testing.T) {
	t.Parallel()
	s := serve(t, newHome(t), "--drain.announce", "10m")
	c := connect(t, s)
	c.deploy("good.awl", document("good", `echo one`, ""))
	ready := func() int {
		status, _ := get(t, s.url+"/health/ready", nil)
		return status
	}
	eventually(t, "it is ready", func() bool { return ready() == http.StatusOK })
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "it is unready", func() bool { return ready() == http.StatusServiceUnavailable })
	if d := c.untilEnded(c.start("good", map[string]any{"dir": t.TempDir(), "key": "k"})); d["status"] != "Completed" {
		t.Errorf("the run is %v", d["status"])
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if <-s.done; s.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("the second signal ends with %d:\n%s", s.cmd.ProcessState.ExitCode(), s.log)
	}
}
