package shell

import (
	"os"

	"aion/adapters/shell/supervise"
)

// contain decides how trees are held together.
func (x *Executor) contain() {
	switch x.o.Containment {
	case "", ContainAuto:
		x.pool.cgroups, x.noCgroups = findCgroups(x.o.Limits)
	case ContainGroup:
	default:
		x.noCgroups = "`actions.containment` is `supervisor`"
	}
}

// adopt makes this process the heir of orphans, unless trees are held together by groups alone: then it starts commands itself,
// and hands down no signal that it was started to ignore.
func (o *Options) adopt() error {
	if o.Containment == ContainGroup {
		supervise.CatchIgnored()
		return nil
	}
	return supervise.Adopt()
}

// Containment tells how trees are held together, for a person.
func (x *Executor) Containment() string {
	if x.o.Containment == ContainGroup {
		return "process groups, which a process can leave"
	}
	if x.pool.cgroups != nil {
		return "supervisors and cgroups below " + x.pool.cgroups.dir
	}
	return "supervisors, no cgroups: " + x.noCgroups
}

// NoIsolation is the Isolation of commands that run as the server's own user.
const NoIsolation = "none"

// Isolation tells whether commands run as another user than the server.
func (x *Executor) Isolation() string {
	if x.o.user == nil {
		return NoIsolation
	}
	return "run_as " + x.o.RunAs
}

// Admits reports whether the operator admits a program that is looked up on path, as far as that can be found out now.
func (x *Executor) Admits(program, path string) bool {
	if len(x.o.AllowedPrograms) == 0 {
		return true
	}
	if path == "" {
		path = x.o.Path
	}
	var f found
	return !x.pool.inTime(func() { f = x.find(program, path) }) || f.refused == nil
}

// runsOthers are programs that run whatever they are told: who admits one admits everything.
func runsOthers() []string {
	return []string{
		"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "toybox",
		"python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "tclsh", "awk", "gawk", "mawk", "expect", "guile",
		"env", "xargs", "find", "parallel", "nice", "ionice", "nohup", "timeout", "time", "setsid", "stdbuf", "chroot", "unshare", "nsenter",
		"flock", "watch", "script", "strace", "gdb", "ssh", "sudo", "su", "doas", "runuser", "setpriv", "make", "vi", "vim", "ed",
	}
}

// Warnings are the settings that do less than they seem to.
func (x *Executor) Warnings() []string {
	list := x.worldWarnings()
	if x.o.Containment == ContainGroup {
		list = append(list, "containment is partial: commands are held together by process groups, so a process that leaves its session and its "+
			"parent escapes, commands outlive a server that is killed until the next one starts, and actions.limits do not hold")
		return list
	}
	root := x.o.user == nil && os.Geteuid() == 0 || x.o.user != nil && x.o.user.uid == 0
	if x.o.Limits.Processes > 0 && x.pool.cgroups.rest(x.o.Limits).Processes > 0 && root {
		list = append(list, "actions.limits.processes has no effect: commands run as root, and no cgroup with the pids controller is delegated to "+
			"the server; set actions.run_as")
	}
	return list
}
