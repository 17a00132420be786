package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
)

// view prints the live lines of one run. Lines of parallel steps never mix inside a line.
type view struct {
	quiet bool
	lines bool // with every line of output
	none  bool
	color bool

	mu    sync.Mutex
	w     io.Writer
	start time.Time
	steps map[int64]string    // activity → step, with its branch
	alone map[[2]string]bool  // queue and action → nobody serves it, which was looked up
	told  string              // the message of the last failure that a line showed
	began map[int64]time.Time // activity → start of its running attempt
	tails map[domain.AttemptKey]*tail
	next  history.Seq // of the first event that was not shown
	wait  sync.WaitGroup
}

func (f *followFlags) view(p *Program, g *globals) (*view, error) {
	v := &view{quiet: g.quiet, color: g.color(p), w: p.Err, steps: map[int64]string{}, alone: map[[2]string]bool{}, began: map[int64]time.Time{}, tails: map[domain.AttemptKey]*tail{}, next: 1}
	switch f.follow {
	case "":
		v.lines, v.none = p.ErrTerminal, g.quiet
	case "all":
		v.lines = true
	case "steps":
	case "none":
		v.none = true
	default:
		return nil, &usage{message: fmt.Sprintf("--follow takes steps, all or none; got %q", f.follow)}
	}
	return v, nil
}

// note prints a line about the run as a whole.
func (v *view) note(word, format string, args ...any) {
	if v.quiet {
		return
	}
	v.line("%-9s %s", word, fmt.Sprintf(format, args...))
}

// line prints a whole line.
func (v *view) line(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintln(v.w, printable(fmt.Sprintf(format, args...)))
}

func (v *view) step(at time.Time, step, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	seconds := at.Sub(v.start).Seconds()
	if seconds < 0 {
		seconds = 0
	}
	fmt.Fprintf(v.w, "%6.2fs  %-14s %s\n", seconds, step, printable(text))
}

// at is how far the view has come.
func (v *view) at() int64 { return v.next }

// tail is the transcript of one attempt that is being printed.
type tail struct {
	next int64         // position of the first line that was not printed
	done chan struct{} // closed when nothing more comes from this host
}

// follow prints what happens until the chain has ended or ctx ends. After the loss of a host it goes on at another one with
// what was not printed yet.
func (v *view) follow(ctx context.Context, h host, r begun) error {
	v.start = r.at
	ctx, cancel := context.WithCancel(ctx)
	defer v.wait.Wait()
	defer cancel()
	if !v.none {
		v.wait.Go(func() { v.signals(ctx, h, r) })
	}
	for k, t := range v.tails {
		v.print(ctx, h, k, t)
	}
	return h.events(ctx, r.id, v.next, func(rec history.Recorded) error {
		event, err := rec.Event()
		if err != nil {
			return err
		}
		if !v.none {
			v.show(ctx, h, rec, event)
		}
		if ctx.Err() == nil { // else a line may be missing in front of it
			v.next = rec.Seq + 1
		}
		return nil
	})
}

func (v *view) show(ctx context.Context, h host, rec history.Recorded, event history.Event) {
	switch ev := event.(type) {
	case history.ActivityScheduled:
		v.steps[ev.ActivityID] = branch(cmp.Or(ev.Step, ev.ActivityType), ev.Scope)
		v.unserved(ctx, h, rec, ev)
	case history.ActivityStarted:
		v.began[ev.ActivityID] = rec.At
		v.step(rec.At, v.label(ev.ActivityID, ev.Attempt), "started")
		v.tail(ctx, h, key(rec, ev.ActivityID, ev.Attempt))
	case history.ActivityCompleted:
		v.settled(ctx, key(rec, ev.ActivityID, ev.Attempt))
		v.step(rec.At, v.label(ev.ActivityID, ev.Attempt), "done in "+v.took(ev.ActivityID, rec.At))
	case history.ActivityFailed:
		v.settled(ctx, key(rec, ev.ActivityID, ev.Attempt))
		v.told = ev.Message
		text := fmt.Sprintf("failed (%s) %s", ev.Class, firstLine(ev.Message))
		if !ev.RetryAt.IsZero() {
			text += fmt.Sprintf("; next attempt in %s", ev.RetryAt.Sub(rec.At).Round(time.Millisecond))
		}
		v.step(rec.At, v.label(ev.ActivityID, ev.Attempt), text)
	case history.TimerStarted:
		if ev.Purpose != "workflow" {
			var scope string
			if ev.Scope != nil {
				scope = *ev.Scope
			}
			v.step(rec.At, branch(ev.Step, scope), fmt.Sprintf("%s until %s", ev.Purpose, ev.FireAt.Format(time.RFC3339)))
		}
	case history.SignalReceived:
		v.step(rec.At, "signal", ev.SignalName+" received")
	case history.StepFailed:
		v.failure(rec.At, branch(ev.Step, ev.Scope), "failed: ", ev.Failure)
	case history.WorkflowCompleted:
		v.step(rec.At, "outcome", ev.Outcome+" (success)")
	case history.WorkflowFailed:
		if ev.Failure != nil {
			v.told = "" // the last line says it again, whole
			v.failure(rec.At, "failed", ev.Failure.Code+": ", *ev.Failure)
			return
		}
		v.step(rec.At, "outcome", ev.Outcome+" (failure)")
	case history.WorkflowTimedOut:
		v.step(rec.At, "timed out", fmt.Sprintf("after %s", time.Duration(ev.TimeoutMS)*time.Millisecond))
	case history.WorkflowCancelled:
		v.step(rec.At, "cancelled", firstLine(ev.Reason))
	case history.WorkflowPaused:
		v.step(rec.At, "paused", firstLine(ev.Reason))
	default: // markers and bookkeeping are not shown
	}
}

