package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain"
	"aion/domain/action"
	"aion/ports"

	"golang.org/x/sys/unix"
)

const errNotDirectory = unix.ENOTDIR

// ending is how a line, and with the last one the body, came to its end.
type ending struct {
	exit     exit
	failure  *action.Failed // the program was not started
	lost     bool           // the supervisor died; what it left was ended
	stuck    bool           // processes live on in spite of everything
	left     string         // which, with their states
	cutShort bool           // lines that follow were not run
}

type exit struct {
	action.Exit
	ended bool // the process was started and has exited
}

// line runs one process with everything that descends from it.
func (a *attempt) line(ctx context.Context, i int) ending {
	argv := a.command.Lines[i]
	end := ending{exit: exit{Exit: action.Exit{
		Command: a.command.Name, Program: argv[0], Line: i + 1, Lines: len(a.command.Lines),
		Stdout: a.stdout, Stderr: a.stderr, StdoutFrom: a.stdout.Total(), StderrFrom: a.stderr.Total(),
	}}}
	path, err := lookup(argv[0], pathOf(a.command.Env))
	if err != nil {
		return spawnFailed(end, argv[0], err)
	}
	streams, writeEnds, err := a.pipes(i)
	if err != nil {
		return spawnFailed(end, argv[0], err)
	}
	var readers sync.WaitGroup
	for _, s := range streams {
		readers.Go(s.read)
	}
	err = a.supervisor.send(supervise.Frame{
		Kind: supervise.KindRun, Path: []byte(path), Argv: raw(argv), Env: raw(a.command.Env),
		Dir: []byte(a.command.Dir), GraceMS: a.x.o.KillGrace.Milliseconds(),
	}, writeEnds...)
	for _, fd := range writeEnds {
		_ = unix.Close(fd)
	}
	if err != nil {
		end.lost = true // it is dead: whatever it may have started is ended with the rest
	} else {
		a.watch(ctx, &end)
	}
	if end.lost {
		a.recover(&end)
	}
	for _, s := range streams {
		s.finish(time.Now().Add(pipesAfter))
	}
	readers.Wait()
	if end.failure == nil && (streams[0].incomplete || streams[1].incomplete) {
		a.note("output_incomplete")
	}
	return end
}

func (a *attempt) pipes(i int) (streams [2]*stream, writeEnds []int, err error) {
	for n, name := range []string{"stdout", "stderr"} {
		capture := a.stdout
		if name == "stderr" {
			capture = a.stderr
		}
		label := role(name, i+1, len(a.command.Lines))
		s, fd, err := newStream(capture, a.hidden, func(at time.Time, text string, partial bool) { a.sink.line(at, label, text, partial) })
		if err != nil {
			if n == 1 {
				_, _ = streams[0].pipe.Close(), unix.Close(writeEnds[0])
			}
			return streams, nil, err
		}
		streams[n], writeEnds = s, append(writeEnds, fd)
	}
	return streams, writeEnds, nil
}

func spawnFailed(end ending, program string, err error) ending {
	f := spawnFailure(program, err)
	end.failure = &f
	return end
}

// watch follows the supervisor until the tree is empty, and stops it when the attempt is to end.
func (a *attempt) watch(ctx context.Context, end *ending) {
	w := watching{a: a, end: end, done: ctx.Done(), beat: time.NewTicker(beatEvery)}
	defer w.beat.Stop()
	for {
		select {
		case f, open := <-a.supervisor.frames:
			if !open {
				end.lost = true
				return
			}
			if w.hear(f) {
				return
			}
		case <-w.done:
			w.stop(causeOf(ctx))
		case <-w.boundHit():
			w.stop(ports.StopDeadline)
		case <-w.beat.C:
			if w.tick(time.Now()) {
				a.abandon(end)
				return
			}
		}
	}
}

// watching is the state of one line that runs.
type watching struct {
	a       *attempt
	end     *ending
	done    <-chan struct{} // nil once the stop was seen or does not matter any more
	stopped bool
	beat    *time.Ticker
	killing time.Time // when the ladder should have killed; zero: the tree is not being stopped
}

