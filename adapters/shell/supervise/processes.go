package supervise

// Process is one line of the process table. Pid and Start together name a process for good: a pid alone is reused.
type Process struct {
	Pid     int
	Parent  int
	Group   int
	Session int // of a system that does not tell, the group
	State   byte
	Start   uint64 // clock ticks since boot: field 22 of /proc/<pid>/stat
}

// Dead reports whether the process has ended and only waits to be reaped.
func (p Process) Dead() bool { return p.State == 'Z' || p.State == 'X' || p.State == 'x' }

// Below gives the living descendants of the given processes by parent pid, parents first. The roots are not in it.
func Below(table []Process, roots ...int) []Process {
	children := make(map[int][]Process, len(table))
	for _, p := range table {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var below []Process
	seen := make(map[int]bool, len(roots))
	for _, pid := range roots {
		seen[pid] = true
	}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if seen[p.Pid] {
				continue // a table that is no snapshot may hold a cycle
			}
			seen[p.Pid] = true
			queue = append(queue, p.Pid)
			if !p.Dead() {
				below = append(below, p)
			}
		}
	}
	return below
}
