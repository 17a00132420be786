package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/domain/action"
	"aion/ports"
)

// start executes in the background and waits for the command to say that it is up.
func start(t *testing.T, x *shell.Executor, e ports.Execution) (stop context.CancelCauseFunc, verdict <-chan string, rec *recorder) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	rec = &recorder{}
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(ctx, e, rec)) }()
	eventually(t, "the command is up", func() bool {
		return strings.Contains(strings.Join(rec.texts("command stdout"), " "), "up")
	})
	return cancel, done, rec
}

// The trees that a command may grow. Each says `up` when it stands.
func hostile() map[string]string {
	return map[string]string{
		"background":            `sh -c 'sleep 300 & echo up; sleep 300'`,
		"ignores term":          `sh -c 'trap "" TERM; sleep 300 & echo up; while :; do sleep 1; done'`,
		"double fork":           `sh -c 'setsid sh -c "trap \"\" TERM; (setsid sleep 300 &) ; (sleep 300 &); sleep 300" & echo up; sleep 300'`,
		"stopped":               `sh -c 'sleep 300 & kill -STOP $!; (setsid sh -c "kill -STOP \$\$" &); echo up; kill -STOP $$'`,
		"chain":                 `sh -c 'echo "trap : TERM; sleep 0.005; setsid sh \$0 & exit" > c; setsid sh c & echo up; sleep 300'`,
		"holds pipe":            `sh -c 'yes > /dev/null & (setsid sleep 300 &) ; echo up; exec sleep 300'`,
		"stops server":          `sh -c 'kill -STOP $PPID; echo up; sleep 300'`,
		"stops server for ever": `sh -c 'trap "" TERM; echo up; while :; do kill -STOP $PPID; done'`,
		"fork tree":             `sh -c 'f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; sleep 300; }; f 5 & echo up; wait'`,
	}
}

// actions 35, 36, 37, 47; report 25
func TestACancelEndsEveryTree(t *testing.T) {
	t.Parallel()
	for name, command := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, e := open(t), run(command)
			stop, verdict, rec := start(t, x, e)
			stop(ports.StopRunClosed)
			if got := <-verdict; got != "dropped" {
				t.Errorf("got %s", got)
			}
			if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if got := rec.statuses(); !strings.Contains(got, `{"cause":"run_closed","status":"stopping"}`) {
				t.Errorf("statuses: %s", got)
			}
		})
	}
}

func TestACommandThatStopsItsSupervisorAndEndsIsNoticed(t *testing.T) {
	t.Parallel()
	x := open(t)
	if got := execute(t, x, run(`sh -c 'kill -STOP $PPID; echo done'`, action.CaptureText)); got != `completed:"done"` {
		t.Errorf("got %s", got)
	}
}

// actions 34; reports 43, 47
func TestTheLeaderDecidesAndStragglersAreEnded(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"background":  `sh -c 'sleep 60 & echo hi'`,
		"subshell":    `sh -c '(exec sleep 60) & echo hi'`,
		"pipeline":    `sh -c 'sleep 60 | sleep 60 & echo hi'`,
		"daemon":      `sh -c '(setsid sleep 60 &) ; echo hi'`,
		"ignores all": `sh -c '(trap "" TERM INT HUP; exec setsid sleep 60) & echo hi'`,
	} {
		count := 1
		if name == "pipeline" {
			count = 2
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, e, rec := open(t), run(command), &recorder{}
			if got := text(x.Execute(t.Context(), e, rec)); got != `completed:{"exit_code":0,"stdout":"hi","stderr":""}` {
				t.Errorf("got %s", got)
			}
			if got := rec.statuses(); got != fmt.Sprintf(`{"count":%d,"status":"leftovers_stopped"}`, count) {
				t.Errorf("statuses: %s", got)
			}
			if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// actions 34: once the leader has exited nothing that comes later changes the verdict.
func TestAStopBehindTheExitChangesNothing(t *testing.T) {
	t.Parallel()
	x, rec := open(t, func(o *shell.Options) { o.KillGrace = time.Second }), &recorder{}
	e := run(`sh -c '(trap "" TERM; echo up; exec sleep 60) & while [ ! -e go ]; do sleep 0.02; done; exit 4'`)
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(ctx, e, rec)) }()
	eventually(t, "it stands", func() bool { return len(rec.texts("command stdout")) > 0 })
	write(t, fmt.Sprintf("/proc/%d/cwd/go", holders(t, string(e.Dispatch.Key.RunID))[0]), "", 0o600)
	eventually(t, "the rest is being stopped", func() bool { return strings.Contains(rec.statuses(), "leftovers_stopped") })
	stop(ports.StopCancelled)
	if got := <-done; !strings.HasPrefix(got, "exit_nonzero retryable:exited with code 4") || strings.Contains(rec.statuses(), "stopping") {
		t.Errorf("got %s, statuses %s", got, rec.statuses())
	}
}

