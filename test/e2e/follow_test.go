package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "w.awl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const failing = `//! Fails after one retry.
workflow failing
  outcome done: type Nil, route success

worker shell
  action break() -> Nil
    retry 1 every 10ms
    run "sh -c 'echo oops >&2; exit 3'"

step one
  break()
  route done
`

// A failure stands on one line per attempt and on the last one, in words without their code's inner prefix.
func TestAFailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	e := aion(t, newHome(t), "run", written(t, failing))
	if e.code != 1 || strings.Count(e.stderr, "exited with code 3: oops") != 3 || strings.Contains(e.stderr, "retryable:") ||
		!strings.Contains(e.stderr, "failed         activity_failed: exited with code 3: oops\n") || strings.Contains(e.stderr, "1 steps") {
		t.Errorf("exit %d\n%s", e.code, e.stderr)
	}
}

const branches = `//! Greets every name, then asks a worker that is not there.
workflow branches
  input names: [String]
  outcome done: type Nil, route success

worker shell
  action greet(name: String) -> Nil
    run "echo hello {{name}}"
worker desk
  action decide() -> Nil

step all
  fork n in names
    greet(name: n)
  join
  decide()
  route done
`

// What runs at the same time is told apart, and a run that nobody can go on with says whom it waits for. A later command
// says what else goes on.
func TestTheFollowerTellsBranchesAndWhatIsUnserved(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	e := aion(t, home, "run", written(t, branches), "-i", "names=a", "-i", "names=b", "--follow", "all", "--timeout", "2s")
	for _, want := range []string{"all[0]         | hello a", "all[1]         | hello b", `waits for a worker "desk" to run decide: none is connected`} {
		if !strings.Contains(e.stderr, want) {
			t.Errorf("%q is not among the lines:\n%s", want, e.stderr)
		}
	}
	if e.code != 4 || strings.Contains(e.stderr, "also going on") {
		t.Errorf("exit %d\n%s", e.code, e.stderr)
	}
	_, rest, _ := strings.Cut(e.stderr, "aion resume ")
	id, _, _ := strings.Cut(rest, ")")
	if e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada"); e.code != 0 || strings.Count(e.stderr, "also going on: 1 open run ("+id+")\n") != 1 {
		t.Errorf("exit %d\n%s", e.code, e.stderr)
	}
	if e := aion(t, home, "run", "-q", example("hello.awl"), "-i", "name=Ada"); e.code != 0 || e.stderr != "" {
		t.Errorf("-q: exit %d\n%s", e.code, e.stderr)
	}
	if e := aion(t, home, "run", "-q", "--follow", "steps", example("hello.awl"), "-i", "name=Ada"); e.code != 0 || !strings.Contains(e.stderr, "started") {
		t.Errorf("-q --follow steps: exit %d\n%s", e.code, e.stderr)
	}
}

// What a start would refuse is refused before anything is stored.
func TestARefusedStartStoresNothing(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"the whole input": {"--input", `{"name":5}`},
		"a forced member": {"-i", "name:=5"},
		"the workflow id": {"-i", "name=Ada", "--workflow-id", "notuuid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			e := aion(t, home, append([]string{"run", example("hello.awl")}, args...)...)
			if e.code != 2 || strings.Contains(e.stderr, "deployed") {
				t.Errorf("exit %d\n%s", e.code, e.stderr)
			}
			if _, err := os.Stat(filepath.Join(home, "aion.db")); err == nil {
				t.Error("a store was made")
			}
		})
	}
}

// server 3.1: a refusal holds a command that helps: what is in use can be reached or gone around.
func TestALockedStoreSaysWhatElseCanBeDone(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	run := begin(t, home, "run", example("approval.awl"), "-i", "change=PR-7")
	run.until("hold")
	e := aion(t, home, "server", "--listen", "127.0.0.1:0")
	for _, want := range []string{"engine.sock", "aion mcp bridge", "aion run --ephemeral", "kill "} {
		if e.code != 3 || !strings.Contains(e.stderr, want) {
			t.Errorf("exit %d, %q is missing:\n%s", e.code, want, e.stderr)
		}
	}
	if e := aion(t, home, "run", "--ephemeral", example("hello.awl"), "-i", "name=Ada"); e.code != 0 {
		t.Errorf("what the refusal says does not help: %+v", e)
	}
}

const waiting = `//! Waits without a bound.
workflow waiting
  signal go: Bool
  outcome done: type Nil, route success

step hold
  wait go -> answer
  route done
`

// server 3.3: a run that stands still says what it stands for, and is not silent.
func TestTheFollowerSaysWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	begin(t, newHome(t), "run", written(t, waiting)).until("signal         waits for go")
}
