package shell

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"aion/adapters/shell/supervise"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// watched is whoever has a process run: it is told what happens to it.
type watched interface {
	// started tells of the leader and of its start; ended says that the end came with the news.
	started(leader processID, at time.Time, ended bool)
	leftovers(n int)
	// overdue says that nothing has told of a start since the order.
	overdue(ordered time.Time)
	stopping(cause ports.StopCause)
	// bounded gives the time at which the process is stopped with cause deadline; nil: none.
	bounded() <-chan time.Time
	log() *slog.Logger
}

// watching is the state of one process that runs below a supervisor, from its start to the proof that nothing is left.
type watching struct {
	x   *Executor
	s   *supervisor
	of  watched
	end *ending

	allowed func() time.Duration // ports.Execution.Left
	lease   uint64               // what the supervisor knows of that; 0: nothing

	done    <-chan struct{} // nil once the stop was seen or does not matter any more
	ordered time.Time       // when the supervisor was told to run it
	quiet   bool            // it has said nothing since then
	stopped bool
	beat    *time.Ticker
	killing time.Time // when the ladder should have killed; zero: the tree is not being stopped
}

// frame is the order to run a program.
func (x *Executor) frame(path string, argv, env []string, dir string) supervise.Frame {
	f := supervise.Frame{
		Kind: supervise.KindRun, Path: path, Argv: argv, Env: env, Dir: dir,
		GraceMS: x.o.KillGrace.Milliseconds(), Limits: x.pool.cgroups.rest(x.o.Limits),
	}
	if c := x.o.user; c != nil {
		f.User = &supervise.User{UID: c.uid, GID: c.gid, Groups: c.groups}
	}
	return f
}

// follow sends the order with its descriptors, which it closes, and returns when the tree is empty or given up.
func (w *watching) follow(ctx context.Context, f supervise.Frame, fds []int) {
	w.ordered = time.Now()
	w.renewed()
	f.Lease = w.lease
	err := w.s.send(f, fds...)
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	if err != nil {
		w.end.lost = true // it is dead: whatever it may have started is ended with the rest
	} else {
		w.watch(ctx)
	}
	// Whatever came of it: the kernel counts for the cgroup, and the next process has the same one.
	w.end.outOfMemory = w.s.slot.leaf.outOfMemory()
	if w.end.lost {
		w.recover()
	}
}

// watch follows the supervisor, and stops the process when it is to end.
func (w *watching) watch(ctx context.Context) {
	w.done, w.beat, w.quiet = ctx.Done(), time.NewTicker(startedWithin), true
	defer w.beat.Stop()
	for {
		select {
		case came, open := <-w.s.frames:
			if !open {
				w.end.lost = true
				return
			}
			if w.hearAll(came) {
				return
			}
		case <-w.done:
			w.stop(causeOf(ctx))
		case <-w.boundHit():
			w.stop(ports.StopDeadline)
		case <-w.beat.C:
			if at := time.Now(); w.tick(at) {
				if left := w.left(at); left != "" {
					w.abandon(left)
					return
				}
			}
		}
	}
}

// renewed reports whether the supervisor should know of another lease than it does: it stops the tree at its end by itself, also when
// this process stands still then.
func (w *watching) renewed() bool {
	if w.allowed == nil {
		return false
	}
	now := supervise.SinceBoot() // first: what passes in between makes it shorter
	lease := uint64(max(now+w.allowed(), 1))
	if w.lease != 0 && max(lease, w.lease)-min(lease, w.lease) < uint64(time.Second) {
		return false
	}
	w.lease = lease
	return true
}

// climb notes that the ladder has begun.
func (w *watching) climb() {
	if w.killing.IsZero() {
		w.killing = time.Now().Add(w.x.o.KillGrace)
		w.s.nudge()
		w.beat.Reset(ladderBeat)
	}
}

// tick keeps the supervisor going, which its own command may have stopped, and kills in its place when it does not. It
// reports that the tree is to be given up.
func (w *watching) tick(at time.Time) (givenUp bool) {
	w.s.nudge()
	if w.quiet && !at.Before(w.ordered.Add(startedWithin)) {
		w.quiet = false
		w.s.slot.leaf.thaw()
		w.of.overdue(w.ordered)
	}
	if w.killing.IsZero() {
		w.beat.Reset(beatEvery)
		if w.renewed() {
			_ = w.s.send(supervise.Frame{Kind: supervise.KindLease, Lease: w.lease}) // a dead one closes its frames
		}
		return false
	}
	if at.Before(w.killing.Add(helpAfter)) {
		return false
	}
	w.s.killTree()
	return at.After(w.killing.Add(w.x.o.KillWait))
}

// hearAll takes what came at once.
func (w *watching) hearAll(came []supervise.Frame) (over bool) {
	ended := len(came) > 0 && came[len(came)-1].Kind == supervise.KindEmpty
	w.quiet = false
	for _, f := range came {
		over = w.hear(f, ended) || over
	}
	return over
}

// startedAt is when a program was started, by the clock of this process.
func startedAt(f supervise.Frame) time.Time {
	return time.Now().Add(-time.Duration(f.Ago) * time.Microsecond)
}

