package e2e_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // to hold the store's file
)

// document is a workflow of one step, called after its only action, that runs a shell command with the words dir and key.
// What it prints is its result.
func document(name, script, directives string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace("sh -c '" + script + "' " + name + " {{dir}} {{key}}")
	return fmt.Sprintf(`//! One command.
workflow %[1]s
  input dir: String
  input key: String
  outcome done: type Done, route success

type Done { value: String }

worker shell
  action %[1]s_it(dir: String, key: String) -> String
%[3]s    run "%[2]s" capture text

step only
  %[1]s_it(dir: dir, key: key) -> value
  route done(value: value)
`, name, quoted, directives)
}

// stubborn runs below two levels of processes that ignore TERM until the file dir/go is there; $1 stands in every command
// line. It leaves the file dir/key.begun when all stand.
const stubborn = `loop="while [ ! -e \$1/go ]; do sleep 0.2; done"; if [ ! -e "$1/go" ]; then ` +
	`trap "" TERM; setsid sh -c "trap \"\" TERM; $loop" deep "$1" & sh -c "$loop" flat "$1" & fi; ` +
	`touch "$1/$2.begun"; eval "$loop"; wait; echo "$2"`

func begun(t testing.TB, dir string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d commands run", n), func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "*.begun"))
		return err == nil && len(found) >= n
	})
}

func (c *client) startMany(workflowType, dir, prefix string, n int) []string {
	c.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = c.start(workflowType, map[string]any{"dir": dir, "key": fmt.Sprintf("%s%d", prefix, i)})
	}
	return ids
}

func (c *client) attempts(id string) (started, failed []map[string]any) {
	c.t.Helper()
	for _, e := range c.history(id) {
		data := e["data"].(map[string]any)
		switch e["type"] {
		case "ActivityStarted":
			started = append(started, data)
		case "ActivityFailed":
			failed = append(failed, data)
		}
	}
	return started, failed
}

const many = 50

// actions 39; report 44
func TestAKilledServerLeavesNoCommandAndRunsEveryoneAgain(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	c := connect(t, s)
	c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	ids := c.startMany("stubborn", dir, "r", many)
	begun(t, dir, many)
	if n := processes(t, dir); n < 3*many {
		t.Errorf("%d processes run", n)
	}
	killed := time.Now()
	s.kill()
	eventually(t, "all commands are gone", func() bool { return processes(t, dir) == 0 })
	t.Logf("%d trees were gone %s after the kill", many, time.Since(killed).Round(time.Millisecond))

	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = serve(t, home)
	c = connect(t, s)
	for _, id := range ids {
		c.untilEnded(id)
		started, failed := c.attempts(id)
		if len(started) != 2 || started[1]["attempt"] != 2.0 || len(failed) != 1 || failed[0]["class"] != "lost" || failed[0]["code"] != "server_died" {
			t.Errorf("run %s: started %v, failed %v", id, started, failed)
		}
	}
	if n := strings.Count(s.log.String(), "declared action was in flight when the previous server process ended"); n != many {
		t.Errorf("%d notes of commands in flight", n)
	}
	if left, err := os.ReadDir(filepath.Join(home, "attempts")); err != nil || len(left) > many+1 { // one place per command, and one for the guard
		t.Errorf("ledger %v, %v", left, err)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ends with %d", code)
	}
	if left, err := os.ReadDir(filepath.Join(home, "attempts")); err != nil || len(left) != 0 {
		t.Errorf("ledger %v, %v", left, err)
	}
}

