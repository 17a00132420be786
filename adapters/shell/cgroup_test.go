package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/domain/action"
	"aion/ports"
)

// delegated is the directory below which this process may make cgroups; without one the test is skipped.
func delegated(t *testing.T) string {
	t.Helper()
	x, err := shell.New(options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	dir, ok := strings.CutPrefix(x.Containment(), "supervisors and cgroups below ")
	if !ok {
		t.Skip("no delegated cgroup here: " + x.Containment())
	}
	return dir
}

// actions 39, 40, 41: a killed server, and a killed server whose supervisors died with it, by supervisors alone and with
// cgroups. What leaves the tree of its parent is in its cgroup still. Groups have no supervisors: there the next start ends all.
func TestKilledServersLeaveNothingInEveryKindOfContainment(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainAuto, shell.ContainSupervisor, shell.ContainGroup} {
		for _, with := range []string{"server", "server and supervisors"} {
			t.Run(kind+", "+with, func(t *testing.T) {
				t.Parallel()
				if kind == shell.ContainAuto {
					delegated(t)
				}
				home := t.TempDir()
				cmd := exec.Command(os.Args[0], serverMode, home, `sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; sleep 300" &); sleep 300'`)
				cmd.Env, cmd.Stderr = append(os.Environ(), contained+"="+kind), os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the tree stands", func() bool { return len(holders(t, home)) >= 5 })
				if with != "server" {
					endSupervisors(t, cmd.Process)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				o := options(home)
				o.Containment = kind
				x, err := shell.New(o)
				if err != nil {
					t.Fatal(err)
				}
				if found, err := x.CleanUp(t.Context()); err != nil || len(found) != 1 {
					t.Errorf("found %v, %v", found, err)
				}
				if left := holders(t, home); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

// endSupervisors stops a server and kills what it started, so that nothing of it can react.
func endSupervisors(t *testing.T, server *os.Process) {
	t.Helper()
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	table, err := supervise.Table()
	if err != nil {
		t.Fatal(err)
	}
	var supervisors []int
	for _, p := range supervise.Below(table, server.Pid) {
		if p.Parent == server.Pid {
			_ = syscall.Kill(p.Pid, syscall.SIGSTOP) // all of them first, because one looks after the others
			supervisors = append(supervisors, p.Pid)
		}
	}
	for _, pid := range supervisors {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// actions 41: boot finds leftovers by the name of their cgroup alone, and leaves those of a living server as they are.
func TestBootEndsWhatIsInTheCgroupOfAServerThatIsGone(t *testing.T) {
	t.Parallel()
	base := delegated(t)
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	self, _ := supervise.Find(os.Getpid())
	namespace := strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	place := func(start uint64) (string, *exec.Cmd) {
		dir := filepath.Join(base, fmt.Sprintf("attempt-%s-%d-%d-cgrouptest-1", namespace, os.Getpid(), start))
		mkdir(t, dir)
		at, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = at.Close() }()
		cmd := exec.Command("sleep", "300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: int(at.Fd())}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			eventually(t, "the cgroup is removed", func() bool { return os.Remove(dir) == nil || os.IsNotExist(os.Remove(dir)) })
		})
		return dir, cmd
	}
	gone, lost := place(1) // this process's pid, but another process: it began later
	mkdir(t, gone+"/below")
	lives, kept := place(self.Start)
	x, err := shell.New(options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := x.CleanUp(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if p, ok := supervise.Find(lost.Process.Pid); ok && !p.Dead() {
		t.Error("what a dead server left lives on")
	}
	_ = lost.Wait()
	if p, ok := supervise.Find(kept.Process.Pid); !ok || p.Dead() {
		t.Error("a process of a living server was killed")
	}
	if _, err := os.Stat(lives); err != nil {
		t.Error(err)
	}
	if _, err := x.CleanUp(t.Context()); err != nil { // a killed process may be in its cgroup until it is reaped
		t.Error(err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("the cgroup of a dead server is there: %v", err)
	}
}

// actions 4.4: what a command makes of its cgroup is its own: the next command has another one, and nothing of it stays.
func TestACgroupThatACommandDividedIsForNoOther(t *testing.T) {
	t.Parallel()
	base := delegated(t)
	x := open(t)
	const own = `$(basename "$(sed -n "s/^0:://p" /proc/self/cgroup)")`
	first := execute(t, x, run(`sh -c 'c=`+own+`; cd `+base+`/$c && mkdir -p a/b z && echo $c'`, action.CaptureText))
	second := execute(t, x, run(`sh -c 'echo `+own+`'`, action.CaptureText))
	third := execute(t, x, run(`sh -c 'echo `+own+`'`, action.CaptureText))
	if !strings.HasPrefix(first, `completed:"attempt-`) || first == second || second != third {
		t.Errorf("got %s, then %s, then %s", first, second, third)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	for _, got := range []string{first, second} {
		dir := filepath.Join(base, strings.Trim(strings.TrimPrefix(got, "completed:"), `"`))
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", dir, err)
		}
	}
}

// delegates tells whether commands of an executor get a controller of this host.
func delegates(t *testing.T, x *shell.Executor, controller string) bool {
	t.Helper()
	base, ok := strings.CutPrefix(x.Containment(), "supervisors and cgroups below ")
	if !ok {
		return false
	}
	have, err := os.ReadFile(filepath.Join(base, "cgroup.subtree_control"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(have), controller)
}

// actions 41: a host that delegates the controller of processes limits root too; on another one root is told at the start
// that the limit does nothing.
func TestACommandForksNoFurtherThanItsLimit(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.Limits.Processes = 20 })
	warned := strings.Contains(strings.Join(x.Warnings(), "\n"), "actions.limits.processes has no effect")
	if !delegates(t, x, "pids") {
		if warned != (os.Geteuid() == 0) {
			t.Errorf("user %d: %v", os.Geteuid(), x.Warnings())
		}
		return
	}
	if warned {
		t.Errorf("%v", x.Warnings())
	}
	for range 2 { // what was forked is gone with its command
		got := execute(t, x, run(`sh -c 'for i in 1 2 3 4 5 6; do sleep 300 & sleep 300 & sleep 300 & sleep 300 & done; echo forked'`))
		if !strings.HasPrefix(got, "exit_nonzero retryable:") || !strings.Contains(strings.ToLower(got), "fork") {
			t.Errorf("got %.200s", got)
		}
		if got := execute(t, x, run(`sh -c 'sleep 0 & sleep 0 & wait; echo waited'`, action.CaptureText)); got != `completed:"waited"` {
			t.Errorf("got %.200s", got)
		}
	}
}

// actions 41: where the memory controller is delegated the kernel's kill is the verdict; elsewhere the limit is one of
// address space, and the command meets it itself.
func TestACommandOverItsMemoryDoesNotGetIt(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.Limits.MemoryBytes = 64 << 20 })
	want := "exit_" // by its own hand, or by a signal
	if delegates(t, x, "memory") {
		want = "out_of_memory retryable:"
	}
	for range 2 { // a kill that was seen is not seen again
		if got := execute(t, x, run(`sh -c 'x=$(head -c 300000000 /dev/zero | tr "\0" x); echo $x'`)); !strings.HasPrefix(got, want) {
			t.Errorf("got %.200s, want %s", got, want)
		}
		if got := execute(t, x, run("sh -c 'exit 3'")); !strings.HasPrefix(got, "exit_nonzero") {
			t.Errorf("got %.200s", got)
		}
	}
}

// actions 41: the limit is written before a command starts, and what the kernel says of its end is the verdict. Here a
// command plays the kernel, so that this also holds where nothing is delegated.
func TestWhatTheKernelKilledForWantOfMemoryIsOutOfMemory(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	o.Containment, o.Limits.MemoryBytes = shell.ContainGroup, 64<<20
	x, err := shell.New(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	x.PlainCgroup(dir)
	killed := func(n int, end string) string {
		return fmt.Sprintf(`cd %s/attempt-*; echo "oom_kill %d" > memory.events; %s`, dir, n, end)
	}
	command := func(script string) ports.Execution { return run("sh -c '"+script+"'", action.CaptureText) }
	got := execute(t, x, command(killed(1, "kill -9 $$")))
	for _, want := range []string{"out_of_memory retryable:", "actions.limits.memory_bytes", "67108864"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := execute(t, x, run("sh -c 'kill -9 $$'")); !strings.HasPrefix(got, "exit_signal retryable:") {
		t.Errorf("a kill that was seen is seen again: %s", got)
	}
	// A kill belongs to the command that it happened in, whatever became of that one.
	if got := execute(t, x, command(killed(2, "echo fine"))); got != `completed:"fine"` {
		t.Errorf("it did without the process that was killed: %s", got)
	}
	if got := execute(t, x, run("sh -c 'exit 3'")); !strings.HasPrefix(got, "exit_nonzero retryable:") {
		t.Errorf("the kill of an earlier command: %s", got)
	}
	p, err := x.Start(t.Context(), shell.Command{Name: "harness", Argv: []string{"sh", "-c", killed(3, "exit 0")}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if code, err := p.Wait(); code != 0 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
	if got := execute(t, x, run("sh -c 'exit 3'")); !strings.HasPrefix(got, "exit_nonzero retryable:") {
		t.Errorf("the kill of a process that was no command: %s", got)
	}
	leaves, err := filepath.Glob(dir + "/attempt-*")
	if err != nil || len(leaves) != 1 {
		t.Fatalf("cgroups %v, %v", leaves, err)
	}
	for file, want := range map[string]string{"memory.max": "67108864", "memory.oom.group": "1", "memory.swap.max": "0"} {
		if have, err := os.ReadFile(filepath.Join(leaves[0], file)); err != nil || string(have) != want {
			t.Errorf("%s is %q, %v", file, have, err)
		}
		_ = os.Remove(filepath.Join(leaves[0], file)) // the kernel's own files do not keep a directory
	}
	_ = os.Remove(filepath.Join(leaves[0], "memory.events"))
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
