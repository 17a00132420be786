package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// stepping is a run that waits for files: it begins DIR/NAME.begun and goes on when DIR/NAME is there.
const stepping = `//! Two steps that wait for a file each.
workflow stepping
  input dir: String
  outcome done: type Done, route success

type Done { text: String }

worker shell
  action hold(dir: String, name: String) -> String
    run "sh -c 'echo began $2; echo x >> $1/$2.began; while [ ! -e $1/$2 ]; do sleep 0.05; done; echo ended $2' sh {{dir}} {{name}}" capture text

step first
  hold(dir: dir, name: "one") -> one

step second after first
  hold(dir: dir, name: "two") -> two
  route done(text: two)
`

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r *running) interrupt() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatal(err)
	}
}

// server 29: `aion run` beside a server uses it; Ctrl-C leaves the run going, and resume follows it there.
func TestARunBesideAServerUsesIt(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada")
	if e.code != 0 || e.outcome(t)["route"] != "success" || !strings.Contains(e.stderr, "at "+s.url) {
		t.Fatalf("%+v", e)
	}
	dir := t.TempDir()
	file := write(t, dir, "stepping.awl", stepping)
	run := begin(t, home, "run", file, "-i", "dir="+dir, "--follow", "all")
	run.until("began one")
	run.interrupt()
	left := run.ended()
	if left.code != 130 || left.stdout != "" || !strings.Contains(left.stderr, "goes on at "+s.url) {
		t.Fatalf("%+v", left)
	}
	id := regexp.MustCompile(`aion resume (\S+)`).FindStringSubmatch(left.stderr)[1]
	if status := aion(t, home, "resume", id); status.code != 0 || !strings.Contains(status.stdout, "\tRunning\n") {
		t.Fatalf("%+v", status)
	}
	follower := begin(t, home, "resume", id, "--follow", "all")
	follower.until("began one")
	write(t, dir, "one", "")
	write(t, dir, "two", "")
	if done := follower.ended(); done.code != 0 || done.outcome(t)["outcome"] != "done" {
		t.Errorf("%+v", done)
	}
	if lines(t, filepath.Join(dir, "one.began")) != 1 {
		t.Error("a step ran twice")
	}
	detached := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada", "--detach")
	if detached.code != 0 {
		t.Fatalf("%+v", detached)
	}
	if out := aion(t, home, "outcome", strings.TrimSpace(detached.stdout), "--wait"); out.code != 0 || out.outcome(t)["outcome"] != "greeted" {
		t.Errorf("%+v", out)
	}
}

// server 28: of two runs at once the second attaches; the first ends or is killed, and the second becomes the owner and
// finishes. No step that was done runs again, and each line is shown once.
func TestTheSecondOfTwoRunsTakesTheStoreOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*running){
		"interrupted": func(r *running) { r.interrupt(); _ = r.ended() },
		"killed":      func(r *running) { _ = r.cmd.Process.Kill(); _ = r.ended() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := newHome(t), t.TempDir()
			file := write(t, dir, "stepping.awl", stepping)
			other := t.TempDir()
			first := begin(t, home, "run", file, "-i", "dir="+other, "--drain", "0s")
			first.until("first")
			second := begin(t, home, "run", file, "-i", "dir="+dir, "--follow", "all")
			if line := second.until("deployed"); !strings.Contains(line, "engine.sock") {
				t.Fatalf("it has not attached: %s", line)
			}
			second.until("began one")
			write(t, dir, "one", "")
			second.until("began two")
			end(first)
			second.until("this one goes on with it")
			write(t, dir, "two", "")
			done := second.ended()
			if done.code != 0 || done.outcome(t)["outcome"] != "done" {
				t.Fatalf("%+v", done)
			}
			if n := lines(t, filepath.Join(dir, "one.began")); n != 1 {
				t.Errorf("the first step ran %d times", n)
			}
			if strings.Contains(done.stderr, "first") || strings.Count(done.stderr, "outcome") != 1 {
				t.Errorf("a line is shown again:\n%s", done.stderr)
			}
		})
	}
}

// server 3.3.4: an owner that is done waits for the one that is attached, and ends with the outcome of its own run.
func TestAnOwnerThatIsDoneWaitsForWhoIsAttached(t *testing.T) {
	t.Parallel()
	home, dir, other := newHome(t), t.TempDir(), t.TempDir()
	file := write(t, dir, "stepping.awl", stepping)
	owner := begin(t, home, "run", file, "-i", "dir="+other)
	owner.until("first")
	attached := begin(t, home, "run", file, "-i", "dir="+dir)
	attached.until("started")
	write(t, other, "one", "")
	write(t, other, "two", "")
	owner.until("outcome")
	owner.until("for 1 follower of this store")
	write(t, dir, "one", "")
	write(t, dir, "two", "")
	for _, r := range []*running{attached, owner} {
		if e := r.ended(); e.code != 0 || e.outcome(t)["outcome"] != "done" {
			t.Errorf("%+v", e)
		}
	}
}

