package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// cgroups is the delegated cgroup v2 directory below which every supervisor has a leaf for its commands (actions 4.4).
type cgroups struct {
	dir         string
	limits      Limits
	controllers map[string]bool // that leaves have
}

// leafPrefix begins the names of leaves; the name of a slot follows.
const leafPrefix = "attempt-"

// findCgroups looks for this process's own cgroup and tries whether it is delegated. It answers nil, with the reason,
// when it is not.
func findCgroups(limits Limits) (*cgroups, string) {
	dir, reason := ownCgroup()
	if reason != "" {
		return nil, reason
	}
	c := &cgroups{dir: dir, limits: limits, controllers: map[string]bool{}}
	if reason := c.unfit(); reason != "" {
		return nil, reason
	}
	c.enable()
	return c, ""
}

// unfit tries whether a command could be put into a cgroup below this one, and tells why not.
func (c *cgroups) unfit() string {
	probe, err := os.MkdirTemp(c.dir, "aion-probe-")
	if err != nil {
		return "it is not delegated to this user"
	}
	defer func() { _ = unix.Rmdir(probe) }() // nothing can be in it
	if _, err := os.Stat(filepath.Join(probe, "cgroup.kill")); err != nil {
		return "this kernel has no cgroup.kill; Linux 5.14 or newer is needed"
	}
	kind, err := os.ReadFile(filepath.Join(probe, "cgroup.type"))
	if err != nil || strings.TrimSpace(string(kind)) != "domain" {
		return "what is below it is threaded, because it has both processes and controllers for others; start the server in a cgroup of its own"
	}
	return ""
}

// ownCgroup finds the directory of this process in the cgroup v2 hierarchy.
func ownCgroup() (dir, reason string) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "/proc cannot be read"
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "/proc cannot be read"
	}
	path, there := "", false
	for line := range strings.SplitSeq(string(own), "\n") {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			path, there = rest, true
		}
	}
	for line := range strings.SplitSeq(string(mounts), "\n") {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || !there || len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		rel, err := filepath.Rel(fields[3], path)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.Join(fields[4], rel), ""
		}
	}
	return "", "no cgroup v2 hierarchy is mounted that shows this process"
}

// enable asks for the controllers that the limits need. A cgroup with processes of its own gives its leaves none, or (pids)
// ones that take no process, so this process moves into a leaf first. What cannot be had is limited by prlimit instead.
func (c *cgroups) enable() {
	available, err := os.ReadFile(filepath.Join(c.dir, "cgroup.controllers"))
	if err != nil {
		return
	}
	for name, limit := range map[string]int64{"pids": c.limits.Processes, "memory": c.limits.MemoryBytes} {
		if limit > 0 && slices.Contains(strings.Fields(string(available)), name) {
			c.controllers[name] = true
		}
	}
	if len(c.controllers) == 0 {
		return
	}
	_ = c.moveSelf() // whether that was enough is seen below
	for name := range c.controllers {
		if !c.control("+" + name) {
			delete(c.controllers, name)
		}
	}
	if c.unfit() != "" { // other processes stayed
		for name := range c.controllers {
			c.control("-" + name)
		}
		clear(c.controllers)
	}
}

// control changes what the leaves have, and reports whether that could be done.
func (c *cgroups) control(change string) bool {
	return os.WriteFile(filepath.Join(c.dir, "cgroup.subtree_control"), []byte(change), 0o600) == nil
}

func (c *cgroups) moveSelf() error {
	dir := filepath.Join(c.dir, "aion-server")
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// rest gives the limits that the leaves do not carry.
func (c *cgroups) rest(l Limits) supervise.Limits {
	r := supervise.Limits{Processes: uint64(l.Processes), Memory: uint64(l.MemoryBytes), CPUSeconds: uint64(l.CPUSeconds)}
	if c != nil && c.controllers["pids"] {
		r.Processes = 0
	}
	if c != nil && c.controllers["memory"] {
		r.Memory = 0
	}
	return r
}

// leaf is the cgroup of one supervisor's commands; the supervisor itself is outside.
type leaf struct {
	dir      string
	memory   bool // the kernel counts its memory
	oomKills int  // that were seen so far
	spent    bool // it was killed from here
}

func (c *cgroups) leaf(name string) (*leaf, error) {
	l := &leaf{dir: filepath.Join(c.dir, leafPrefix+name), memory: c.controllers["memory"]}
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cgroup of a command: %w", err)
	}
	set := map[string]string{}
	if c.controllers["pids"] {
		set["pids.max"] = strconv.FormatInt(c.limits.Processes, 10)
	}
	if c.controllers["memory"] {
		set["memory.max"] = strconv.FormatInt(c.limits.MemoryBytes, 10)
		set["memory.oom.group"] = "1"
	}
	for file, value := range set {
		if err := os.WriteFile(filepath.Join(l.dir, file), []byte(value), 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("limit the cgroup of a command: %w", err), l.remove())
		}
	}
	if c.controllers["memory"] {
		_ = os.WriteFile(filepath.Join(l.dir, "memory.swap.max"), []byte("0"), 0o600) // a kernel without swap accounting has none
	}
	return l, nil
}

