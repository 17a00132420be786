package supervise

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is the kernel's struct sigaction, with room for what architectures add behind the handler.
type action struct {
	handler uintptr
	rest    [7]uintptr
}

// ignored is SIG_IGN.
const ignored = 1

// RestoreInternalSignals puts the signals that a C library keeps for itself (32 and 33, musl's 34 too) back to their default
// where they are ignored: a parent that starts programs by posix_spawn leaves them so, the state survives every exec, and
// signal.Notify cannot reach them. A handler of our own C library is left alone. Whoever starts commands calls it once.
func RestoreInternalSignals() error {
	for _, sig := range []uintptr{32, 33, 34} {
		var now action
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&now)), 8, 0, 0); errno != 0 { //nolint:gosec // a system call takes addresses
			return fmt.Errorf("read the disposition of signal %d: %w", sig, errno)
		}
		if now.handler != ignored {
			continue
		}
		var def action
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0); errno != 0 { //nolint:gosec // see above
			return fmt.Errorf("restore the default of signal %d: %w", sig, errno)
		}
	}
	return nil
}
