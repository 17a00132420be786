package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// samples reads the metrics of a server; a series is its name with its labels.
func (s *server) samples(t *testing.T) map[string]float64 {
	t.Helper()
	res, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %v: %s", res.StatusCode, err, text)
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			found[name] = n
		}
	}
	return found
}

// remote is a workflow whose only action has no body: its task waits for a worker.
const remote = `//! For a worker elsewhere.
workflow remote
  outcome done: type Done, route success

type Done { value: String }

worker elsewhere
  action far() -> String

step only
  far() -> value
  route done(value: value)
`

// actions 11: every metric of attempts, processes, transcripts and queues is fed from where it happens.
func TestMetricsTellWhatBecameOfCommands(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--actions.kill_grace", "200ms")
	c := connect(t, s)
	at := s.samples(t)
	for _, class := range []string{"completed", "retryable", "timeout", "lost", "terminal", "policy_refused", "parked", "dropped"} {
		if n, ok := at[`aion_attempts_total{class="`+class+`"}`]; !ok || n != 0 {
			t.Errorf("at the start class %s is %v", class, n)
		}
	}
	c.deploy("good.awl", document("good", `printf "a\nb\n"`, ""))
	c.deploy("bad.awl", document("bad", `exit 3`, "    retry 1 every 1s\n"))
	c.deploy("late.awl", document("late", `sleep 60`, "    timeout 1s\n"))
	c.deploy("gone.awl", document("gone", `kill -9 $PPID; sleep 60`, ""))
	c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	c.deploy("remote.awl", remote)
	for _, name := range []string{"good", "good", "bad", "late", "gone"} {
		c.untilEnded(c.start(name, map[string]any{"dir": dir, "key": "k"}))
	}
	c.startMany("stubborn", dir, "r", 2)
	begun(t, dir, 2)
	c.start("remote", map[string]any{})
	// A supervisor tells of a start a little later, or with the end; of one that its command ended it may never tell.
	eventually(t, "the starts are told", func() bool { return s.samples(t)[`aion_spawn_seconds_count`] >= 7 })
	at = s.samples(t)
	for series, want := range map[string]float64{
		`aion_attempts_total{class="completed"}`: 2, `aion_attempts_total{class="retryable"}`: 2, `aion_attempts_total{class="timeout"}`: 1,
		`aion_attempts_total{class="lost"}`: 5, `aion_attempts_total{class="terminal"}`: 0,
		`aion_attempts_running{executor="server"}`: 2, `aion_attempt_seconds_count`: 10,
		`aion_supervisors{state="busy"}`: 2, `aion_supervisors{state="stuck"}`: 0, `aion_containment_failures_total`: 0,
		`aion_transcript_dropped_total`: 0, `aion_transcript_queue_events`: 0,
		`aion_queue_depth{namespace="default",task_queue="elsewhere"}`: 1,
	} {
		if got, ok := at[series]; !ok || got != want {
			t.Errorf("%s is %v (shown: %v), wanted %v", series, got, ok, want)
		}
	}
	for series, least := range map[string]float64{
		`aion_spawn_seconds_sum`: 1e-6, `aion_attempt_seconds_sum`: 1, `aion_supervisors{state="idle"}`: 0,
		`aion_escaped_processes_total`: 5, `aion_transcript_events_total`: 4, `aion_queue_oldest_seconds`: 1e-6,
	} {
		if got, ok := at[series]; !ok || got < least {
			t.Errorf("%s is %v (shown: %v), wanted at least %v", series, got, ok, least)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing runs", func() bool { return s.samples(t)[`aion_attempts_running{executor="server"}`] == 0 })
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
}