// kill kills every process of the cgroup.
func (l *leaf) kill() {
	if l != nil {
		l.spent = true
		_ = os.WriteFile(filepath.Join(l.dir, "cgroup.kill"), []byte("1"), 0o600) // populated tells whether it did
	}
}

// thaw lets the processes of the cgroup go on, which a command has frozen.
func (l *leaf) thaw() {
	if l != nil {
		_ = os.WriteFile(filepath.Join(l.dir, "cgroup.freeze"), []byte("0"), 0o600) // a kernel without it has frozen nothing
	}
}

// used reports whether it is for no other command: it was killed from here, or a command has divided it, and what has cgroups
// below it may take no process of its own.
func (l *leaf) used() bool {
	if l == nil {
		return false
	}
	var st unix.Stat_t
	err := unix.Stat(l.dir, &st)
	return l.spent || err == nil && st.Nlink > 2 // each directory in it links to it
}

// populated reports whether a process is in it.
func (l *leaf) populated() bool {
	if l == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(l.dir, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// outOfMemory reports whether a process of it was killed for want of memory since the last call.
func (l *leaf) outOfMemory() bool {
	if l == nil || !l.memory {
		return false
	}
	events, err := os.ReadFile(filepath.Join(l.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.SplitSeq(string(events), "\n") {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			grown := err == nil && n > l.oomKills
			l.oomKills = max(l.oomKills, n)
			return grown
		}
	}
	return false
}

// patience is how often, and every escapedRescan, an empty cgroup is tried to be removed: the kernel may need a moment after
// the last process, and some keep it until that is reaped.
const patience = 50

// remove takes the directory away, once it is empty.
func (l *leaf) remove() error {
	var err error
	for range patience {
		if err = l.rmdir(); err == nil {
			return nil
		}
		time.Sleep(escapedRescan)
	}
	return fmt.Errorf("remove the cgroup of a command: %w", err)
}

// rmdir removes the directory, with the cgroups that commands have made in it.
func (l *leaf) rmdir() error {
	err := unix.Rmdir(l.dir)
	if errors.Is(err, unix.EBUSY) {
		var all []string
		_ = filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error { // what it does not find stays
			if err == nil && d.IsDir() {
				all = append(all, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(all) {
			err = unix.Rmdir(dir)
		}
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// sweep ends what servers left in leaves whose process is gone, and removes these. Names carry the PID namespace, because
// pids mean nothing across them.
func (c *cgroups) sweep(namespace string) {
	if c == nil {
		return
	}
	dirs, err := filepath.Glob(filepath.Join(c.dir, leafPrefix+namespace+"-*"))
	if err != nil {
		return
	}
	var gone []*leaf
	for _, dir := range dirs {
		parts := strings.Split(strings.TrimPrefix(filepath.Base(dir), leafPrefix+namespace+"-"), "-")
		if len(parts) != 4 {
			continue
		}
		pid, err1 := strconv.Atoi(parts[0])
		start, err2 := strconv.ParseUint(parts[1], 10, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		if p, ok := supervise.Find(pid); ok && p.Start == start && !p.Dead() {
			continue
		}
		l := &leaf{dir: dir}
		l.kill()
		gone = append(gone, l)
	}
	for range patience { // for all of them; the next start tries again
		gone = slices.DeleteFunc(gone, func(l *leaf) bool { return l.rmdir() == nil })
		if len(gone) == 0 {
			return
		}
		time.Sleep(escapedRescan)
	}
}
