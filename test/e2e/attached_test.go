package e2e_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// running is an `aion run` or `resume` that goes on, and the lines that it says.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   strings.Builder
	lines chan string
}

func begin(t *testing.T, home string, args ...string) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command(binary, args...), lines: make(chan string, 1000)}
	r.cmd.Env, r.cmd.Stdout = environ(home), &r.out
	pipe, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			r.lines <- s.Text()
		}
	}()
	return r
}

// until reads lines up to one that holds the text.
func (r *running) until(text string) string {
	r.t.Helper()
	var seen []string
	for line := range r.lines {
		if strings.Contains(line, text) {
			return line
		}
		seen = append(seen, line)
	}
	r.t.Fatalf("the command ended without saying %q:\n%s", text, strings.Join(seen, "\n"))
	return ""
}

// ended waits for the end.
func (r *running) ended() ended {
	r.t.Helper()
	var errs strings.Builder
	for line := range r.lines {
		errs.WriteString(line + "\n")
	}
	_ = r.cmd.Wait()
	return ended{r.out.String(), errs.String(), r.cmd.ProcessState.ExitCode()}
}

var decision = map[string]any{"approve": true, "reviewer": "Ada"}

// server 3.3: whoever owns the store serves it on its socket, so a run that waits can be given its signal, by a bridge that
// only looks for the owner and by one that would become it.
func TestARunThatWaitsInItsOwnProcessIsSignalled(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--embedded"}} {
		home := newHome(t)
		run := begin(t, home, "run", example("approval.awl"), "-i", "change=PR-7")
		run.until("hold")
		private := filepath.Join(filepath.Dir(home), "private")
		if err := os.MkdirAll(private, 0o700); err != nil {
			t.Fatal(err)
		}
		// The owner of another store in the same home has a socket of its own.
		if e := aion(t, home, "run", "--store", filepath.Join(private, "x.db"), example("hello.awl"), "-i", "name=Ada"); e.code != 0 {
			t.Fatalf("%+v", e)
		}
		c := bridged(t, home, "", flags...)
		rows := c.must("list_runs", map[string]any{"namespace": "default"})["runs"].([]any)
		if len(rows) != 1 {
			t.Fatalf("%v", rows)
		}
		c.must("signal", map[string]any{
			"namespace": "default", "workflow_id": rows[0].(map[string]any)["workflow_id"], "signal_name": "decision", "payload": decision,
		})
		if e := run.ended(); e.code != 0 || e.outcome(t)["outcome"] != "shipped" {
			t.Errorf("%v: %+v", flags, e)
		}
	}
}

// server 3.3: so can one that another process left and this one resumes. The signal is sent as examples/README.md says.
func TestAResumedRunIsSignalledAsTheExamplesSay(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := aion(t, home, "run", example("approval.awl"), "-i", "change=PR-7", "--timeout", "1s")
	if first.code != 4 {
		t.Fatalf("%+v", first)
	}
	_, rest, _ := strings.Cut(first.stderr, "\nrun ")
	id, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	run := begin(t, home, "resume", id)
	run.until("hold")
	text, err := os.ReadFile(example("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ = strings.Cut(string(text), "```sh\n")
	script, _, _ := strings.Cut(rest, "```")
	if !strings.Contains(script, "ID=the-id-of-the-workflow\n") {
		t.Fatalf("the script has no place for the id:\n%s", script)
	}
	sh := exec.Command("sh", "-c", strings.Replace(script, "the-id-of-the-workflow", id, 1))
	sh.Env = append(environ(home), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	answer, err := sh.CombinedOutput()
	if err != nil || !strings.Contains(string(answer), `"delivered":true`) {
		t.Errorf("%v: %s", err, answer)
	}
	if e := run.ended(); e.code != 0 || e.outcome(t)["outcome"] != "shipped" {
		t.Errorf("%+v", e)
	}
}
