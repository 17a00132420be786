package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/domain/action"
	"aion/ports"
)

// asNobody is an executor whose commands run as the user nobody.
func asNobody(t *testing.T, change ...func(*shell.Options)) *shell.Executor {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("another user needs root")
	}
	return open(t, append([]func(*shell.Options){func(o *shell.Options) { o.RunAs = "nobody" }}, change...)...)
}

func TestCommandsRunAsTheirOwnUserInADirectoryOfTheirs(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Chmod(filepath.Dir(filepath.Dir(root)), 0o711); err != nil {
		t.Fatal(err)
	}
	var home string
	x := asNobody(t, func(o *shell.Options) { o.WorkspaceRoot, home = root, o.Home })
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := execute(t, x, run(`sh -c 'id -un; id -Gn; stat -c "%U %a" "$PWD"; echo x > "$PWD/f" && cat f; grep NoNewPrivs /proc/self/status >/dev/null && echo end'`, action.CaptureLines))
	if got != `completed:["nobody","nogroup","nobody 700","x","end"]` {
		t.Errorf("got %s", got)
	}
	if got := execute(t, x, run("cat "+filepath.Join(home, "secret"))); !strings.Contains(got, "Permission denied") {
		t.Errorf("the server's file: %s", got)
	}
	e := recipe(t, action.CaptureText, "stat -c %U {workspace_root}")
	if got := execute(t, x, e); got != `completed:"nobody"` {
		t.Errorf("root: %s", got)
	}
	if got := x.Isolation(); got != "run_as nobody" {
		t.Errorf("isolation %q", got)
	}
}

// actions 35, 36, 47: also what another user's command starts is ended.
func TestTreesOfAnotherUserAreEnded(t *testing.T) {
	t.Parallel()
	x := asNobody(t)
	e := run(hostile()["double fork"])
	stop, verdict, _ := start(t, x, e)
	stop(ports.StopRunClosed)
	if got := <-verdict; got != "dropped" {
		t.Errorf("got %s", got)
	}
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAUserThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"no-such-user", "nobody:no-such-group", ":", ":root", "-1"} {
		o := options(t.TempDir())
		o.RunAs = who
		if _, err := shell.New(o); err == nil || !strings.Contains(err.Error(), "actions.run_as") {
			t.Errorf("%q: %v", who, err)
		}
	}
}

// report 45: a command that forks without end is contained by the limit of processes, and ends at its bound.
func TestAForkBombIsContained(t *testing.T) {
	t.Parallel()
	// It ends; how soon, where everything else runs too, is not the claim.
	x := asNobody(t, func(o *shell.Options) { o.Limits.Processes, o.KillWait = 60, 30*time.Second })
	e := run(`sh -c 'f() { f | f & }; f; sleep 0.2; while :; do f; done'`)
	e.Bound = 2 * time.Second
	got := execute(t, x, e)
	if !strings.HasPrefix(got, "deadline_exceeded") && !strings.HasPrefix(got, "exit_nonzero") {
		t.Errorf("got %s", got)
	}
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if got := execute(t, x, run("true")); !strings.HasPrefix(got, "completed") {
		t.Errorf("afterwards: %s", got)
	}
}

func TestProcessorTimeAndMemoryAreLimited(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.Limits.CPUSeconds, o.Limits.MemoryBytes = 1, 256<<20 })
	if got := execute(t, x, run(`sh -c 'while :; do :; done'`)); !strings.HasPrefix(got, "exit_signal retryable:") {
		t.Errorf("processor: %s", got)
	}
	if got := execute(t, x, run(`sh -c 'x=$(head -c 600000000 /dev/zero | tr "\0" x); echo ended'`)); strings.HasPrefix(got, "completed:") {
		t.Errorf("memory: %.100s", got)
	}
}

