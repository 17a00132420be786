package supervise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"aion/adapters/shell/supervise"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestAProcessIsReadWhateverItsName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "a) S 1 2 3 (", "two words", "line\nbreak", ") (", "((("} {
		script := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(script, []byte("#!/bin/sh\nread x\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p, ok := supervise.Find(cmd.Process.Pid)
		if !ok || p.Pid != cmd.Process.Pid || p.Parent != os.Getpid() || p.Start == 0 || p.Dead() {
			t.Errorf("%q: %+v, %v", name, p, ok)
		}
		later := p
		later.Start++
		if err := supervise.Send(later, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		if now, ok := supervise.Find(p.Pid); !ok || now.Dead() {
			t.Error("a process with another start was signalled")
		}
		_ = in.Close()
		_ = cmd.Wait()
		if err := supervise.Send(p, unix.SIGKILL); err != nil {
			t.Errorf("a process that is gone: %v", err)
		}
	}
	if _, ok := supervise.Find(-1); ok {
		t.Error("found a process that cannot be")
	}
}

func TestTheTreeBelowAProcessIsFoundByParents(t *testing.T) {
	t.Parallel()
	table := []supervise.Process{
		{Pid: 1},
		{Pid: 2, Parent: 1},
		{Pid: 5, Parent: 3},
		{Pid: 3, Parent: 2},
		{Pid: 4, Parent: 3, State: 'Z'},
		{Pid: 6, Parent: 4},
		{Pid: 7, Parent: 8},
		{Pid: 8, Parent: 7},
		{Pid: 9, Parent: 1},
	}
	pids := func(roots ...int) (all []int) {
		for _, p := range supervise.Below(table, roots...) {
			all = append(all, p.Pid)
		}
		return all
	}
	for _, c := range []struct{ roots, want []int }{
		{[]int{2}, []int{3, 5, 6}}, {[]int{1}, []int{2, 9, 3, 5, 6}}, {[]int{7}, []int{8}}, {[]int{9}, nil}, {nil, nil}, {[]int{2, 3}, []int{5, 6}},
	} {
		if diff := cmp.Diff(c.want, pids(c.roots...)); diff != "" {
			t.Errorf("%v: %s", c.roots, diff)
		}
	}
}

func TestASupervisorIsStartedByTheServerOnly(t *testing.T) {
	t.Parallel()
	if supervise.Active([]string{"aion"}) || supervise.Active(nil) || !supervise.Active([]string{"x", supervise.Arg, "64"}) {
		t.Error("the hidden argument is not recognised")
	}
}