// actions 50
func TestADrainRecordsWhatEndsAndGoesOnWithTheRest(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--drain.timeout", "4s", "--actions.kill_grace", "200ms")
	c := connect(t, s)
	c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	c.deploy("short.awl", document("short", `touch "$1/$2.begun"; while [ ! -e "$1/draining" ]; do sleep 0.1; done; sleep 0.5; echo "$2"`, ""))
	long := c.startMany("stubborn", dir, "long", many/2)
	short := c.startMany("short", dir, "short", many/2)
	begun(t, dir, many)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the drain begins", func() bool { return strings.Contains(s.log.String(), "draining") })
	if err := os.WriteFile(filepath.Join(dir, "draining"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if <-s.done; s.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("the drain ends with %d:\n%s", s.cmd.ProcessState.ExitCode(), s.log)
	}
	if n := processes(t, dir); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = serve(t, home)
	c = connect(t, s)
	for _, id := range append(short, long...) {
		d := c.untilEnded(id)
		started, failed := c.attempts(id)
		if d["status"] != "Completed" || len(failed) != 0 || len(started) == 0 || started[len(started)-1]["attempt"] != 1.0 {
			t.Errorf("run %s: %v, started %v, failed %v", id, d["status"], started, failed)
		}
	}
	for _, id := range long[:3] {
		page := c.must("read_transcript", map[string]any{
			"namespace": "default", "workflow_id": id, "run_id": c.describe(id)["run_id"], "activity_id": 0, "attempt": 1, "limit": 100,
		})
		text := fmt.Sprint(page["events"])
		if !strings.Contains(text, "resumed_after_drain") || !strings.Contains(text, "stopping") {
			t.Errorf("transcript %s", text)
		}
	}
	if n := strings.Count(s.log.String(), "declared action was in flight"); n != 0 {
		t.Errorf("%d parked attempts count as lost", n)
	}
}

// actions 51
func TestASecondSignalKillsAtOnce(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--actions.kill_grace", "1m", "--actions.claim_ttl", "2m")
	c := connect(t, s)
	c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	c.startMany("stubborn", dir, "r", 5)
	begun(t, dir, 5)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the drain begins", func() bool { return strings.Contains(s.log.String(), "draining") })
	second := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
	t.Logf("ended %s after the second signal", time.Since(second).Round(time.Millisecond))
	if code := s.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d:\n%s", code, s.log)
	}
	if n := processes(t, dir); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// actions 51, 5.3: also while nothing can be written: another program holds the store's file. What cannot be parked or
// recorded then is told by the exit code, and runs again.
func TestAStoreThatIsAwayKeepsNoServerFromItsEnd(t *testing.T) {
	t.Parallel()
	for signals, want := range map[int]int{1: 1, 2: 130} {
		t.Run(fmt.Sprintf("%d signals", signals), func(t *testing.T) {
			t.Parallel()
			home, dir := newHome(t), t.TempDir()
			s := serve(t, home, "--drain.timeout", "1s", "--transcript.flush_timeout", "1s")
			c := connect(t, s)
			c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
			ids := c.startMany("stubborn", dir, "r", 2)
			begun(t, dir, 2)
			db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "aion.db")+"?_txlock=immediate")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			held, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
			eventually(t, "the drain begins", func() bool { return strings.Contains(s.log.String(), "draining") })
			began := time.Now()
			if signals == 2 {
				_ = s.cmd.Process.Signal(syscall.SIGTERM)
			}
			select {
			case <-s.done:
			case <-time.After(60 * time.Second):
				t.Fatalf("the server does not end:\n%s", s.log)
			}
			t.Logf("ended after %s", time.Since(began).Round(time.Millisecond))
			if code := s.cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("exit %d, want %d:\n%s", code, want, s.log)
			}
			eventually(t, "all commands are gone", func() bool { return processes(t, dir) == 0 })
			if err := held.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c = connect(t, serve(t, home))
			for _, id := range ids {
				if d := c.untilEnded(id); d["status"] != "Completed" {
					t.Errorf("%v", d)
				}
			}
		})
	}
}

// actions 52, 56
func TestACommandThatKillsItsServerIsGivenUp(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	c := connect(t, s)
	c.deploy("killer.awl", document("killer", `echo x >> "$1/ran"; read -r a b c server rest < /proc/$PPID/stat; kill -9 "$server"; sleep 60`,
		"    retry 1 every 1s\n"))
	id := c.start("killer", map[string]any{"dir": dir, "key": "k"})
	for range 5 {
		<-s.done
		s = serve(t, home)
	}
	c = connect(t, s)
	if d := c.untilEnded(id); d["status"] != "Failed" {
		t.Errorf("the run is %v", d["status"])
	}
	_, failed := c.attempts(id)
	if len(failed) != 5 || lines(t, filepath.Join(dir, "ran")) != 5 {
		t.Errorf("failed %v", failed)
	}
	for i, f := range failed {
		if f["class"] != "lost" || f["attempt"] != float64(i+1) || (f["retry_at"] == nil) != (i == 4) {
			t.Errorf("attempt %d: %v", i+1, f)
		}
	}
}

// actions 47
func TestACancelledRunHasNoCommandAndNoEventAfterIt(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home, "--actions.kill_grace", "200ms")
	c := connect(t, s)
	c.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	id := c.start("stubborn", map[string]any{"dir": dir, "key": "r"})
	begun(t, dir, 1)
	c.must("cancel", map[string]any{"namespace": "default", "workflow_id": id})
	if d := c.describe(id); d["status"] != "Cancelled" {
		t.Errorf("the run is %v", d["status"])
	}
	eventually(t, "the command is gone", func() bool { return processes(t, dir) == 0 })
	names := types(c.history(id))
	if names[len(names)-1] != "WorkflowCancelled" {
		t.Errorf("history %v", names)
	}
}