// Limits hold for another user's command of a server without CAP_SYS_RESOURCE, which the kernel wants for the processes of others.
// What they cannot be set for does not run.
func TestLimitsHoldWithoutTheCapabilityToSetThoseOfOthers(t *testing.T) {
	t.Parallel()
	without := []string{"setpriv", "--bounding-set=-sys_resource"}
	if err := exec.Command(without[0], append(without[1:], "true")...).Run(); err != nil || os.Geteuid() != 0 {
		t.Skip("no capability can be dropped here: ", err)
	}
	dir := t.TempDir()
	for at := dir; len(at) > len(os.TempDir()); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/sleep", string(sleep), 0o755)
	if err := os.Chmod(dir+"/sleep", os.ModeSetuid|0o755); err != nil { // becomes root: none of the user's any more
		t.Fatal(err)
	}
	home := t.TempDir()
	for command, want := range map[string]string{
		// They are set right after the start.
		`sh -c 'for i in $(seq 3000); do n=$(grep -cE "cpu time +55 +56|processes +77 +77|address space +1073741824" /proc/self/limits);
			[ $n = 3 ] && break; sleep 0.01; done; echo $n'`: `up completed:{"exit_code":0,"stdout":"3","stderr":""}`,
		dir + "/sleep 300": "EPERM: operation not permitted; this host permits neither the program nor, if that is set, one of the limits",
	} {
		cmd := exec.Command(without[0], append(without[1:], os.Args[0], serverMode, home, command)...)
		cmd.Env, cmd.Stderr = append(os.Environ(), limited+"=nobody", contained+"="+shell.ContainSupervisor), os.Stderr
		out, err := cmd.Output()
		if got := strings.ReplaceAll(string(out), "\n", " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, %v", command, got, err)
		}
	}
	if left := holders(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// actions 41, with supervisors alone, and with cgroups where these are delegated.
func TestEveryKindOfContainmentEndsEveryTree(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainAuto, shell.ContainSupervisor} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			x := open(t, func(o *shell.Options) { o.Containment = kind })
			if auto := kind == shell.ContainAuto; !auto && !strings.Contains(x.Containment(), "no cgroups") {
				t.Error(x.Containment())
			}
			for name, command := range hostile() {
				e := run(command)
				stop, verdict, _ := start(t, x, e)
				stop(ports.StopCancelled)
				if got := <-verdict; got != "dropped" {
					t.Errorf("%s: %s", name, got)
				}
				if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
					t.Errorf("%s left: %v", name, left)
				}
			}
		})
	}
}

// Without supervisors what stays in its session or below its parent is ended all the same.
func TestGroupsEndWhatTheyCanFind(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.Containment = shell.ContainGroup })
	trees := hostile()
	trees["stopped"] = `sh -c 'sleep 300 & kill -STOP $!; echo up; kill -STOP $$'`
	for _, name := range []string{"background", "ignores term", "stopped", "fork tree"} {
		e := run(trees[name])
		stop, verdict, _ := start(t, x, e)
		stop(ports.StopCancelled)
		if got := <-verdict; got != "dropped" {
			t.Errorf("%s: %s", name, got)
		}
		eventually(t, name+" leaves nothing", func() bool { return len(holders(t, string(e.Dispatch.Key.RunID))) == 0 })
	}
	for command, want := range map[string]string{
		"true": "completed:", "sh -c 'exit 3'": "exit_nonzero", "sh -c 'kill -9 $$'": "exit_signal", "no-such-program": "spawn_failed",
		"sh -c 'sleep 300 & echo hi'": "completed:", "cat": "completed:", "sh -c 'echo a; setsid sleep 300 & wait $!; echo b'": "deadline_exceeded",
	} {
		for range 3 {
			e := run(command)
			e.Bound = 2 * time.Second
			if got := execute(t, x, e); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", command, got)
			}
		}
	}
	if got := strings.Join(x.Warnings(), ""); !strings.Contains(got, "containment is partial") {
		t.Error(got)
	}
	x.Kill()
}

// actions 41
func TestACgroupKnowsWhatLeftTheTreeAndIsRemoved(t *testing.T) {
	t.Parallel()
	x := open(t)
	if !strings.Contains(x.Containment(), "cgroups below") {
		t.Skip("no delegated cgroup here: " + x.Containment())
	}
	e := run(`sh -c 'cat /proc/self/cgroup; (setsid sleep 300 &); exit 0'`, action.CaptureText)
	got := execute(t, x, e)
	if !strings.Contains(got, "/attempt-") {
		t.Errorf("got %s", got)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	base := strings.TrimPrefix(x.Containment(), "supervisors and cgroups below ")
	if _, name, ok := strings.Cut(got, "/attempt-"); ok {
		name, _, _ = strings.Cut(name, `\n`)
		if _, err := os.Stat(filepath.Join(base, "attempt-"+strings.TrimSuffix(name, `"`))); err == nil {
			t.Error("the cgroup is still there")
		}
	}
}

// actions 41
func TestAKillForWantOfMemoryIsSeenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if shell.OutOfMemory(dir, 0) {
		t.Error("seen without a memory controller")
	}
	write(t, filepath.Join(dir, "memory.events"), "low 0\nhigh 0\nmax 12\noom 2\noom_kill 2\noom_group_kill 1\n", 0o600)
	if !shell.OutOfMemory(dir, 1) || shell.OutOfMemory(dir, 2) {
		t.Error("a kill is missed, or seen twice")
	}
}

func TestWarningsNameWhatDoesLessThanItSeemsTo(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	o.AllowedPrograms = []string{"git", "/usr/bin/python3.11", "env"}
	o.Containment = shell.ContainSupervisor
	o.Limits.Processes = 10
	x, err := shell.New(o)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(x.Warnings(), "\n")
	for _, want := range []string{"names /usr/bin/python3.11,", "names env,"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "git") {
		t.Error(got)
	}
	if os.Geteuid() == 0 && !strings.Contains(got, "actions.limits.processes has no effect") {
		t.Error(got)
	}
	if x.Isolation() != shell.NoIsolation {
		t.Error(x.Isolation())
	}
}

