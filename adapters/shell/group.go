package shell

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"aion/adapters/shell/supervise"

	"golang.org/x/sys/unix"
)

// group stands in for a supervisor process where a system has none (actions 4.5): the server itself starts the command in
// a session of its own and signals what it can find of it. It speaks the frames of a supervisor. What leaves both session
// and parent between two looks escapes.
type group struct {
	s        *supervisor
	registry *registry
	orders   chan supervise.Kind // stop, kill and bye
	frames   chan<- []supervise.Frame

	mu      sync.Mutex
	running bool
	leaving bool
	loop    sync.WaitGroup

	leader int
	known  map[processID]struct{} // what was ever found below the leader
	next   time.Time              // when the ladder goes on; zero: it does not run
	exited bool
}

// groupBeat is the pace of the ladder.
const groupBeat = 5 * time.Millisecond

// local gives a supervisor that is no process.
func (p *pool) local(slot *slot) (*supervisor, error) {
	s := newSupervisor(slot)
	s.group = &group{s: s, registry: p.registry, orders: make(chan supervise.Kind, framesPerRun), frames: s.frames}
	return s, nil
}

// take does what a supervisor does with a frame.
func (g *group) take(f supervise.Frame, fds []int) error {
	if f.Kind != supervise.KindRun {
		select {
		case g.orders <- f.Kind:
		default: // the same was said often enough
		}
		return nil
	}
	if err := g.start(f, fds); err != nil {
		g.frames <- []supervise.Frame{supervise.Failed(err)}
	}
	return nil
}

func (g *group) start(f supervise.Frame, fds []int) error {
	var files []uintptr
	if !f.Input {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer func() { _ = null.Close() }()
		files = append(files, null.Fd())
	}
	for _, fd := range fds {
		files = append(files, uintptr(fd))
	}
	attr := &syscall.SysProcAttr{Setsid: true}
	if f.User != nil {
		attr.Credential = &syscall.Credential{Uid: f.User.UID, Gid: f.User.GID, Groups: f.User.Groups}
	}
	err := g.registry.start(g.s, func() (int, error) {
		return supervise.Unblocked(func() (int, error) {
			return syscall.ForkExec(f.Path, f.Argv, &syscall.ProcAttr{Dir: f.Dir, Env: f.Env, Files: files, Sys: attr}) //nolint:gosec // running what it is told is the purpose
		})
	})
	if err != nil {
		return err
	}
	g.leader, g.known, g.exited, g.next = g.s.pid, map[processID]struct{}{}, false, time.Time{}
	for len(g.orders) > 0 { // of the run before
		<-g.orders
	}
	leader, _ := supervise.Find(g.leader) // it cannot be gone: nobody else reaps
	g.s.process = leader
	g.mu.Lock()
	g.running = true
	g.mu.Unlock()
	g.frames <- []supervise.Frame{{Kind: supervise.KindStarted, Pid: g.leader, Start: leader.Start}}
	g.loop.Go(func() { g.follow(time.Duration(f.GraceMS) * time.Millisecond) })
	return nil
}

// follow tells of the end when nothing of the command can be found any more; the stand-in is free then.
func (g *group) follow(grace time.Duration) {
	last := g.watch(grace)
	g.over()
	g.frames <- last
}

func (g *group) watch(grace time.Duration) (last []supervise.Frame) {
	status := make(chan unix.WaitStatus, 1)
	g.loop.Go(func() { status <- g.reap() })
	beat := time.NewTicker(groupBeat)
	defer beat.Stop()
	for {
		select {
		case ws := <-status:
			g.exited = true
			if last = g.end(ws, grace); last != nil {
				return last
			}
		case kind := <-g.orders:
			switch {
			case kind == supervise.KindStop && g.next.IsZero():
				g.stop(grace)
			case kind == supervise.KindKill:
				g.next = time.Now()
			}
		case <-beat.C:
		}
		if g.next.IsZero() || time.Now().Before(g.next) && !g.exited {
			continue
		}
		tree := g.tree()
		if g.exited && len(tree) == 0 {
			return []supervise.Frame{{Kind: supervise.KindEmpty}}
		}
		if !time.Now().Before(g.next) {
			g.signal(tree, unix.SIGKILL)
			g.next = time.Now().Add(escapedRescan)
		}
	}
}

// end gives what is to be told when nothing else is left; else it tells of the leader's end and stops the rest.
func (g *group) end(ws unix.WaitStatus, grace time.Duration) []supervise.Frame {
	exited := supervise.Exited(ws)
	if exited.Leftovers = len(g.tree()); exited.Leftovers == 0 {
		return []supervise.Frame{exited, {Kind: supervise.KindEmpty}}
	}
	g.frames <- []supervise.Frame{exited}
	if g.next.IsZero() {
		g.stop(grace)
	}
	return nil
}

func (g *group) stop(grace time.Duration) {
	tree := g.tree()
	g.signal(tree, unix.SIGTERM)
	g.signal(tree, unix.SIGCONT)
	g.next = time.Now().Add(grace)
}

func (g *group) signal(tree []supervise.Process, sig unix.Signal) {
	_ = unix.Kill(-g.leader, sig) // also what started since the look; who may not be signalled is found again
	for _, p := range tree {
		_ = supervise.Send(p, sig) // as above
	}
}

func (g *group) reap() unix.WaitStatus {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(g.leader, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			return ws
		}
	}
}

// tree gives what can be found of the command: its session and group, what was found below it before, and all below these.
func (g *group) tree() []supervise.Process {
	table, err := supervise.Table()
	if err != nil {
		if err := unix.Kill(-g.leader, 0); err == nil || errors.Is(err, unix.EPERM) {
			return []supervise.Process{{Pid: g.leader}} // something lives
		}
		return nil
	}
	var roots []int
	var tree []supervise.Process
	for _, p := range table {
		_, seen := g.known[processID{p.Pid, p.Start}]
		if (seen || p.Session == g.leader || p.Group == g.leader) && p.Pid != os.Getpid() {
			roots = append(roots, p.Pid)
			if !p.Dead() {
				tree = append(tree, p)
			}
		}
	}
	tree = append(tree, supervise.Below(table, roots...)...)
	for _, p := range tree {
		g.known[processID{p.Pid, p.Start}] = struct{}{}
	}
	return tree
}

// over makes the stand-in free for the next command, or ends it.
func (g *group) over() {
	g.registry.forget(g.s)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
	if g.leaving {
		close(g.s.done)
	}
}

// leave ends the stand-in, once its command is gone.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaving {
		return
	}
	g.leaving = true
	if !g.running {
		close(g.s.done)
	}
}