// actions 38
//
//nolint:paralleltest // children that this executor does not know, such as those of other tests, are escaped ones: it kills them
func TestASupervisorThatIsKilledLosesItsAttemptAndNothingElse(t *testing.T) {
	x, e := open(t), run(`sh -c 'setsid sh -c "trap \"\" TERM; sleep 300" & echo up $PPID; sleep 300'`)
	_, verdict, rec := start(t, x, e)
	pid, err := strconv.Atoi(strings.Fields(rec.texts("command stdout")[0])[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := <-verdict; !strings.HasPrefix(got, "supervisor_lost lost:") {
		t.Errorf("got %s", got)
	}
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if got := execute(t, x, run("echo healed", action.CaptureText)); got != `completed:"healed"` {
		t.Errorf("got %s", got)
	}
	if c := x.Counts(); c.Escaped == 0 || c.Busy != 0 || c.Idle != 1 || c.Stuck != 0 || c.ContainmentFailures != 0 {
		t.Errorf("counted %+v", c)
	}
}

// actions 36, 38: what a killed supervisor leaves may stop whatever the same user runs, until it is killed itself; other
// supervisors, with a command and without one, are let go on. (Who stops the server stops everything: only another user's
// commands cannot.)
//
//nolint:paralleltest // see above
func TestAnOrphanThatStopsOtherSupervisorsStopsNoOtherAttempt(t *testing.T) {
	x := open(t)
	supervisor := func(rec *recorder) string { return strings.Fields(rec.texts("command stdout")[0])[1] }
	other := run(`sh -c 'trap "" TERM; sleep 300 & echo up $PPID; exec sleep 300'`)
	stop, verdict, rec := start(t, x, other)
	victims := supervisor(rec)
	stopFirst, first, rec := start(t, x, run(`sh -c 'echo up $PPID; exec sleep 300'`))
	victims += " " + supervisor(rec)
	stopSecond, second, _ := start(t, x, run(`sh -c 'echo up; exec sleep 300'`))
	stopFirst(ports.StopCancelled)
	<-first
	stopSecond(ports.StopCancelled)
	<-second // its supervisor is the next one to be used, that of the first stays idle
	e := run(`sh -c 'setsid sh -c "trap \"\" TERM; while :; do kill -STOP ` + victims + `; done" & echo up; kill -9 $PPID; sleep 300'`)
	if got := execute(t, x, e); !strings.HasPrefix(got, "supervisor_lost lost:") {
		t.Errorf("got %s", got)
	}
	if got := execute(t, x, run("echo idle", action.CaptureText)); got != `completed:"idle"` {
		t.Errorf("the next command: %s", got)
	}
	stop(ports.StopCancelled)
	if got := <-verdict; got != "dropped" {
		t.Errorf("the other attempt: %s", got)
	}
	for _, e := range []ports.Execution{e, other} {
		if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// serve starts a server process that runs commands, and waits for them to be up.
func serve(t *testing.T, home string, commands ...string) *exec.Cmd {
	t.Helper()
	return serveIn(t, shell.ContainAuto, home, commands...)
}

// serveIn is serve in a kind of containment. Where a server has cgroups, what it leaves may be ended by the boot of any other one
// on this host.
func serveIn(t *testing.T, kind, home string, commands ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{serverMode, home}, commands...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), contained+"="+kind), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if !scan(out, "up") {
		t.Fatal("the server did not start")
	}
	return cmd
}

// actions 39; report 44
func TestAServerThatIsKilledLeavesNoProcessAndItsAttemptsAreFoundAtBoot(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const tree = `sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; sleep 300" &); (setsid sleep 300 &); sleep 300'`
	cmd := serve(t, home, tree, tree, tree)
	eventually(t, "all trees stand", func() bool { return len(holders(t, home)) >= 3*3 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all trees are gone", func() bool { return len(holders(t, home)) == 0 })

	x, err := shell.New(options(home))
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.CleanUp(t.Context())
	if err != nil || len(found) != 3 || found[0].Action != "go" || found[0].Server != "test" {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err := x.CleanUp(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("again found %v, %v", found, err)
	}
	for _, dir := range []string{"attempts", "scratch"} {
		if left, err := os.ReadDir(home + "/" + dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", dir, left, err)
		}
	}
}

// actions 5.5: a server that is dead is known as such also when no command ran any more: how the last one ended may not have
// been recorded.
func TestAServerThatDiedWithoutACommandIsKnown(t *testing.T) {
	t.Parallel()
	home, lives, dead := "", mkdir(t, filepath.Join(t.TempDir(), "lives")), mkdir(t, filepath.Join(t.TempDir(), "dead"))
	if got := execute(t, open(t, func(o *shell.Options) { home = o.Home }), run("true")); !strings.HasPrefix(got, "completed:") {
		t.Error(got)
	}
	var entry string
	eventually(t, "the ledger names the supervisor", func() bool {
		files, _ := filepath.Glob(home + "/attempts/*.json")
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && len(raw) > 0 {
				entry = string(raw)
			}
		}
		return entry != ""
	})
	for home, was := range map[string]string{lives: "", dead: "0"} {
		x, err := shell.New(options(home))
		if err != nil {
			t.Fatal(err)
		}
		own := fmt.Sprintf(`"server_process":{"pid":%d`, os.Getpid())
		write(t, home+"/attempts/a.json", strings.Replace(entry, own, own+was, 1), 0o600) // another pid
		found, err := x.CleanUp(t.Context())
		if want := map[string]string{"": "[]", "0": "[test]"}[was]; err != nil || len(found) != 0 || fmt.Sprint(x.Died()) != want {
			t.Errorf("found %v, %v, died %v, want %s", found, err, x.Died(), want)
		}
	}
}

// actions 39: not even a tree that stops its supervisor over and over outlives the server.
func TestEveryTreeDiesWithItsServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	commands := slices.Collect(maps.Values(hostile()))
	cmd := serve(t, home, commands...)
	eventually(t, "the trees stand", func() bool { return len(holders(t, home)) >= 3*len(commands) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all trees are gone", func() bool { return len(holders(t, home)) == 0 })
	x, err := shell.New(options(home))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := x.CleanUp(t.Context()); err != nil || len(found) != len(commands) {
		t.Errorf("found %v, %v", found, err)
	}
}

// actions 40
func TestWhatAServerAndItsSupervisorLeftIsKilledAtBoot(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := serve(t, home, `sh -c 'trap "" TERM; (setsid sleep 300 &); sleep 300'`)
	eventually(t, "the tree stands", func() bool { return len(holders(t, home)) >= 3 })
	table, err := supervise.Table()
	if err != nil {
		t.Fatal(err)
	}
	// The server is stopped first, so that both die in the same state.
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, p := range supervise.Below(table, cmd.Process.Pid) {
		if p.Parent == cmd.Process.Pid {
			_ = syscall.Kill(p.Pid, syscall.SIGSTOP)
			defer func() { _ = syscall.Kill(p.Pid, syscall.SIGKILL) }()
			_ = syscall.Kill(p.Pid, syscall.SIGKILL)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if len(holders(t, home)) < 2 {
		t.Error("the tree did not outlive its supervisor; this test shows nothing")
	}
	x, err := shell.New(options(home))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := x.CleanUp(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if left := holders(t, home); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// actions 40
func TestAReusedPidIsNotTouchedAtBoot(t *testing.T) {
	t.Parallel()
	innocent := exec.Command("sleep", "300")
	innocent.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = innocent.Process.Kill()
		_ = innocent.Wait()
	}()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	x, err := shell.New(options(home))
	if err != nil {
		t.Fatal(err)
	}
	pid := innocent.Process.Pid
	write(t, home+"/attempts/a.json", fmt.Sprintf(`{"workflow_id":"w","run_id":"r","attempt":1,"action":"go","boot_id":%q,
		"supervisor":{"pid":%d,"start_ticks":1},"leader":{"pid":%d,"start_ticks":1},"session":%d}`,
		strings.TrimSpace(string(boot)), pid, pid, pid), 0o600)
	p, _ := supervise.Find(pid)
	write(t, home+"/attempts/b.json", fmt.Sprintf(`{"workflow_id":"w","run_id":"r","attempt":2,"boot_id":"another boot",
		"supervisor":{"pid":%[1]d,"start_ticks":%[2]d},"leader":{"pid":%[1]d,"start_ticks":%[2]d},"session":%[1]d}`, pid, p.Start), 0o600)
	write(t, home+"/attempts/d.json", `{"workflow_id":"w","run_id":"r","attempt":3,"boot_id":`, 0o600)
	write(t, home+"/attempts/c.json.new", `{"workf`, 0o600)
	found, err := x.CleanUp(t.Context())
	if err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	if p, ok := supervise.Find(pid); !ok || p.Dead() {
		t.Error("an innocent process was killed")
	}
	if left, _ := os.ReadDir(home + "/attempts"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// actions 40: a process shows no environment for a moment when it executes a program; one that always does is found all the same.
func TestWhatIsLeftIsFoundWhileItExecutesPrograms(t *testing.T) {
	t.Parallel()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	home, script := t.TempDir(), filepath.Join(t.TempDir(), "again")
	write(t, script, "exec sh "+script, 0o600)
	x, err := shell.New(options(home))
	if err != nil {
		t.Fatal(err)
	}
	var left [16]*exec.Cmd
	for i := range left {
		marker := fmt.Sprint(t.Name(), "/r/", i)
		left[i] = exec.Command("sh", script)
		left[i].Env = []string{"AION_ACTIVITY_KEY=" + marker}
		left[i].SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := left[i].Start(); err != nil {
			t.Fatal(err)
		}
		write(t, fmt.Sprintf("%s/attempts/%d.json", home, i), fmt.Sprintf(`{"workflow_id":"w","run_id":"r","attempt":1,"action":"go","boot_id":%q,
			"marker":%q,"supervisor":{"pid":%d,"start_ticks":1},"leader":{"pid":%d,"start_ticks":1},"session":%d}`,
			strings.TrimSpace(string(boot)), marker, 1<<22+1, 1<<22+2, 1<<22+2), 0o600)
	}
	_, err = x.CleanUp(t.Context())
	for _, c := range left {
		if p, there := supervise.Find(c.Process.Pid); there && !p.Dead() {
			t.Errorf("%d goes on (%v)", c.Process.Pid, err)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// actions 40: what carries the key of an attempt that was left may be a later attempt of the same activity, which a server of
// another home on this host has taken over: that is looked after, by a supervisor or by that server itself.
func TestWhatAnotherServerRunsNowIsNotLeftOver(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainSupervisor, shell.ContainGroup} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			laterAttempt(t, kind)
		})
	}
}

func laterAttempt(t *testing.T, kind string) {
	t.Helper()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	other := serveIn(t, kind, there, `sh -c 'setsid sleep 300 & exec sleep 300'`)
	eventually(t, "its tree stands", func() bool { return commands(t, there) == 2 })
	entries, err := filepath.Glob(there + "/attempts/*.json")
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	var later shell.Entry
	for _, name := range entries {
		var e shell.Entry
		if raw, err := os.ReadFile(name); err == nil && json.Unmarshal(raw, &e) == nil && e.Marker != "" {
			later = e
		}
	}
	left := exec.Command("sh", "-c", "exec sleep 300")
	left.Env = []string{"AION_ACTIVITY_KEY=" + later.Marker}
	left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = left.Process.Kill() }()
	home := t.TempDir()
	o := options(home)
	o.Containment = kind
	x, err := shell.New(o)
	if err != nil {
		t.Fatal(err)
	}
	write(t, home+"/attempts/a.json", fmt.Sprintf(`{"workflow_id":"w","run_id":"r","attempt":1,"action":"go","boot_id":%q,"marker":%q,
		"supervisor":{"pid":%d,"start_ticks":1},"leader":{"pid":%d,"start_ticks":1},"session":%d}`,
		strings.TrimSpace(string(boot)), later.Marker, 1<<22+1, 1<<22+2, 1<<22+2), 0o600)
	if found, err := x.CleanUp(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if err := left.Wait(); err == nil || left.ProcessState.String() != "signal: killed" {
		t.Errorf("what was left: %v", err)
	}
	if n := commands(t, there); n != 2 {
		t.Errorf("%d processes of the later attempt live", n)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	if x, err = shell.New(options(there)); err == nil {
		_, err = x.CleanUp(t.Context())
	}
	if err != nil || commands(t, there) != 0 {
		t.Errorf("%d processes of it are left in the end, %v", commands(t, there), err)
	}
}

// actions 43. AION_SOAK makes it ten thousand.
//
//nolint:paralleltest // it counts the descriptors and goroutines of this process
func TestManyCommandsLeaveNothingBehind(t *testing.T) {
	once := open(t) // what the runtime opens for good is open after the first command
	if got := execute(t, once, run("true")); !strings.HasPrefix(got, "completed:") {
		t.Error(got)
	}
	if err := once.Close(); err != nil {
		t.Error(err)
	}
	each := 50
	if _, soak := trees(); soak {
		each = 2500
	}
	before, running := descriptors(t), runtime.NumGoroutine()
	x := open(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range each {
				command := []string{"true", "sh -c 'exit 3'", "no-such-program", "sh -c 'sleep 60 & echo hi'"}[i%4]
				if got := text(x.Execute(context.Background(), run(command), nil)); !strings.Contains("completed: exit_nonzero spawn_failed", got[:10]) {
					t.Error(got)
				}
			}
		})
	}
	all.Wait()
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= running })
}

func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// actions 44, 45, 46; report 43: also when others hold the pipes of the leader, and when it is they that go on.
func TestTheBoundEndsAnAttemptWhateverItsExitCode(t *testing.T) {
	t.Parallel()
	logged := &journal{}
	x := open(t, logged.keep)
	for _, command := range []string{
		"sleep 60", `sh -c 'trap "exit 0" TERM; while :; do sleep 0.05; done'`, `sh -c 'trap "" TERM; sleep 60 & sleep 60'`, "yes",
		`sh -c '(sleep 60); true'`, `sh -c 'sleep 60 | sleep 60'`, `sh -c 'sleep 60 & wait'`, `sh -c '(setsid sleep 60 &); (sleep 60 &); sleep 60'`,
		`sh -c '(trap "" TERM INT HUP; exec setsid sleep 60) & wait'`,
	} {
		e := run(command)
		e.Bound = 200 * time.Millisecond
		got := execute(t, x, e)
		if got != "deadline_exceeded timeout:the attempt exceeded its authored bound of 200ms" {
			t.Errorf("%s: got %s", command, got)
		}
		if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		line := logged.line(t, e.Dispatch.Key, "command exited after its bound")
		if line["level"] != "WARN" || line["exit_code"] == nil || line["bound"] != "200ms" {
			t.Errorf("%s: logged %v", command, line)
		}
	}
	for end, code := range map[string]float64{"exit 0": 0, "exit 5": 5, "kill -9 $$": 137} {
		e := run(`sh -c 'trap "` + strings.ReplaceAll(end, "$", `\\$`) + `" TERM; echo up; while :; do sleep 0.02; done'`)
		e.Bound = time.Hour
		stop, verdict, _ := start(t, x, e)
		stop(ports.StopDeadline)
		if got := <-verdict; got != "deadline_exceeded timeout:the attempt exceeded its authored bound of 1h0m0s" {
			t.Errorf("%s: got %s", end, got)
		}
		if line := logged.line(t, e.Dispatch.Key, "command exited after its bound"); line["exit_code"] != code {
			t.Errorf("%s: logged %v", end, line)
		}
	}
}

// actions 23, 44
func TestTheBoundCoversAllLines(t *testing.T) {
	t.Parallel()
	x := open(t)
	for _, lines := range [][]string{
		{"true", "sleep 60", "true"},
		slices.Repeat([]string{"true"}, 5000), // each of them shorter than the news of its start
	} {
		e := recipe(t, action.CaptureText, lines...)
		e.Bound = 300 * time.Millisecond
		if got := execute(t, x, e); !strings.HasPrefix(got, "deadline_exceeded") {
			t.Errorf("%d lines: got %s", len(lines), got)
		}
	}
}

// actions 40: the start of a leader in the ledger is the one that the kernel shows, however it came to be known.
func TestTheLedgerNamesTheStartOfTheLeader(t *testing.T) {
	t.Parallel()
	var home string
	x := open(t, func(o *shell.Options) { home = o.Home })
	for range 20 {
		stop, verdict, _ := start(t, x, run(`sh -c 'echo up; exec sleep 300'`))
		var entry struct {
			Leader struct {
				Pid   int
				Start uint64 `json:"start_ticks"`
			}
		}
		eventually(t, "the ledger names the leader", func() bool {
			files, _ := filepath.Glob(home + "/attempts/*.json")
			for _, file := range files {
				if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &entry) == nil && entry.Leader.Pid > 0 {
					return true
				}
			}
			return false
		})
		if p, ok := supervise.Find(entry.Leader.Pid); !ok || p.Start != entry.Leader.Start {
			t.Errorf("the ledger says %+v, the kernel %+v", entry.Leader, p)
		}
		stop(ports.StopCancelled)
		<-verdict
	}
}

// actions 48
func TestAStopBeforeTheSpawnStartsNothing(t *testing.T) {
	t.Parallel()
	x, dir := open(t), t.TempDir()
	for cause, want := range map[ports.StopCause]string{
		ports.StopRunClosed: "dropped", ports.StopCancelled: "dropped", ports.StopDrain: "parked", ports.StopClaimLost: "dropped",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if got := text(x.Execute(ctx, run("touch "+dir+"/marker"), nil)); got != want {
			t.Errorf("%s: got %s", cause, got)
		}
	}
	if _, err := os.Stat(dir + "/marker"); err == nil {
		t.Error("it was started")
	}
}

// actions 36, 50
func TestADrainKeepsAResultAndParksTheRest(t *testing.T) {
	t.Parallel()
	x := open(t)
	for command, want := range map[string]string{
		`sh -c 'trap "echo saved; exit 0" TERM; echo up; while :; do sleep 0.02; done'`: `completed:"up\nsaved"`,
		// A stopped one sees the signal too.
		`sh -c 'trap "echo saved; exit 0" TERM; echo up; kill -STOP $$; while :; do sleep 0.02; done'`: `completed:"up\nsaved"`,
		`sh -c 'trap "exit 3" TERM; echo up; while :; do sleep 0.02; done'`:                            "parked",
		`sh -c 'echo up; sleep 60'`: "parked",
	} {
		stop, verdict, _ := start(t, x, run(command, action.CaptureText))
		stop(ports.StopDrain)
		if got := <-verdict; got != want {
			t.Errorf("%s: got %s", command, got)
		}
	}
}

// actions 51
func TestKillEndsAllTreesWithoutAGrace(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.KillGrace = time.Hour })
	_, verdict, _ := start(t, x, run(`sh -c 'trap "" TERM; setsid sleep 300 & echo up; sleep 300'`))
	x.Kill()
	if got := <-verdict; got != "parked" {
		t.Errorf("got %s", got)
	}
}
