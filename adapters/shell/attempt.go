package shell

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// attempt is one execution, from its first process to the proof that none is left. One goroutine drives it.
type attempt struct {
	x       *Executor
	e       ports.Execution
	command action.Command
	began   time.Time
	sink    *sink
	notes   sync.WaitGroup // status events on their way: the transcript may make them wait, nothing else does
	hidden  *secrets

	stdout, stderr *action.Output
	joint          [2]*masker // of these, over all lines; nil: nothing is to be hidden, or there is one line
	supervisor     *supervisor
	scratched      bool // its directory is the one of its supervisor

	bound   *time.Timer     // from the start of the first line
	assumed bool            // the bound runs from the order, because nothing has told of the start
	cause   ports.StopCause // why it was stopped; empty: it was not
}

func (x *Executor) log(k domain.AttemptKey) *slog.Logger { return x.o.Logger.With(keyAttrs(k)...) }

func (a *attempt) log() *slog.Logger { return a.x.log(a.e.Dispatch.Key) }

// run executes all lines and gives the verdict.
func (a *attempt) run(ctx context.Context) action.Verdict {
	defer a.notes.Wait()
	s, err := a.x.take()
	if err != nil {
		return action.Fail(action.Retryable, action.CodeSpawnFailed, err.Error(), nil)
	}
	a.supervisor = s
	end := ending{lost: true} // should this function panic
	defer func() {            // on every way out: a supervisor with a tree is never used again
		a.x.release(s, end)
		if a.bound != nil {
			a.bound.Stop()
		}
	}()
	if err := a.place(); err != nil {
		end = ending{}
		return action.Fail(action.Retryable, action.CodeSpawnFailed, err.Error(), nil)
	}
	end = a.lines(ctx)
	for i, capture := range []*action.Output{a.stdout, a.stderr} {
		if a.joint[i] != nil {
			_, _ = capture.Write(a.joint[i].end()) // never fails
		}
	}
	return a.verdict(end)
}

// place gives the command its directory and its entry in the ledger.
func (a *attempt) place() error {
	if a.command.Dir == "" {
		dir, err := a.supervisor.slot.scratch()
		if err != nil {
			return err
		}
		a.command.Dir, a.scratched = dir, true
	}
	return a.record(processID{})
}

// again gives the command another directory, because somebody took that of its slot away, and reports whether it could.
func (a *attempt) again() bool {
	a.supervisor.slot.made, a.command.Dir = nil, ""
	return a.place() == nil
}

// lines runs one line after the other, each after the tree of the one before is gone.
func (a *attempt) lines(ctx context.Context) ending {
	var end ending
	for i := range a.command.Lines {
		a.interrupted(ctx)
		if a.cause != "" {
			return ending{cutShort: true, exit: a.about(i)}
		}
		if end = a.line(ctx, i); end.unstarted != nil && a.cause == "" {
			end.directory = a.directoryError(ctx)
		}
		if i == 0 && a.scratched && errors.Is(end.directory, unix.ENOENT) && a.again() { // nothing of it has run
			end = a.line(ctx, i)
		}
		if end.refused != nil || end.unstarted != nil || end.lost || end.stuck || a.cause != "" || end.exit.Code != 0 {
			end.cutShort = i+1 < len(a.command.Lines)
			return end
		}
	}
	return end
}

// interrupted notices, between two processes, that the attempt is to stop.
func (a *attempt) interrupted(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
		a.cause = causeOf(ctx)
	case a.x.killed.Load():
		a.cause = ports.StopDrain
	case a.bound == nil:
	default:
		select {
		case <-a.bound.C:
			a.cause = ports.StopDeadline
		default:
		}
	}
}

// started completes the ledger, unless the process is gone already, and lets the bound run from the first start.
func (a *attempt) started(leader processID, at time.Time, ended bool) {
	if !ended {
		if err := a.record(leader); err != nil {
			a.log().Warn("ledger entry not completed", "error", err)
		}
	}
	switch left := time.Until(at.Add(a.e.Bound)); {
	case a.e.Bound <= 0:
	case a.bound == nil:
		a.bound = time.NewTimer(left)
	case a.assumed:
		a.bound.Reset(left)
	}
	a.assumed = false
}

func (a *attempt) overdue(ordered time.Time) {
	if a.bound == nil && a.e.Bound > 0 {
		a.bound, a.assumed = time.NewTimer(time.Until(ordered.Add(a.e.Bound))), true
	}
}

func (a *attempt) leftovers(n int) { a.note("leftovers_stopped", "count", n) }

func (a *attempt) stopping(cause ports.StopCause) {
	a.cause = cause
	a.note("stopping", "cause", string(cause))
}

func (a *attempt) bounded() <-chan time.Time {
	if a.bound == nil {
		return nil
	}
	return a.bound.C
}

