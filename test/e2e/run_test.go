package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func example(name string) string {
	abs, err := filepath.Abs(filepath.Join("..", "..", "examples", name))
	if err != nil {
		panic(err)
	}
	return abs
}

func TestRunPrintsLiveLinesAndTheOutcome(t *testing.T) {
	t.Parallel()
	e := aion(t, newHome(t), "run", example("hello.awl"), "-i", "name=Ada", "--follow", "all")
	if e.code != 0 {
		t.Fatalf("exit %d: %s", e.code, e.stderr)
	}
	o := e.outcome(t)
	got := []any{o["outcome"], o["status"], o["route"], o["result"], o["failure"]}
	want := []any{"greeted", "Completed", "success", map[string]any{"text": "Hello, Ada"}, nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, line := range []string{"checked", "say            started", "say            | Hello, Ada", "done in", "greeted (success)"} {
		if !strings.Contains(e.stderr, line) {
			t.Errorf("%q is not among the live lines:\n%s", line, e.stderr)
		}
	}
	if strings.Index(e.stderr, "| Hello") > strings.Index(e.stderr, "done in") {
		t.Errorf("the output stands behind the end of its step:\n%s", e.stderr)
	}
}

func TestEveryExampleRunsWithOneCommand(t *testing.T) {
	t.Parallel()
	cases := []struct {
		args    []string
		outcome string
		code    int
	}{
		{[]string{"hello.awl", "-i", "name=Ada"}, "greeted", 0},
		{[]string{"retry.awl"}, "recovered", 0},
		{[]string{"routing.awl", "-i", "directory=/etc/default"}, "small", 0},
		{[]string{"routing.awl", "-i", "directory=/usr/bin"}, "large", 0},
	}
	for _, c := range cases {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			e := aion(t, newHome(t), append([]string{"run", example(c.args[0])}, c.args[1:]...)...)
			if e.code != c.code || e.outcome(t)["outcome"] != c.outcome {
				t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
			}
		})
	}
}

// An example is copied: what fails in it must not look like a result.
func TestNoExampleHidesThatACommandFailed(t *testing.T) {
	t.Parallel()
	e := aion(t, newHome(t), "run", example("routing.awl"), "-i", "directory=/nowhere")
	if e.code != 1 || e.outcome(t)["status"] != "Failed" || !strings.Contains(e.stdout, "du: ") {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
}

// A failure route is a whole answer: exit 1, outcome on standard output.
func TestAFailureRouteEndsWithExitOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	doc := strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 50ms", 1)
	file := filepath.Join(dir, "w.awl")
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	e := aion(t, newHome(t), "run", file, "-i", "change=PR-7")
	if o := e.outcome(t); e.code != 1 || o["outcome"] != "expired" || o["route"] != "failure" {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
}

func TestADocumentWithErrorsIsRefusedAndNothingIsStored(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	file := filepath.Join(t.TempDir(), "bad.awl")
	if err := os.WriteFile(file, []byte(strings.Replace(fixture(t, "hello.awl"), "route greeted", "route gretted", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	e := aion(t, home, "run", file, "-i", "name=Ada")
	if e.code != 2 || e.stdout != "" || !strings.Contains(e.stderr, "error[AWL2012]") || !strings.Contains(e.stderr, "greeted") {
		t.Errorf("exit %d, %q, %s", e.code, e.stdout, e.stderr)
	}
	if _, err := os.Stat(filepath.Join(home, "aion.db")); err == nil {
		t.Error("a store was made")
	}
}

func TestWrongInputIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"missing":  {nil, "needs the input name: String"},
		"unknown":  {[]string{"-i", "nam=Ada"}, "did you mean name?"},
		"not JSON": {[]string{"--input", "{"}, "is not JSON"},
		"a flag":   {[]string{"--inptu", "{}"}, "unknown flag"},
		"shape":    {[]string{"--input", `{"name": 7}`}, "/name"},
		"null":     {[]string{"--input", `null`}, "input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := aion(t, newHome(t), append([]string{"run", example("hello.awl")}, c.args...)...)
			if e.code != 2 || !strings.Contains(e.stderr, c.want) {
				t.Errorf("exit %d: %s", e.code, e.stderr)
			}
		})
	}
}

// Ctrl-C leaves the run durable; resume goes on with it and the step in flight runs again or to its end.
func TestAnInterruptedRunGoesOnWithResume(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "slow.awl")
	if err := os.WriteFile(file, []byte(threeSteps), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", file, "-i", "dir="+dir, "--drain", "100ms")
	cmd.Env = environ(home)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second step begins", func() bool { _, err := os.Stat(filepath.Join(dir, "two.begun")); return err == nil })
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(errs.String(), "is durable and parked; go on with: aion resume") ||
		!strings.Contains(errs.String(), "up to 100ms for 1 command; Ctrl-C again stops them") {
		t.Fatalf("exit %d: %s", cmd.ProcessState.ExitCode(), errs.String())
	}
	_, rest, _ := strings.Cut(errs.String(), "go on with: aion resume ")
	id, _, _ := strings.Cut(rest, "\n")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := aion(t, home, "resume", id)
	if o := e.outcome(t); e.code != 0 || o["outcome"] != "done" {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
	if lines(t, filepath.Join(dir, "one.ran")) != 1 {
		t.Error("the first step ran again")
	}
	again := aion(t, home, "resume", id)
	if again.code != 0 || again.outcome(t)["outcome"] != "done" {
		t.Errorf("a run that has ended does not print its outcome: exit %d %s", again.code, again.stderr)
	}
}

func lines(t testing.TB, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestAHomeThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if err := os.MkdirAll(home, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada")
	if e.code != 2 || !strings.Contains(e.stderr, "must be private: chmod 700") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}

// A program that does not exist, one that never ends and one that floods: a clear answer each time.
func TestHostileCommandsEndInATypedFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ action, want string }{
		"missing": {"run \"no-such-program-anywhere\" capture text", "could not be started: ENOENT"},
		"endless": {"timeout 300ms\n    run \"sleep 3000\" capture text", "timeout"},
		"flood":   {"run \"sh -c 'head -c 300000000 /dev/zero | tr \\\"\\\\\\\\0\\\" x'\" capture json", "has 300000000 bytes, and at most 1048576 are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "hostile.awl")
			doc := "//! Something hostile.\nworkflow hostile\n  outcome done: type Done, route success\n\ntype Done { value: String }\n\n" +
				"worker shell\n  action act() -> String\n    " + c.action + "\n\nstep only\n  act() -> value\n  route done(value: value)\n"
			if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
			home := newHome(t)
			started := time.Now()
			e := aion(t, home, "run", file)
			o := e.outcome(t)
			if e.code != 1 || o["status"] != "Failed" || time.Since(started) > 2*time.Minute {
				t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
			}
			if f, ok := o["failure"].(map[string]any); !ok || !strings.Contains(f["message"].(string)+e.stderr, c.want) {
				t.Errorf("the failure does not say %s: %v", c.want, o["failure"])
			}
		})
	}
}
