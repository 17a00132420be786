package shell

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain/action"

	"golang.org/x/sys/unix"
)

// ending is how a line, and with the last one the body, came to its end.
type ending struct {
	exit      action.Exit
	refused   *action.Failed // the program, which the operator does not admit
	directory error          // why none can be started there
	unstarted error          // why the program was not started
	lost      bool           // the supervisor died; what it left was ended
	spent     bool           // the supervisor cannot run another one
	stuck     bool           // processes live on in spite of everything
	left      string         // which, with their states
	cutShort  bool           // lines that follow were not run

	outOfMemory bool // the kernel killed a process of it for want of memory
}

// about names the process of a line before it is started. A secret in the name of its program is never kept.
func (a *attempt) about(i int) action.Exit {
	return action.Exit{
		Command: a.command.Name, Program: a.hidden.mask(a.command.Lines[i][0]), Line: i + 1, Lines: len(a.command.Lines),
		Stdout: a.stdout, Stderr: a.stderr, StdoutFrom: a.stdout.Total(), StderrFrom: a.stderr.Total(),
	}
}

// line runs one process with everything that descends from it.
func (a *attempt) line(ctx context.Context, i int) ending {
	argv := a.command.Lines[i]
	end := ending{exit: a.about(i)}
	var program found
	if err := a.aside(ctx, func() { program = a.x.find(argv[0], pathOf(a.command.Env)) }); err != nil {
		end.unstarted = err
		return end
	}
	if end.refused, end.unstarted = program.refused, program.err; end.refused != nil || end.unstarted != nil {
		return end
	}
	streams, writeEnds, err := a.pipes(i)
	if err != nil {
		end.unstarted = err
		return end
	}
	var readers sync.WaitGroup
	for i, s := range streams {
		readers.Go(func() { s.read(a.supervisor.buffers[i]) })
	}
	w := watching{x: a.x, s: a.supervisor, of: a, end: &end, allowed: a.e.Left}
	w.follow(ctx, a.x.frame(program.path, argv, a.command.Env, a.command.Dir), writeEnds)
	for _, s := range streams {
		s.finish(time.Now().Add(pipesAfter))
	}
	readers.Wait()
	if end.unstarted == nil && (streams[0].incomplete || streams[1].incomplete) {
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
		s.joint = a.joint[n]
		streams[n], writeEnds = s, append(writeEnds, fd)
	}
	return streams, writeEnds, nil
}

// failedError gives back the error of a start that failed on the other side.
func failedError(f supervise.Frame) error {
	if f.Errno != 0 {
		return unix.Errno(f.Errno)
	}
	return errors.New(f.Text)
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
