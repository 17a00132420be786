//go:build !linux && !darwin

package supervise

// Table reads the process table: not on this system.
func Table() ([]Process, error) { return nil, errUnsupported }
