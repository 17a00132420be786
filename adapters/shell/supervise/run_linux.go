package supervise

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has what a supervisor needs.
func Supported() bool { return true }

// Environment is all that a supervisor finds in its environment: one goroutine works there.
const Environment = "GOMAXPROCS=1"

// socket is the descriptor on which the server passes its end of the channel.
const socket = 3

// Run is the life of a supervisor; its answer is the exit code of the process. It returns when the server closed the
// channel or died, and then only after everything below is gone.
func Run() int {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "aion supervisor:", err)
		return 1
	}
	return 0
}

func run() error {
	runtime.LockOSThread() // the main thread: the kernel prefers it for the signals of a process
	if err := punctual(); err != nil {
		return err
	}
	if kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return fmt.Errorf("`%s` is started by the server only", Arg)
	}
	openFiles := uint64(4096)
	if len(os.Args) > 2 {
		n, err := strconv.ParseUint(os.Args[2], 10, 64)
		if err != nil {
			return fmt.Errorf("limit of open files %q: %w", os.Args[2], err)
		}
		openFiles = n
	}
	if err := unblockSignals(); err != nil {
		return err
	}
	if err := settle(openFiles); err != nil {
		return err
	}
	if err := Adopt(); err != nil {
		return err
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	catchSignals()
	s := &supervisor{null: null, self: os.Getpid(), pidfd: -1}
	s.in = bufio.NewReaderSize(&s.channel, 32<<10)
	if len(os.Args) > 3 {
		s.family = os.Args[3]
	}
	if len(os.Args) > 4 {
		if s.cgroup, err = openCgroup(os.Args[4]); err != nil {
			return err
		}
	}
	if err := s.loop(); err != nil {
		return err
	}
	if !s.bye && s.family != "" {
		s.guard()
	}
	return nil
}
