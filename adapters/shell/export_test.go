package shell

// OutOfMemory tells what the cgroup in a directory says of processes that were killed for want of memory, beyond those seen
// before.
func OutOfMemory(dir string, seen int) bool { return (&leaf{dir: dir, oomKills: seen}).outOfMemory() }
