package supervise

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Arg is the hidden argument that makes a process a supervisor; the limit of open files follows it.
const Arg = "__supervise"

// socket is the descriptor on which the server passes its end of the channel.
const socket = 3

// Active reports whether this process was started as a supervisor. The program asks before anything else.
func Active(args []string) bool { return len(args) > 1 && args[1] == Arg }

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
	ended, err := catchSignals()
	if err != nil {
		return err
	}
	return (&supervisor{null: null, ended: ended, self: os.Getpid(), pidfd: -1}).loop()
}