// actions 26, 63, 79
func TestNoLogLineHoldsAnArgumentAnInputOrASecret(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	const secret, argument = "s3cr3t-value-of-the-operator", "argument-of-the-caller"
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "aion.yaml")
	text := fmt.Sprintf("actions:\n  env:\n    - {name: TOKEN, from_file: %s/token, queues: [shell], secret: true}\n", dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, home, "--config", config, "--log.level", "debug")
	c := connect(t, s)
	c.deploy("shown.awl", document("shown", `echo "$2 $TOKEN"; echo "$TOKEN" >&2`, ""))
	c.deploy("failing.awl", document("failing", `echo "$2 $TOKEN" >&2; exit 3`, ""))
	c.deploy("missing.awl", strings.Replace(document("missing", "true", ""), "sh -c 'true' missing", "no-such-program", 1))
	c.deploy("late.awl", document("late", `echo "$2 $TOKEN"; sleep 60 & sleep 60`, "    timeout 1s\n"))
	c.deploy("orphaned.awl", document("orphaned", `echo "$2 $TOKEN"; kill -9 $PPID; sleep 60`, ""))
	var shown string
	for _, name := range []string{"shown", "failing", "missing", "late", "orphaned"} {
		id := c.start(name, map[string]any{"dir": dir, "key": argument})
		d := c.untilEnded(id)
		shown += fmt.Sprint(d, c.history(id), c.must("read_transcript", map[string]any{
			"namespace": "default", "workflow_id": id, "run_id": d["run_id"], "activity_id": 0, "attempt": 1,
		}))
	}
	if strings.Contains(shown, secret) || !strings.Contains(shown, argument+" ***") {
		t.Errorf("shown: %s", shown)
	}
	s.stop()
	if log := s.log.String(); strings.Contains(log, secret) || strings.Contains(log, argument) {
		t.Errorf("log: %s", log)
	}
}

// actions 77, 78
func TestTheOperatorsPolicyIsSaidAtTheDeployAndInTheProbe(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home, "--actions.allowed_programs", "git,env")
	c := connect(t, s)
	saved := c.must("save_document", map[string]any{"path": "w.awl", "source": document("w", "true", "")})
	deployed := c.must("deploy_document", map[string]any{"path": "w.awl", "content_hash": saved["content_hash"]})
	if got := fmt.Sprint(deployed["deployment"]); !strings.Contains(got, "program `sh` is not admitted by `actions.allowed_programs`") {
		t.Errorf("warnings %s", got)
	}
	id := c.start("w", map[string]any{"dir": "/", "key": "k"})
	c.untilEnded(id)
	if _, failed := c.attempts(id); len(failed) != 1 || failed[0]["class"] != "policy_refused" || failed[0]["code"] != "program_not_allowed" {
		t.Errorf("failed %v", failed)
	}
	if !strings.Contains(s.log.String(), "actions.allowed_programs names env, which runs any other program") {
		t.Errorf("log %s", s.log)
	}
	var answer struct {
		Status string
		Checks []struct{ Name, Status, Detail string }
	}
	eventually(t, "the server is ready", func() bool {
		resp, err := http.Get(s.url + "/health/ready")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(body, &answer) == nil
	})
	if got := fmt.Sprint(answer); !strings.Contains(got, "{actions.isolation pass none}") || !strings.Contains(got, "{actions.containment pass supervisors") {
		t.Errorf("checks %s", got)
	}
}

// actions 10: with callers that are told apart, commands of the server's own user are a hole; so is a list of programs with
// one that runs any other, and a root that the commands' user cannot come to.
func TestTheStartNamesSettingsThatDoLessThanTheySeemTo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(sharedSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	auth := []string{"--auth.mode", "token", "--auth.token_file", file}
	s := serve(t, newHome(t), append(auth, "--actions.allowed_programs", "git,env")...)
	for _, want := range []string{"actions.run_as is not set", "actions.allowed_programs names env"} {
		eventually(t, want, func() bool { return strings.Contains(s.log.String(), want) })
	}
	if off := serve(t, newHome(t), append(auth, "--actions.declared_bodies", "off")...); off.stop() != 0 || strings.Contains(off.log.String(), "run_as") {
		t.Errorf("a server that runs no command warns of commands:\n%s", off.log)
	}
	if os.Geteuid() != 0 {
		return // another user needs root
	}
	s = serve(t, newHome(t), append(auth, "--actions.run_as", "nobody")...)
	eventually(t, "the root is named", func() bool {
		return strings.Contains(s.log.String(), "actions.run_as nobody cannot use actions.workspace_root")
	})
	if strings.Contains(s.log.String(), "actions.run_as is not set") {
		t.Error("it is set")
	}
}

// actions 53: on a store of one server, whoever comes second is refused, also while the first stands still for longer than
// anybody would wait; what it runs is run once.
func TestASecondServerNeverRunsWhatTheFirstOneHolds(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	s := serve(t, home)
	c := connect(t, s)
	c.deploy("once.awl", document("once", `echo x >> "$1/ran"; touch "$1/$2.begun"; while [ ! -e "$1/go" ]; do sleep 0.1; done; echo "$2"`, ""))
	id := c.start("once", map[string]any{"dir": dir, "key": "k"})
	begun(t, dir, 1)
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if second := aion(t, home, "server", "--listen", "127.0.0.1:0"); second.code == 0 || !strings.Contains(second.stderr, "locked") {
			t.Errorf("after %s the second server ends with %d: %s", signal, second.code, second.stderr)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := c.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("the run is %v", d["status"])
	}
	started, failed := c.attempts(id)
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil || string(ran) != "x\n" || len(started) != 1 || len(failed) != 0 {
		t.Errorf("ran %q, %v, started %v, failed %v", ran, err, started, failed)
	}
}
