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
	supervisor     *supervisor

	bound *time.Timer     // from the start of the first line
	cause ports.StopCause // why it was stopped; empty: it was not
}

func (x *Executor) log(k domain.AttemptKey) *slog.Logger { return x.o.Logger.With(keyAttrs(k)...) }

func (a *attempt) log() *slog.Logger { return a.x.log(a.e.Dispatch.Key) }

// run executes all lines and gives the verdict.
func (a *attempt) run(ctx context.Context) action.Verdict {
	defer a.notes.Wait()
	if a.command.Dir != "" {
		if f := directoryFailure(a.command.Dir); f != nil {
			return *f
		}
	}
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
	return a.verdict(end)
}

// place gives the command its directory and its entry in the ledger.
func (a *attempt) place() error {
	if a.command.Dir == "" {
		dir, err := a.supervisor.slot.scratch()
		if err != nil {
			return err
		}
		a.command.Dir = dir
	}
	return a.record(processID{})
}

// lines runs one line after the other, each after the tree of the one before is gone.
func (a *attempt) lines(ctx context.Context) ending {
	var end ending
	for i := range a.command.Lines {
		a.interrupted(ctx)
		if a.cause != "" {
			return ending{cutShort: true, exit: a.about(i)}
		}
		end = a.line(ctx, i)
		if end.unstarted != nil || end.lost || end.stuck || a.cause != "" || end.exit.Code != 0 {
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
	if a.bound == nil && a.e.Bound > 0 {
		a.bound = time.NewTimer(time.Until(at.Add(a.e.Bound)))
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
	case end.unstarted != nil && a.cause == "":
		return spawnFailure(end.exit, end.unstarted)
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
func stoppedBefore(ctx context.Context) action.Verdict {
	switch causeOf(ctx) {
	case ports.StopRunClosed, ports.StopCancelled, ports.StopClaimLost:
		return action.Dropped{}
	case ports.StopDeadline, ports.StopDrain:
	}
	return action.Parked{}
}

// causeOf reads why a context ended. A context that ended for no reason of ours parks the attempt, like a drain.
func causeOf(ctx context.Context) ports.StopCause {
	var cause ports.StopCause
	if errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	return ports.StopDrain
}

func directoryFailure(dir string) *action.Failed {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errNotDirectory
	}
	if err == nil {
		return nil
	}
	f := directoryRefusal(dir, err)
	return &f
}