// hear takes one frame, with which the end came or did not, and reports whether the process and its tree are over.
func (w *watching) hear(f supervise.Frame, ended bool) (over bool) {
	switch f.Kind {
	case supervise.KindStarted:
		at := startedAt(f)
		if w.x.o.Spawned != nil {
			w.x.o.Spawned(max(at.Sub(w.ordered), 1))
		}
		w.of.started(processID{f.Pid, f.Start}, at, ended)
	case supervise.KindFailed:
		w.end.unstarted, w.end.spent = failedError(f), f.Spent
		return true
	case supervise.KindExited:
		w.end.exit.Ended, w.end.exit.Code, w.end.exit.Signal = true, f.Code, f.Signal
		w.done = nil // the exit code is fixed: nothing that comes later changes it
		if f.Leftovers > 0 && !w.stopped {
			w.climb()
			w.of.leftovers(f.Leftovers)
		}
	case supervise.KindExpired:
		if !w.stopped {
			w.of.log().Warn("a command has run as long as it may without a renewed claim; it is stopped")
			w.stop(ports.StopClaimLost)
		}
	case supervise.KindEmpty:
		w.end.spent = f.Spent
		return true
	default: // what the server says itself
	}
	return false
}

// boundHit is the bound as long as it can change the verdict.
func (w *watching) boundHit() <-chan time.Time {
	if w.end.exit.Ended || w.stopped {
		return nil
	}
	return w.of.bounded()
}

// stop begins the ladder, once; the first cause wins.
func (w *watching) stop(cause ports.StopCause) {
	w.done, w.stopped = nil, true
	w.climb()
	_ = w.s.send(supervise.Frame{Kind: supervise.KindStop}) // a dead one closes its frames
	w.of.stopping(cause)
}

// below gives what is left below the supervisor; when all of it is dead, what nobody has reaped.
func (w *watching) below() ([]supervise.Process, error) {
	table, err := supervise.Table()
	below := supervise.Below(table, w.s.pid)
	if len(below) == 0 { // a tracer keeps the dead from being reaped
		below = slices.DeleteFunc(table, func(p supervise.Process) bool { return !p.Dead() || p.Parent != w.s.pid })
	}
	return below, err
}

// left names what is left of a tree that is given up, with the states. It is empty as long as only the proof of the end is on its
// way: on a busy machine the supervisor gets to it late. That is waited for once more.
func (w *watching) left(at time.Time) string {
	below, err := w.below()
	switch waits := at.Before(w.killing.Add(2 * w.x.o.KillWait)); {
	case err == nil && len(below) > 0:
	case waits:
		return ""
	case err != nil:
		return fmt.Sprintf("what is below pid %d (the process table cannot be read: %v)", w.s.pid, err)
	default:
		s, _ := supervise.Find(w.s.pid) // it cannot be gone: serve reaps it
		return fmt.Sprintf("the supervisor itself, pid %d (%c), below which nothing is seen", w.s.pid, cmp.Or(s.State, '?'))
	}
	var left []string
	for _, p := range below[:min(len(below), 20)] {
		left = append(left, fmt.Sprintf("pid %d (%c)", p.Pid, p.State))
	}
	return strings.Join(left, ", ")
}

// abandon gives a tree up that could not be ended. Its supervisor keeps trying: without a channel it kills until the tree
// is empty.
func (w *watching) abandon(left string) {
	w.end.stuck, w.end.left = true, left
	w.of.log().Error("processes of a command could not be ended", "processes", left)
}

// recover ends what a supervisor left that died itself: its tree was handed to the server.
func (w *watching) recover() {
	w.s.end(w.x.o.KillWait)
	if !w.x.registry.clear(w.s.slot.leaf, w.x.o.KillWait) {
		w.end.stuck, w.end.left = true, "children of the server that a dead supervisor left"
		w.of.log().Error("processes of a command could not be ended", "processes", w.end.left)
		return
	}
	w.of.log().Warn("supervisor of a command ended before the command", "pid", w.s.pid)
}

// release takes a supervisor back after its process has come to an end: for the next one, or for good when it is dead,
// has a tree that does not end, a directory that cannot be removed, or a cgroup that was killed: Linux kills what is started in
// one later, too.
func (x *Executor) release(s *supervisor, end ending) {
	x.counts.busy.Add(-1)
	if (s.slot.untouched() || x.pool.drop(s.slot, !end.stuck)) && !end.stuck && !end.lost && !end.spent && !s.slot.leaf.used() {
		x.pool.put(s)
		return
	}
	if !end.stuck {
		x.pool.dismiss(s, x.o.KillWait)
		return
	}
	x.counts.failures.Add(1)
	x.mu.Lock()
	x.stuck[s] = end.left
	x.mu.Unlock()
	x.pool.running.Go(func() {
		x.pool.endFor(s, 0)
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.stuck, s)
	})
}

// Stuck names the processes that could not be ended and still run; empty: there are none.
func (x *Executor) Stuck() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []string
	for _, left := range x.stuck {
		all = append(all, left)
	}
	return strings.Join(all, ", ")
}
