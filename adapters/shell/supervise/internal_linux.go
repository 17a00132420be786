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

// isIgnored reads the disposition of a signal, of which package signal knows only a part.
func isIgnored(sig uintptr) (bool, error) {
	const sigIgn = 1
	var now action
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&now)), 8, 0, 0); errno != 0 { //nolint:gosec // a system call takes addresses
		return false, fmt.Errorf("read the disposition of signal %d: %w", sig, errno)
	}
	return now.handler == sigIgn, nil
}

// RestoreInternalSignals puts the signals that a C library keeps for itself (32 and 33, musl's 34 too) back to their default
// where they are ignored: a parent that starts programs by posix_spawn leaves them so, the state survives every exec, and
// signal.Notify cannot reach them. A handler of our own C library is left alone. Whoever starts commands calls it once.
func RestoreInternalSignals() error {
	for _, sig := range []uintptr{32, 33, 34} {
		if ignored, err := isIgnored(sig); err != nil {
			return err
		} else if !ignored {
			continue
		}
		var def action
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0); errno != 0 { //nolint:gosec // see above
			return fmt.Errorf("restore the default of signal %d: %w", sig, errno)
		}
	}
	return nil
}
