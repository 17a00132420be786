package clients_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/cli/clients"
	"aion/domain"
)

func to(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func write(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func holds(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", path, got, err, want)
	}
}

func TestAFileIsReplacedWithTheOldOneBesideIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "mcp.json")
	if changed, err := clients.Change(path, 0o644, to("one")); err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".bak"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy of nothing: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if changed, err := clients.Change(path, 0o600, to("two")); err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
	holds(t, path, "two")
	holds(t, path+".bak", "one")
	if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if changed, err := clients.Change(path, 0o600, to("two")); err != nil || changed {
		t.Errorf("no change: %v, %v", changed, err)
	}
	holds(t, path+".bak", "one")
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 2 {
		t.Errorf("%v is left, %v", names, err)
	}
}

func TestALinkStaysALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dotfiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"there": true, "dangling": false} {
		place, link := filepath.Join(dir, "dotfiles", name), filepath.Join(dir, name)
		if there {
			write(t, place, "one", 0o600)
		}
		for _, l := range [][2]string{{filepath.Join("dotfiles", name), link + ".1"}, {link + ".1", link}} {
			if err := os.Symlink(l[0], l[1]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := clients.Change(link, 0o600, to("two")); err != nil {
			t.Fatal(err)
		}
		holds(t, place, "two")
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.Change(loop, 0o600, to("x")); domain.CodeOf(err) != domain.CodeInvalidInput {
		t.Errorf("a circle: %v", err)
	}
}

// server 3.5: what cannot be used or does not parse is refused and stays as it is.
func TestAFileThatCannotBeUsedStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	write(t, broken, "{\n  x", 0o600)
	c := target(t, "cursor")
	_, err := clients.Change(broken, 0o600, func(text []byte) ([]byte, error) { return c.Merge(text, "aion", entry(t, c, launched)) })
	if domain.CodeOf(err) != domain.CodeInvalidInput || !strings.Contains(err.Error(), broken+":2:3: ") {
		t.Errorf("%v", err)
	}
	holds(t, broken, "{\n  x")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	write(t, large, strings.Repeat(" ", 16<<20+1), 0o600)
	for _, path := range []string{dir, pipe, large, filepath.Join(broken, "below")} {
		if _, err := clients.Change(path, 0o600, to("x")); domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%s: %v", path, err)
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("%v is left, %v", names, err)
	}
}

func TestAChangeOfAnotherProgramIsNotLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "one", 0o600)
	_, err := clients.Change(path, 0o600, func(text []byte) ([]byte, error) {
		write(t, path, "other", 0o600)
		return append(bytes.Clone(text), '!'), nil
	})
	if domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("%v", err)
	}
	holds(t, path, "other")
}

func TestEveryTargetKnowsItsFiles(t *testing.T) {
	t.Parallel()
	p := clients.Places{Home: "/h", Config: "/h/.config", Project: "/p"}
	got := map[string][2]string{}
	for _, c := range clients.Targets() {
		user, err := c.File(p, clients.User)
		if err != nil {
			t.Fatal(err)
		}
		project, err := c.File(p, clients.Project)
		if (err != nil) != (project == "") || err != nil && domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%s: %q, %v", c.Name, project, err)
		}
		got[c.Name] = [2]string{user, project}
	}
	for name, want := range map[string][2]string{
		"claude-code": {"/h/.claude.json", "/p/.mcp.json"}, "claude-desktop": {"/h/.config/Claude/claude_desktop_config.json", ""},
		"cursor": {"/h/.cursor/mcp.json", "/p/.cursor/mcp.json"}, "vscode": {"/h/.config/Code/User/mcp.json", "/p/.vscode/mcp.json"},
		"codex": {"/h/.codex/config.toml", ""}, "gemini": {"/h/.gemini/settings.json", "/p/.gemini/settings.json"},
	} {
		if got[name] != want {
			t.Errorf("%s: %v", name, got[name])
		}
	}
	p.Codex, p.Claude = "/c", "/d"
	for name, want := range map[string]string{"codex": "/c/config.toml", "claude-code": "/d/.claude.json"} {
		if file, err := target(t, name).File(p, clients.User); err != nil || file != want {
			t.Errorf("%s: %s, %v", name, file, err)
		}
	}
}