// note writes a status event without waiting for it.
func (a *attempt) note(status string, more ...any) {
	detail := map[string]any{"status": status}
	for i := 0; i+1 < len(more); i += 2 {
		if name, ok := more[i].(string); ok {
			detail[name] = more[i+1]
		}
	}
	a.notes.Go(func() { a.sink.status(detail) })
}

// verdict says what an end means (actions 5 and 6).
func (a *attempt) verdict(end ending) action.Verdict {
	switch a.cause {
	case ports.StopRunClosed, ports.StopCancelled, ports.StopClaimLost:
		a.log().Info("attempt stopped, its result is dropped", "cause", string(a.cause))
		return action.Dropped{}
	case ports.StopDeadline, ports.StopDrain:
	}
	switch {
	case end.stuck:
		return action.Fail(action.Terminal, action.CodeContainmentFailed, "processes of the command could not be ended: "+end.left+
			"; end them by hand, or restart the host", nil).With(end.exit.Details())
	case a.cause == ports.StopDeadline:
		if end.exit.Ended {
			a.log().Warn("command exited after its bound", "exit_code", end.exit.Code, "bound", a.e.Bound.String())
		}
		return action.DeadlineFailure(a.e.Bound, end.exit)
	case end.refused != nil && a.cause == "":
		return *end.refused
	case end.unstarted != nil && a.cause == "":
		return a.unstarted(end)
	case a.parked(end):
		return action.Parked{}
	case end.lost:
		return action.Fail(action.Lost, action.CodeSupervisorLost, "the supervisor of the command ended before the command did; "+
			"its processes were ended", nil).With(end.exit.Details())
	case end.exit.Code != 0 && end.outOfMemory:
		return action.OutOfMemory(end.exit, a.x.o.Limits.MemoryBytes)
	case end.exit.Code != 0:
		return action.ExitFailure(end.exit)
	}
	result, failure := action.Result(a.command.Capture, a.e.ResultIsNil, a.stdout, a.stderr, a.e.MaxResult)
	if failure != nil {
		return failure.With(end.exit.Details())
	}
	return action.Completed{Result: result}
}

// parked: a drain keeps only a result, which is there when the last line exited 0 inside the grace.
func (a *attempt) parked(end ending) bool {
	if a.cause == "" {
		return a.x.killed.Load() && end.exit.Code != 0
	}
	return end.cutShort || end.lost || end.unstarted != nil || !end.exit.Ended || end.exit.Code != 0
}

// stoppedBefore is the verdict of an attempt that was stopped before it began: nothing was started.
func stoppedBefore(cause ports.StopCause) action.Verdict {
	switch cause {
	case ports.StopRunClosed, ports.StopCancelled, ports.StopClaimLost:
		return action.Dropped{}
	case ports.StopDeadline, ports.StopDrain:
	}
	return action.Parked{}
}

// unprepared is the verdict of an attempt that was given up while files were looked at: nothing was started.
func unprepared(bound time.Duration, err error) action.Verdict {
	var cause ports.StopCause
	switch {
	case !errors.As(err, &cause):
		return action.Fail(action.Retryable, action.CodeSpawnFailed, err.Error(), nil)
	case cause == ports.StopDeadline:
		return action.DeadlineFailure(bound, action.Exit{})
	}
	return stoppedBefore(cause)
}

// aside has files looked at until the attempt is to stop, which it notes then.
func (a *attempt) aside(ctx context.Context, look func()) error {
	until := a.bounded()
	if until == nil { // the bound counts from here
		until = within(a.e.Bound)
	}
	err := a.x.pool.aside(ctx, until, look)
	if cause := ports.StopCause(""); errors.As(err, &cause) {
		a.stopping(cause)
	}
	return err
}

// causeOf reads why a context ended. A context that ended for no reason of ours parks the attempt, like a drain.
func causeOf(ctx context.Context) ports.StopCause {
	var cause ports.StopCause
	if errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	return ports.StopDrain
}

// unstarted tells why a process was not started: its directory, which a line before may have removed, or its program.
func (a *attempt) unstarted(end ending) action.Failed {
	if end.directory != nil {
		return directoryFailure(end.exit, a.hidden.mask(a.command.Dir), end.directory)
	}
	return spawnFailure(end.exit, end.unstarted)
}

// directoryError tells why no process can be started in the directory of the command; nil: one can, or the attempt is to stop.
func (a *attempt) directoryError(ctx context.Context) error {
	var info os.FileInfo
	var err error
	answered := a.aside(ctx, func() { info, err = os.Stat(a.command.Dir) }) == nil
	switch {
	case !answered:
		return nil
	case err == nil && !info.IsDir():
		return unix.ENOTDIR
	}
	return err
}
