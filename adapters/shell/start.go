package shell

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// Command is a process that another part of the server needs, such as an assistant's harness. It is contained, recorded
// and ended like a command of an action; nothing bounds or keeps its output.
type Command struct {
	Name  string   // for the log and the ledger
	Argv  []string // the program is looked up on the PATH of Env
	Env   []string // all of it, NAME=value; the server's PATH is added when it has none
	Dir   string   // empty: a fresh directory that is removed afterwards
	Input bool     // a pipe for the standard input; else it reads /dev/null
}

// Process is a Command that was started. Whoever started it reads Stdout and Stderr to their end, and calls Wait.
type Process struct {
	Stdin          io.WriteCloser // nil without Input
	Stdout, Stderr io.ReadCloser

	x      *Executor
	s      *supervisor
	name   string
	began  time.Time
	stop   context.CancelCauseFunc
	ready  chan struct{} // closed when it runs, or will not
	isUp   bool
	over   chan struct{} // closed when the tree is gone or given up
	end    ending
	pipes  [3]*os.File // ours: of input (nil without), output, errors
	events *slog.Logger
}

// Start runs a command until it ends or ctx does: then its whole tree is stopped. It returns when the program was
// executed, or with a refusal that says why it was not.
func (x *Executor) Start(ctx context.Context, c Command) (*Process, error) {
	if len(c.Argv) == 0 {
		return nil, refuse("ProgramNotStarted", nil, "%s names no program", domain.Quote(c.Name, 64))
	}
	env := c.Env
	if pathOf(env) == "" {
		env = append([]string{"PATH=" + x.o.Path}, env...)
	}
	var path string
	var err error
	if late := x.pool.aside(ctx, nil, func() { path, err = lookup(c.Argv[0], pathOf(env)) }); late != nil {
		return nil, domain.Unavailable("ProgramNotStarted", late.Error(), late)
	}
	if err != nil {
		return nil, notStarted(spawnFailure(action.Exit{Program: c.Argv[0]}, err))
	}
	if x.killed.Load() {
		return nil, domain.Unavailable("ShuttingDown", "the server is shutting down", nil)
	}
	p := &Process{x: x, name: c.Name, began: time.Now().UTC(), ready: make(chan struct{}), over: make(chan struct{}), events: x.o.Logger.With("process", c.Name)}
	if p.s, err = x.take(); err != nil {
		return nil, domain.Unavailable("ProgramNotStarted", err.Error(), err)
	}
	dir := c.Dir
	if dir == "" {
		dir, err = p.s.slot.scratch()
	}
	var theirs []int
	if err == nil {
		err = p.record(processID{})
	}
	if err == nil {
		theirs, err = p.open(c.Input)
	}
	if err != nil {
		x.release(p.s, ending{})
		return nil, domain.Unavailable("ProgramNotStarted", err.Error(), err)
	}
	p.end.exit.Program = c.Argv[0]
	ctx, p.stop = context.WithCancelCause(ctx)
	f := x.frame(path, c.Argv, env, dir)
	f.Input = c.Input
	x.pool.running.Go(func() {
		w := watching{x: x, s: p.s, of: p, end: &p.end}
		w.follow(ctx, f, theirs)
		p.finish()
	})
	<-p.ready
	if p.isUp {
		return p, nil
	}
	_, err = p.Wait()
	return nil, err
}

// open makes the pipes and gives the descriptors of the other side.
func (p *Process) open(input bool) (theirs []int, err error) {
	for n := range p.pipes {
		if n == 0 && !input {
			continue
		}
		kept := 0
		if n == 0 {
			kept = 1
		}
		var other int
		if p.pipes[n], other, err = halfPipe(kept); err != nil {
			p.closePipes()
			for _, fd := range theirs {
				_ = unix.Close(fd)
			}
			return nil, err
		}
		theirs = append(theirs, other)
	}
	if input {
		p.Stdin = p.pipes[0]
	}
	p.Stdout, p.Stderr = p.pipes[1], p.pipes[2]
	return theirs, nil
}

func (p *Process) closePipes() {
	for _, pipe := range p.pipes {
		if pipe != nil {
			_ = pipe.Close()
		}
	}
}

// record writes what a later server needs to end this process.
func (p *Process) record(leader processID) error {
	e := p.x.pool.idle(p.s)
	e.Action, e.StartedAt, e.Leader, e.Session = p.name, p.began, leader, leader.Pid
	return p.s.slot.write(e)
}

// finish is called once nothing of the process is left.
func (p *Process) finish() {
	for _, pipe := range p.pipes[1:] {
		_ = pipe.SetReadDeadline(time.Now().Add(pipesAfter)) // whoever was given the other end
	}
	if p.pipes[0] != nil {
		_ = p.pipes[0].Close()
	}
	p.x.release(p.s, p.end)
	if !p.isUp {
		p.closePipes()
		close(p.ready)
	}
	close(p.over)
}

// Stop ends the process and all below it with the ladder of TERM and KILL. Wait tells when that is done.
func (p *Process) Stop() { p.stop(ports.StopCancelled) }

// Wait returns when nothing of the process is left: its exit code, 128+n for signal n. An error says that it was not
// started, that its supervisor died, or that processes of it live on. It may be called more than once.
func (p *Process) Wait() (code int, err error) {
	<-p.over
	p.stop(nil)
	switch {
	case p.end.unstarted != nil:
		return 0, notStarted(spawnFailure(p.end.exit, p.end.unstarted))
	case p.end.stuck:
		return 0, domain.Unavailable("ProcessesLeft", "processes of "+p.name+" could not be ended: "+p.end.left, nil)
	case p.end.lost:
		return 0, domain.Unavailable("SupervisorLost", "the supervisor of "+p.name+" ended before it; its processes were ended", nil)
	}
	return p.end.exit.Code, nil
}

func (p *Process) started(leader processID, _ time.Time, ended bool) {
	if !ended {
		if err := p.record(leader); err != nil {
			p.events.Warn("ledger entry not completed", "error", err)
		}
	}
	p.isUp = true
	close(p.ready)
}

func (p *Process) leftovers(n int) {
	p.events.Info("processes that it left behind are stopped", "count", n)
}

func (p *Process) stopping(cause ports.StopCause) {
	p.events.Info("the process is stopped", "cause", string(cause))
}

func (p *Process) overdue(time.Time) {}

func (p *Process) bounded() <-chan time.Time { return nil }

func (p *Process) log() *slog.Logger { return p.events }

func notStarted(f action.Failed) error {
	return refuse("ProgramNotStarted", nil, "%s", strings.TrimSpace(f.Message))
}
