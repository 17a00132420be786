package shell_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"aion/adapters/shell"
	"aion/domain"
)

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestAProcessTalksThroughItsPipes(t *testing.T) {
	t.Parallel()
	x := open(t)
	p, err := x.Start(t.Context(), shell.Command{
		Name: "echo", Argv: []string{"sh", "-c", `read a; echo "got $a"; echo warned >&2; env; cat; exit 3`},
		Env: []string{"KEY=value"}, Input: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "one\ntwo\n"); err != nil {
		t.Error(err)
	}
	if err := p.Stdin.Close(); err != nil {
		t.Error(err)
	}
	out, errs := read(t, p.Stdout), read(t, p.Stderr)
	if !strings.HasPrefix(out, "got one\n") || !strings.HasSuffix(out, "two\n") || !strings.Contains(out, "KEY=value\n") || errs != "warned\n" {
		t.Errorf("output %q, errors %q", out, errs)
	}
	if code, err := p.Wait(); code != 3 || err != nil {
		t.Errorf("ended with %d, %v", code, err)
	}
}

func TestAShortProcessLeavesItsOutputInThePipes(t *testing.T) {
	t.Parallel()
	x := open(t)
	for range 20 {
		p, err := x.Start(t.Context(), shell.Command{Name: "echo", Argv: []string{"echo", "hello"}})
		if err != nil {
			t.Fatal(err)
		}
		if code, err := p.Wait(); code != 0 || err != nil {
			t.Errorf("ended with %d, %v", code, err)
		}
		if out := read(t, p.Stdout); out != "hello\n" {
			t.Errorf("output %q", out)
		}
		_ = p.Stderr.Close()
	}
}

func TestAStoppedProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(p *shell.Process, cancel func()){
		"stop": func(p *shell.Process, _ func()) { p.Stop() }, "context": func(_ *shell.Process, cancel func()) { cancel() },
		"input closed": func(p *shell.Process, _ func()) { _ = p.Stdin.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, marker := open(t), unique()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := x.Start(ctx, shell.Command{
				Name: "tree", Input: true, Env: []string{"MARKER=" + marker},
				Argv: []string{"sh", "-c", `trap "" TERM; (setsid sleep 300 >/dev/null 2>&1 &); sleep 300 >/dev/null 2>&1 & echo up; cat >/dev/null`},
			})
			if err != nil {
				t.Fatal(err)
			}
			up := make([]byte, 3)
			if _, err := io.ReadFull(p.Stdout, up); err != nil {
				t.Fatal(err)
			}
			stop(p, cancel)
			if _, err := p.Wait(); err != nil {
				t.Error(err)
			}
			if left := holders(t, marker); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			_, _ = p.Stdout.Close(), p.Stderr.Close()
		})
	}
}

func TestAProcessThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	x, dir := open(t), t.TempDir()
	write(t, dir+"/no-format", "hello\n", 0o700)
	for _, argv := range [][]string{nil, {"no-such-program"}, {dir + "/no-format"}, {"./relative"}} {
		p, err := x.Start(t.Context(), shell.Command{Name: "tool", Argv: argv})
		if p != nil || domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%v: %v", argv, err)
		}
	}
	if p, err := x.Start(t.Context(), shell.Command{Name: "tool", Argv: []string{"true"}, Dir: dir + "/missing"}); p != nil || err == nil {
		t.Error("a missing directory is accepted")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
