package shell

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"

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
	s := &supervisor{
		conn: conn.(*net.UnixConn), frames: make(chan []supervise.Frame, framesPerRun), done: make(chan struct{}), slot: slot,
		buffers: [2][]byte{make([]byte, readSize), make([]byte, readSize)},
	} //nolint:forcetypeassert // a Unix socket
	// The path of the running binary itself, so that a replaced file on disk changes nothing.
	args := []string{supervise.Arg, strconv.Itoa(p.o.OpenFiles), p.prefix}
	if slot.leaf != nil {
		args = append(args, slot.leaf.dir)
	}
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx,gosec // it outlives every request
	cmd.Args[0] = "aion-supervisor"
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = []*os.File{theirs}
	// A command may have stopped its supervisor, which then does not see this process die. (The signal also comes when a
	// thread of this process ends, and does nothing then.)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
	err = p.registry.start(s, func() (int, error) {
		if err := cmd.Start(); err != nil {
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