// server 29: `aion list`, `describe` and `signal` reach an owner that is no server over its socket.
func TestCommandsReachAnOwnerOverItsSocket(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	run := begin(t, home, "run", example("approval.awl"), "-i", "change=PR-7")
	run.until("hold")
	ids := aion(t, home, "list", "--status", "Running", "-o", "id")
	id := strings.TrimSpace(ids.stdout)
	if ids.code != 0 || len(id) != 36 {
		t.Fatalf("%+v", ids)
	}
	var d map[string]any
	e := aion(t, home, "describe", id[:13], "--json")
	if err := json.Unmarshal([]byte(e.stdout), &d); err != nil || e.code != 0 || d["status"] != "Running" {
		t.Errorf("%v: %+v", err, e)
	}
	if held := aion(t, home, "pause", id[:13], "--reason", "lunch"); held.code != 0 || held.stdout != id+"\tPaused\n" {
		t.Errorf("%+v", held)
	}
	resumed := begin(t, home, "resume", id[:13])
	resumed.until("paused")
	sent := aion(t, home, "signal", id[:13], "decision", "--payload", `{"approve": true, "reviewer": "Ada"}`)
	if sent.code != 0 || !strings.HasPrefix(sent.stdout, "decision delivered to "+id) {
		t.Errorf("%+v", sent)
	}
	for _, r := range []*running{run, resumed} {
		if e := r.ended(); e.code != 0 || e.outcome(t)["outcome"] != "shipped" {
			t.Errorf("%+v", e)
		}
	}
}

// server 3.3: what has no store takes none, and --detach leaves the run to nobody.
func TestARunWithoutAServerOrAStore(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	run := begin(t, home, "run", example("approval.awl"), "-i", "change=PR-7")
	run.until("hold")
	if e := aion(t, home, "run", "--ephemeral", example("hello.awl"), "-i", "name=Ada"); e.code != 0 || strings.Contains(e.stderr, "engine.sock") {
		t.Errorf("%+v", e)
	}
	run.interrupt()
	if e := run.ended(); e.code != 130 {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada", "--detach"); e.code != 2 || !strings.Contains(e.stderr, "start one with: aion server") {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada", "--server", "http://127.0.0.1:1", "--ephemeral"); e.code != 2 {
		t.Errorf("%+v", e)
	}
}

// server 3.2: the namespace of a command is that of its flag, its environment or the configuration, whoever has the store.
func TestARunIsInTheNamespaceThatIsMeant(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	hello := []string{"run", example("hello.awl"), "-i", "name=Ada"}
	for _, beside := range []bool{false, true} {
		var args []string
		if beside {
			serve(t, home, "--namespaces.default", "fallback")
		}
		for _, ns := range []string{"", "team"} {
			if args = hello; ns != "" {
				args = append(args[:len(args):len(args)], "-n", ns)
			}
			if e := aion(t, home, args...); e.code != 0 || e.outcome(t)["namespace"] != map[string]string{"": "default", "team": "team"}[ns] {
				t.Errorf("beside a server: %v, %q: %+v", beside, ns, e)
			}
		}
	}
	if out := aion(t, home, "list", "-n", "team", "-o", "id").stdout; strings.Count(out, "\n") != 2 {
		t.Errorf("%s", out)
	}
}

// server 28: a store goes from hand to hand; whoever is left finishes, and shows the end once.
func TestAStoreGoesFromHandToHand(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	var commands []*running
	var dirs []string
	for i := range 4 {
		dir := t.TempDir()
		r := begin(t, home, "run", write(t, dir, "stepping.awl", stepping), "-i", "dir="+dir, "--follow", "all", "--drain", "0s")
		r.until("began one")
		if i > 0 {
			for _, d := range dirs {
				if lines(t, filepath.Join(d, "one.began")) != 1 {
					t.Error("an attempt began again although its owner lives")
				}
			}
		}
		commands, dirs = append(commands, r), append(dirs, dir)
	}
	_ = commands[0].cmd.Process.Kill()
	_ = commands[0].ended()
	for _, dir := range dirs[1:] {
		eventually(t, "its step runs again", func() bool { return lines(t, filepath.Join(dir, "one.began")) >= 2 })
		write(t, dir, "one", "")
	}
	for _, r := range commands[1:] {
		r.until("began two")
	}
	commands[1].interrupt()
	_ = commands[1].ended()
	for _, dir := range dirs[2:] {
		write(t, dir, "two", "")
	}
	for _, r := range commands[2:] {
		e := r.ended()
		if e.code != 0 || e.outcome(t)["outcome"] != "done" || strings.Count(e.stderr, "outcome ") != 1 {
			t.Errorf("%+v", e)
		}
	}
}
