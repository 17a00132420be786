package shell

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// launch starts a supervisor process.
func (p *pool) launch(slot *slot) (*supervisor, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a channel to a supervisor: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "server"), os.NewFile(uintptr(pair[1]), "supervisor")
	conn, err := net.FileConn(ours) // a duplicate
	_ = ours.Close()
	if err != nil {
		_ = theirs.Close()
		return nil, fmt.Errorf("make a channel to a supervisor: %w", err)
	}
	s := newSupervisor(slot)
	s.conn = conn.(*net.UnixConn) //nolint:forcetypeassert // a Unix socket
	// The path of the running binary itself, so that a replaced file on disk changes nothing.
	args := []string{supervise.Arg, strconv.Itoa(p.o.OpenFiles), p.prefix}
	if slot.leaf != nil {
		args = append(args, slot.leaf.dir)
	}
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx,gosec // it outlives every request
	cmd.Args[0] = "aion-supervisor"
	// One goroutine works: with more processors the runtime keeps looking for others that could. From the start on, because to
	// change it later waits for threads that sleep with the slack below.
	cmd.Env, cmd.Dir = []string{supervise.Environment}, "/"
	cmd.ExtraFiles = []*os.File{theirs}
	// A command may have stopped its supervisor, which then does not see this process die. (The signal also comes when a
	// thread of this process ends, and does nothing then.)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
	err = p.registry.start(s, func() (int, error) {
		if err := unhurried(cmd.Start); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	_ = theirs.Close()
	if err != nil {
		_ = s.conn.Close()
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	s.process, _ = supervise.Find(s.pid) // it cannot be gone: serve reaps it
	p.running.Go(func() { s.serve(cmd, p.registry) })
	return s, nil
}

// monitorSlack is by how much the sleeps of a supervisor's own threads may be late. It is far more than one would think: the
// kernel ends a sleep with the next timer that is due after its time, and while commands run one is due soon.
const monitorSlack = time.Second

// unhurried starts a process whose threads may sleep longer than they ask for. A supervisor's Go runtime has a thread that
// looks, 50 times at 20 us, for something to do around every system call that blocks, and wakes others to do it: that is half
// the price of a command. The supervisor takes the slack back from the thread that works and forks.
func unhurried(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return start()
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(monitorSlack), 0, 0, 0); err != nil {
		return start()
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(before), 0, 0, 0) }() // as it could be set
	return start()
}