// branch names a step, and the branches and items that it stands in: all[1].
func branch(step, scope string) string {
	for {
		_, after, ok := strings.Cut(scope, "[")
		if !ok {
			return step
		}
		var index string
		index, scope, _ = strings.Cut(after, "]")
		step += "[" + index + "]"
	}
}

// unserved says that an activity will not begin by itself. Each action is looked up once.
func (v *view) unserved(ctx context.Context, h host, rec history.Recorded, ev history.ActivityScheduled) {
	action := [2]string{ev.TaskQueue, ev.ActivityType}
	alone, known := v.alone[action]
	if !known {
		d, err := h.describe(ctx, string(rec.WorkflowID))
		if err != nil {
			return // the next read of the follower tells
		}
		alone = slices.ContainsFunc(d.Unserved, func(o runs.OpenStep) bool { return o.TaskQueue == ev.TaskQueue && o.ActivityType == ev.ActivityType })
		v.alone[action] = alone
	}
	if alone {
		v.step(rec.At, v.label(ev.ActivityID, 1), fmt.Sprintf("waits for a worker %q to run %s: none is connected", ev.TaskQueue, ev.ActivityType))
	}
}

// signals says which signals the run waits for until ctx ends: no event does.
func (v *view) signals(ctx context.Context, h host, r begun) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	told := map[runs.Wait]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d, err := h.describe(ctx, r.id)
		if err != nil {
			continue // the follower tells
		}
		now := map[runs.Wait]bool{}
		for _, w := range d.WaitingOn {
			if now[w] = true; w.Kind == "signal" && !told[w] {
				v.step(w.Since, "signal", "waits for "+w.Name)
			}
		}
		told = now
	}
}

// failure prints what went wrong, once: the failure of an attempt becomes that of its step.
func (v *view) failure(at time.Time, label, before string, f history.Failure) {
	message := f.Message
	if f.ActivityID != nil { // its class stands in front
		_, message, _ = strings.Cut(message, ":")
	}
	if message == v.told {
		return
	}
	v.told = message
	v.step(at, label, before+firstLine(message))
}

func key(rec history.Recorded, activity int64, attempt int) domain.AttemptKey {
	return domain.AttemptKey{WorkflowID: rec.WorkflowID, RunID: rec.RunID, ActivityID: activity, Attempt: attempt}
}

func (v *view) label(activity int64, attempt int) string {
	if attempt > 1 {
		return fmt.Sprintf("%s#%d", v.steps[activity], attempt)
	}
	return v.steps[activity]
}

func (v *view) took(activity int64, end time.Time) string {
	d := end.Sub(v.began[activity])
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// tail prints the lines of one attempt while it runs.
func (v *view) tail(ctx context.Context, h host, k domain.AttemptKey) {
	if !v.lines || v.tails[k] != nil {
		return
	}
	v.tails[k] = &tail{}
	v.print(ctx, h, k, v.tails[k])
}

// print goes on with a tail.
func (v *view) print(ctx context.Context, h host, k domain.AttemptKey, t *tail) {
	done := make(chan struct{})
	t.done = done
	label := v.label(k.ActivityID, k.Attempt)
	v.wait.Go(func() {
		defer close(done)
		err := h.lines(ctx, k, t.next, func(r transcript.Record) error {
			if r.Kind == transcript.Message {
				mark := "| "
				if strings.HasPrefix(r.AgentRole, "command stderr") {
					mark = "! "
				}
				v.step(r.EmittedAt, label, mark+r.Text)
			}
			if !r.Ephemeral {
				t.next = r.StoreSeq + 1
			}
			return nil
		})
		var gone *lostError
		if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil && !errors.As(err, &gone) {
			v.note("warning", "the transcript of %s cannot be read: %v", label, err)
		}
	})
}

// settled waits until the lines of an attempt are printed, so that they stand before its end.
func (v *view) settled(ctx context.Context, k domain.AttemptKey) {
	t, ok := v.tails[k]
	if !ok {
		return
	}
	select {
	case <-t.done:
		delete(v.tails, k)
	case <-ctx.Done():
	}
}

func firstLine(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if more {
		line += " …"
	}
	return line
}
