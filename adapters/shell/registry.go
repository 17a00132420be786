package shell

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// registry knows every process that the server started. A child that is not in it came from a supervisor that died: it
// has escaped, and is killed and reaped here. Nothing waits for arbitrary children, so the waits of the known ones are
// never disturbed.
type registry struct {
	mu   sync.Mutex // held over a start, so that a child is never seen before it is known
	pids map[int]*supervisor

	escaped atomic.Uint64 // that were reaped
}

// start starts a process and makes it known.
func (r *registry) start(s *supervisor, begin func() (pid int, err error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := begin()
	if err != nil {
		return err
	}
	s.pid = pid
	r.pids[s.pid] = s
	return nil
}

// forget takes back what start made known, after the process was reaped.
func (r *registry) forget(s *supervisor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pids[s.pid] == s { // the pid may be a new process already
		delete(r.pids, s.pid)
	}
}

func (r *registry) killAll() {
	r.mu.Lock()
	all := make([]*supervisor, 0, len(r.pids))
	for _, s := range r.pids {
		all = append(all, s)
	}
	r.mu.Unlock()
	for _, s := range all {
		_ = s.send(supervise.Frame{Kind: supervise.KindKill}) // a dead one has no tree of its own any more
		s.nudge()
	}
}

// sweep kills and reaps escaped processes once, and tells how many were alive.
func (r *registry) sweep() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	table, err := supervise.Table()
	if err != nil {
		return 0
	}
	self := os.Getpid()
	var escaped []int
	alive := 0
	for _, p := range table {
		if p.Parent != self || r.pids[p.Pid] != nil {
			continue
		}
		escaped = append(escaped, p.Pid)
		if !p.Dead() {
			alive++
			_ = supervise.Send(p, unix.SIGKILL) // who may not be killed is counted again by the next sweep
		}
		if pid, _ := unix.Wait4(p.Pid, nil, waitAll, nil); pid == p.Pid { // not ended yet: the next sweep
			r.escaped.Add(1)
		}
	}
	for _, p := range supervise.Below(table, escaped...) {
		alive++
		_ = supervise.Send(p, unix.SIGKILL) // as above
	}
	return alive + len(escaped)
}

// clear sweeps until nothing escaped is left, also not in the cgroup of the supervisor that died, for at most limit, and
// reports whether it came to that.
func (r *registry) clear(l *leaf, limit time.Duration) bool {
	for end := time.Now().Add(limit); ; time.Sleep(escapedRescan) {
		l.kill()
		if r.sweep() == 0 && !l.populated() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func childSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c, func() { signal.Stop(c) }
}
