package shell_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/ports"
)

// stubborn is a command whose tree ends by SIGKILL alone: two processes, in two sessions.
const stubborn = `sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; exec sleep 300" &); exec sleep 300'`

// children waits for the processes that a server with one command starts, and gives the supervisor of the command and the one
// that looks after the others.
func children(t *testing.T, server int) (busy, guard supervise.Process) {
	t.Helper()
	eventually(t, "the tree stands, and somebody looks after its supervisor", func() bool {
		table, err := supervise.Table()
		if err != nil {
			t.Fatal(err)
		}
		var have [2]int // without a tree, with one
		for _, p := range table {
			if p.Parent != server || p.Dead() || p.Session != p.Pid {
				continue
			}
			if len(supervise.Below(table, p.Pid)) == 0 {
				guard, have[0] = p, have[0]+1
			} else if len(supervise.Below(table, p.Pid)) == 2 {
				busy, have[1] = p, have[1]+1
			}
		}
		return have == [2]int{1, 1}
	})
	return busy, guard
}

// commands gives the living processes of the commands of a home: all but those of aion itself.
func commands(t *testing.T, home string) (n int) {
	t.Helper()
	for _, pid := range holders(t, home) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && !strings.HasPrefix(string(line), os.Args[0]) && !strings.HasPrefix(string(line), "aion-supervisor") {
			n++
		}
	}
	return n
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// actions 39: a supervisor that does nothing any more when its server dies has its tree ended from beside.
func TestATreeWhoseSupervisorIsHeldDiesWithItsServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := serveIn(t, shell.ContainSupervisor, home, stubborn)
	busy, _ := children(t, cmd.Process.Pid)
	still(t, busy.Pid)
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	eventually(t, "the tree is gone", func() bool { return commands(t, home) == 0 })
	if p, ok := supervise.Find(busy.Pid); !ok || p.Start != busy.Start || p.Dead() {
		t.Error("its supervisor did not live on; this test shows nothing")
	}
}

// actions 36, 39: the death of a server lets its supervisors go on, also when a command has stopped all of them.
func TestSupervisorsThatAreStoppedEndTheirTreesWithTheirServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := serveIn(t, shell.ContainSupervisor, home, stubborn)
	busy, guard := children(t, cmd.Process.Pid)
	kill(t, cmd.Process.Pid, syscall.SIGSTOP) // it lets stopped ones go on
	kill(t, busy.Pid, syscall.SIGSTOP)
	kill(t, guard.Pid, syscall.SIGSTOP)
	eventually(t, "all are stopped", func() bool {
		stopped := 0
		for _, pid := range []int{cmd.Process.Pid, busy.Pid, guard.Pid} {
			if p, _ := supervise.Find(pid); p.State == 'T' {
				stopped++
			}
		}
		return stopped == 3
	})
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	eventually(t, "nothing is left", func() bool { return len(holders(t, home)) == 0 })
}

// actions 36: a supervisor that does nothing any more has its tree ended by the server.
func TestATreeWhoseSupervisorIsHeldIsEndedByTheServer(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{shell.ContainAuto, shell.ContainSupervisor} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			x := open(t, func(o *shell.Options) { o.Containment = kind })
			e := run(`sh -c 'trap "" TERM; setsid sleep 300 & echo up $PPID; exec sleep 300'`)
			stop, verdict, rec := start(t, x, e)
			pid, err := strconv.Atoi(strings.Fields(rec.texts("command stdout")[0])[1])
			if err != nil {
				t.Fatal(err)
			}
			letGo := still(t, pid)
			stop(ports.StopCancelled)
			eventually(t, "the tree is gone", func() bool { return len(holders(t, string(e.Dispatch.Key.RunID))) == 0 })
			letGo()
			if got := <-verdict; got != "dropped" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// actions 40: at boot a tree is ended also when its supervisor is there and does nothing any more, and so is that.
func TestBootEndsATreeWhoseSupervisorIsHeld(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := serveIn(t, shell.ContainSupervisor, home, stubborn)
	busy, guard := children(t, cmd.Process.Pid)
	still(t, busy.Pid)
	kill(t, cmd.Process.Pid, syscall.SIGSTOP) // it would start another one
	kill(t, guard.Pid, syscall.SIGKILL)
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	if n := commands(t, home); n < 2 {
		t.Errorf("%d processes of the command live; this test shows nothing", n)
	}
	o := options(home)
	o.Containment = shell.ContainSupervisor
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
	if p, ok := supervise.Find(busy.Pid); ok && p.Start == busy.Start && !p.Dead() {
		t.Error("the supervisor lives on")
	}
}