func TestALinkToAnInterpreterIsAnInterpreter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "report")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plain"), "#!/bin/true\n", 0o755)
	x := open(t, func(o *shell.Options) {
		o.AllowedPrograms, o.ProgramDirs = []string{"report", "plain", "absent"}, []string{dir, filepath.Dir(target)}
	})
	if got := x.Warnings(); len(got) != 1 || !strings.Contains(got[0], "names report (/") {
		t.Errorf("warnings %q", got)
	}
}

// actions 78: an entry is compared with real paths, so one that is a link admits nothing; the start says so, and only then.
func TestAnEntryThatAdmitsNothingIsNamed(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inner, outer := mkdir(t, filepath.Join(top, "inner")), mkdir(t, filepath.Join(top, "outer"))
	for _, program := range []string{inner + "/tool", outer + "/other"} {
		write(t, program, "#!/bin/true\n", 0o700)
	}
	for link, target := range map[string]string{inner + "/near": inner + "/tool", inner + "/far": outer + "/other", top + "/dir": inner} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for entry, c := range map[string]struct {
		program string
		real    string // that the start names; empty: the entry admits the program
	}{
		"tool": {"tool", ""}, "near": {"near", ""}, inner + "/tool": {inner + "/tool", ""}, outer + "/other": {"far", ""},
		"far": {"far", outer + "/other"}, inner + "/near": {inner + "/near", inner + "/tool"}, inner + "/far": {"far", outer + "/other"},
		top + "/dir/tool": {top + "/dir/tool", inner + "/tool"}, top + "//inner/tool": {inner + "/tool", inner + "/tool"},
	} {
		x := open(t, func(o *shell.Options) {
			o.Path, o.AllowedPrograms, o.ProgramDirs = inner, []string{entry, "absent", "/no/such"}, []string{inner}
		})
		warnings := strings.Join(x.Warnings(), "\n")
		if x.Admits(c.program, "") != (c.real == "") || (warnings == "") != (c.real == "") {
			t.Errorf("%s admits %s: %v, warnings %q", entry, c.program, x.Admits(c.program, ""), warnings)
		}
		if c.real != "" && (!strings.Contains(warnings, "names "+entry+", whose real path") || !strings.Contains(warnings, c.real)) {
			t.Errorf("%s: %q", entry, warnings)
		}
	}
}

func TestASecretThatIsTooShortToMaskIsNamed(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) {
		o.LookupEnv = func(name string) (string, bool) {
			return map[string]string{"SHORT": "1234567", "LONG": "12345678\r\n\r\n", "KEY": "BEGIN KEY\r\n1234567\r\n=\r\nEND KEY!"}[name], true
		}
		for _, name := range []string{"SHORT", "LONG", "KEY"} {
			o.Env = append(o.Env, shell.Grant{Name: name, FromEnv: name, Queues: []string{"q"}, Secret: true})
		}
	})
	if got := strings.Join(x.Warnings(), "\n"); !strings.Contains(got, "the secret SHORT has fewer than 8 bytes") || strings.Contains(got, "LONG") ||
		!strings.Contains(got, "lines of the secret KEY that have fewer than 8 bytes (2 of them)") || strings.Contains(got, "1234567") {
		t.Errorf("warnings %q", got)
	}
}

// A user that cannot come to the workspace root is named at the start, and so is a root that others can look into.
func TestAWorkspaceRootThatCommandsCannotUseIsNamed(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{filepath.Dir(top), top} {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	private, wide := mkdir(t, top+"/private"), mkdir(t, top+"/wide")
	if err := os.Chmod(wide, 0o755); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{
		top + "/new": "", top + "/absent/new": "/absent does not exist yet", private + "/new": "it cannot pass " + private + " (mode 0700)",
		private: "belongs to another user", wide: "has mode 0755, so other users", "": "",
	} {
		x := asNobody(t, func(o *shell.Options) { o.WorkspaceRoot = root })
		got := strings.Join(x.Warnings(), "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("root %s: %q", root, got)
		}
	}
	if got := open(t, func(o *shell.Options) { o.WorkspaceRoot = private }).Warnings(); len(got) != 0 {
		t.Errorf("the server's own user: %q", got)
	}
}

// A directory that a command used is never the next one's.
func TestEveryAttemptGetsAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	x := open(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 25 {
				change := []string{"touch f", "mkdir d", "chmod 755 .", "true", "rm -rf \"$PWD\"", "ln -s / l; touch -h l"}[(i+n)%6]
				got := text(x.Execute(t.Context(), run(fmt.Sprintf(`sh -c 'ls -A; stat -c %%a .; %s'`, change), action.CaptureText), nil))
				if got != `completed:"700"` && !strings.HasPrefix(got, "exit_nonzero") {
					t.Errorf("before %s: %s", change, got)
				}
			}
		})
	}
	all.Wait()
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
