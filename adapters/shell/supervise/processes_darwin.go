package supervise

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Table reads the process table.
func Table() ([]Process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	const stopped, zombie = 4, 5
	table := make([]Process, 0, len(all))
	for _, k := range all {
		p := Process{
			Pid: int(k.Proc.P_pid), Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid), Session: int(k.Eproc.Pgid), State: 'S',
			Start: uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec),
		}
		switch k.Proc.P_stat {
		case stopped:
			p.State = 'T'
		case zombie:
			p.State = 'Z'
		}
		table = append(table, p)
	}
	return table, nil
}
