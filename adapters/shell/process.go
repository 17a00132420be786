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

	"golang.org/x/sys/unix"
)

const errNotDirectory = unix.ENOTDIR

// ending is how a line, and with the last one the body, came to its end.
type ending struct {
	exit      action.Exit
	unstarted error  // why the program was not started
	lost      bool   // the supervisor died; what it left was ended
	spent     bool   // the supervisor cannot run another one
	stuck     bool   // processes live on in spite of everything
	left      string // which, with their states
	cutShort  bool   // lines that follow were not run

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
	path, err := lookup(argv[0], pathOf(a.command.Env))
	if err != nil {
		end.unstarted = err
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
	w := watching{x: a.x, s: a.supervisor, of: a, end: &end}
	w.follow(ctx, a.x.frame(path, argv, a.command.Env, a.command.Dir), writeEnds)
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

func directoryRefusal(dir string, err error) action.Failed {
	f := spawnFailure(action.Exit{Program: dir}, err)
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
