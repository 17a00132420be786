package shell

// OutOfMemory tells what the cgroup in a directory says of processes that were killed for want of memory, beyond those seen
// before.
func OutOfMemory(dir string, seen int) bool { return (&leaf{dir: dir, oomKills: seen}).outOfMemory() }

// PlainCgroup lets commands have their cgroups below an ordinary directory, as if the memory controller were delegated in
// it: the kernel's part is played by whoever writes its files. The executor must have no supervisors that enter cgroups.
func (x *Executor) PlainCgroup(dir string) {
	x.pool.cgroups = &cgroups{dir: dir, limits: x.o.Limits, controllers: map[string]bool{"memory": true}}
}
