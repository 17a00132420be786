package shell_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aion/adapters/shell"
	"aion/domain/action"

	"golang.org/x/sys/unix"
)

// deepen makes a chain of directories in the present one.
func deepen(levels string) int {
	n, err := strconv.Atoi(levels)
	for range n {
		err = errors.Join(err, unix.Mkdir("a", 0o700), unix.Chdir("a"))
		if err != nil {
			return 1
		}
	}
	return 0
}

// actions 34: a directory goes however deep it is, also when it is deeper than a path may be long and a process has descriptors.
func TestADirectoryOfAnyDepthGoes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.Command("prlimit", "--nofile=128:128", os.Args[0], serverMode, home, os.Args[0]+" "+deepMode+" 5000")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "up\n" + `completed:{"exit_code":0,"stdout":"","stderr":""}` + "\n"; string(out) != want {
		t.Errorf("got %s", out)
	}
	if left, err := os.ReadDir(home + "/scratch"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Whatever is in a directory: it goes, what links lead to stays, and so does what is mounted in it, with the way to it.
func TestARemovalTakesEverythingThatIsOfTheDirectory(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside+"/kept", "kept", 0o600)
	base := t.TempDir()
	top := mkdir(t, base+"/top")
	for _, dir := range []string{"empty", "wide", "shut/in/it", "a/b/c", "1/2"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		write(t, top+"/wide/"+strconv.Itoa(i), "", 0o600)
	}
	for _, link := range []string{"/link", "/a/b/link"} {
		if err := os.Symlink(outside, top+link); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"/shut/in", "/shut"} {
		if err := os.Chmod(top+dir, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := shell.RemoveScratch(top); err != nil {
		t.Error(err)
	}
	if err := shell.RemoveScratch(top); err != nil {
		t.Errorf("what is not there: %v", err)
	}
	if err := os.Symlink(outside, top); err != nil {
		t.Fatal(err)
	}
	if err := shell.RemoveScratch(top); err != nil {
		t.Errorf("a link: %v", err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if raw, err := os.ReadFile(outside + "/kept"); err != nil || string(raw) != "kept" {
		t.Errorf("outside: %q, %v", raw, err)
	}
}

// actions 34: a directory that cannot be removed is for no other command; what is in the way is left alone, the log says it once
// and briefly, and the removal is tried again.
func TestADirectoryThatCannotBeRemovedIsForNoOtherCommand(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside+"/kept", "kept", 0o600)
	try := mkdir(t, t.TempDir()+"/try")
	if err := unix.Mount(outside, try, "", unix.MS_BIND, ""); err != nil {
		t.Skip("this process may not mount: ", err)
	}
	if err := unix.Unmount(try, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	logged, home := &journal{}, ""
	x := open(t, logged.keep, func(o *shell.Options) { home = o.Home })
	var mounts []string
	for _, at := range []string{"m", "a/b/c/m"} {
		e := run(`sh -c 'mkdir -p x/y/z `+at+` && mount --bind `+outside+` `+at+` && echo $PWD/`+at+`'`, action.CaptureText)
		got := execute(t, x, e)
		mount, ok := strings.CutPrefix(strings.TrimSuffix(got, `"`), `completed:"`)
		if !ok {
			t.Fatal(got)
		}
		mounts = append(mounts, mount)
		for range 5 {
			if got := execute(t, x, run(`sh -c 'ls -A; touch f'`, action.CaptureText)); got != `completed:""` {
				t.Errorf("another command: %s", got)
			}
		}
	}
	x.RemoveRest()
	if raw, err := os.ReadFile(outside + "/kept"); err != nil || string(raw) != "kept" {
		t.Errorf("outside: %q, %v", raw, err)
	}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(info)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], home) {
			if err := unix.Unmount(fields[4], unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
			mounts = mounts[1:]
		}
	}
	if len(mounts) > 0 {
		t.Errorf("not found: %v", mounts)
	}
	eventually(t, "nothing is left", func() bool {
		x.RemoveRest()
		left, err := os.ReadDir(home + "/scratch")
		return err == nil && len(left) == 0
	})
	logged.mu.Lock()
	defer logged.mu.Unlock()
	if lines := strings.Split(logged.text.String(), "\n"); len(logged.text.String()) > 4000 || len(lines) > 10 {
		t.Errorf("%d lines: %s", len(lines), logged.text.String())
	}
}

// The two directories are made again when somebody takes them away, and no supervisor goes on whose entry of the ledger is gone.
func TestADirectoryThatIsTakenAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, executor := range map[string]func(*testing.T, ...func(*shell.Options)) *shell.Executor{"own user": open, "another user": asNobody} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := ""
			x := executor(t, func(o *shell.Options) { home = o.Home })
			look := run(`sh -c 'dirname $PWD; stat -c "%U %a" $PWD'`, action.CaptureLines)
			before := execute(t, x, look)
			scratch, _, ok := strings.Cut(strings.TrimPrefix(before, `completed:["`), `"`)
			if !ok {
				t.Fatal(before)
			}
			info, err := os.Stat(scratch)
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{scratch, home + "/attempts"} {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			if got := execute(t, x, look); got != before {
				t.Errorf("got %s, want %s", got, before)
			}
			if now, err := os.Stat(scratch); err != nil || now.Mode() != info.Mode() {
				t.Errorf("mode %v, %v", now, err)
			}
			x.Shrink(2, info.ModTime()) // nothing has been idle for so long
			if got := execute(t, x, look); got != before {
				t.Errorf("got %s, want %s", got, before)
			}
			if left, err := filepath.Glob(home + "/attempts/*.json"); err != nil || len(left) == 0 {
				t.Errorf("the ledger holds %v, %v", left, err)
			}
			if info, err := os.Stat(home + "/attempts"); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("mode %v, %v", info, err)
			}
		})
	}
}
