package supervise

// Arg is the hidden argument that makes a process a supervisor. Behind it come the limit of open files, a name that all
// supervisors of one server share, and the directory of the cgroup for its commands, when there is one.
const Arg = "__supervise"

// Active reports whether this process was started as a supervisor. The program asks before anything else.
func Active(args []string) bool { return len(args) > 1 && args[1] == Arg }