// climb notes that the ladder has begun.
func (w *watching) climb() {
	if w.killing.IsZero() {
		w.killing = time.Now().Add(w.a.x.o.KillGrace)
		w.beat.Reset(ladderBeat)
	}
}

// tick keeps the supervisor going, which its own command may have stopped, and kills in its place when it does not. It
// reports that the tree is to be given up.
func (w *watching) tick(at time.Time) (givenUp bool) {
	w.a.supervisor.nudge()
	if w.killing.IsZero() || at.Before(w.killing.Add(helpAfter)) {
		return false
	}
	w.a.supervisor.killTree()
	return at.After(w.killing.Add(w.a.x.o.KillWait))
}

// hear takes one frame and reports whether the line is over.
func (w *watching) hear(f supervise.Frame) (over bool) {
	a := w.a
	switch f.Kind {
	case supervise.KindStarted:
		if err := a.record(processID{f.Pid, f.Start}); err != nil {
			a.log.Warn("ledger entry not completed", "error", err)
		}
		if a.bound == nil && a.e.Bound > 0 {
			a.bound = time.NewTimer(a.e.Bound)
		}
	case supervise.KindFailed:
		failure := spawnFailure(w.end.exit.Program, failedError(f))
		w.end.failure = &failure
		return true
	case supervise.KindExited:
		w.end.exit.ended, w.end.exit.Code, w.end.exit.Signal = true, f.Code, f.Signal
		w.done = nil // the exit code is fixed: nothing that comes later changes it
		if f.Leftovers > 0 && !w.stopped {
			w.climb()
			a.note("leftovers_stopped", "count", f.Leftovers)
		}
	case supervise.KindEmpty:
		return true
	}
	return false
}

// boundHit is the bound as long as it can change the verdict.
func (w *watching) boundHit() <-chan time.Time {
	if w.a.bound == nil || w.end.exit.ended || w.stopped {
		return nil
	}
	return w.a.bound.C
}

// stop begins the ladder, once; the first cause wins.
func (w *watching) stop(cause ports.StopCause) {
	w.done, w.stopped = nil, true
	w.a.cause = cause
	w.climb()
	_ = w.a.supervisor.send(supervise.Frame{Kind: supervise.KindStop}) // a dead one closes its frames
	w.a.note("stopping", "cause", string(cause))
}

// abandon gives a tree up that could not be ended. Its supervisor keeps trying: without a channel it kills until the tree
// is empty.
func (a *attempt) abandon(end *ending) {
	end.stuck = true
	table, _ := supervise.Table() // without it the message names nothing
	var left []string
	for _, p := range supervise.Below(table, a.supervisor.pid) {
		left = append(left, fmt.Sprintf("pid %d (%c)", p.Pid, p.State))
		if len(left) == 20 {
			break
		}
	}
	end.left = strings.Join(left, ", ")
	a.log.Error("processes of a command could not be ended", "processes", end.left)
}

// recover ends what a supervisor left that died itself: its tree was handed to the server.
func (a *attempt) recover(end *ending) {
	a.supervisor.end(a.x.o.KillWait)
	if !a.x.registry.clear(a.x.o.KillWait) {
		end.stuck, end.left = true, "children of the server that a dead supervisor left"
		a.log.Error("processes of a command could not be ended", "processes", end.left)
		return
	}
	a.log.Warn("supervisor of a command ended before the command", "pid", a.supervisor.pid)
}

// failedError gives back the error of a start that failed on the other side.
func failedError(f supervise.Frame) error {
	if f.Errno != 0 {
		return unix.Errno(f.Errno)
	}
	return errors.New(f.Text)
}

func directoryRefusal(dir string, err error) action.Failed {
	f := spawnFailure(dir, err)
	return action.Fail(f.Class, f.Code, fmt.Sprintf("the directory %q cannot be used: %v; create it before this action, or correct `cwd`",
		domain.Quote(dir, 64), err), nil)
}

// pathOf is the PATH of an environment.
func pathOf(env []string) string {
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			return path
		}
	}
	return ""
}

func raw(texts []string) [][]byte {
	list := make([][]byte, len(texts))
	for i, t := range texts {
		list[i] = []byte(t)
	}
	return list
}
