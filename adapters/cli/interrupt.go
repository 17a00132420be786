package cli

import (
	"context"
	"errors"
	"sync"
)

// attention decides what SIGINT and SIGTERM do to the command line that runs.
type attention struct {
	mu    sync.Mutex
	taken *interruption // of the command that ends itself; nil: there is nothing that a signal could leave undone
}

// interruption is how one command hears of signals.
type interruption struct {
	a      *attention
	cancel context.CancelCauseFunc

	clean, held bool // under a.mu, as all that follows
	seen        int
	exit        int
}

// count is the number of signals seen so far.
func (i *interruption) count() int {
	i.a.mu.Lock()
	defer i.a.mu.Unlock()
	return i.seen
}

// status is the exit code of the first signal: 130 or 143.
func (i *interruption) status() status {
	i.a.mu.Lock()
	defer i.a.mu.Unlock()
	return status(i.exit)
}

// orElse is the end of a command that could not begin: the signal that broke it off, else what is wrong.
func (i *interruption) orElse(err error) error {
	if i.count() > 0 {
		return i.status()
	}
	return err
}

// hold makes signals wait for the command: from here on it has something to end cleanly.
func (i *interruption) hold() {
	i.a.mu.Lock()
	defer i.a.mu.Unlock()
	i.held = true
}

// endsCleanly makes a stop before hold a clean end, with exit 0.
func (i *interruption) endsCleanly() {
	i.a.mu.Lock()
	defer i.a.mu.Unlock()
	i.clean = true
}

// stop gives signals their first meaning back.
func (i *interruption) stop() {
	i.a.mu.Lock()
	i.a.taken = nil
	i.a.mu.Unlock()
	i.cancel(nil)
}

// untilInterrupted gives a context that ends at the first signal with the cause errInterrupted. Until hold, a signal ends
// the program without waiting for the command: it may be stuck in opening a pipe that nobody writes to.
func (p *Program) untilInterrupted(parent context.Context) (context.Context, *interruption) {
	ctx, cancel := context.WithCancelCause(parent)
	i := &interruption{a: p.attention, cancel: cancel, exit: exitInterrupted}
	i.a.mu.Lock()
	defer i.a.mu.Unlock()
	i.a.taken = i
	return ctx, i
}

// interruptible runs until done or interrupted; an interrupt decides the exit code.
func (p *Program) interruptible(ctx context.Context, run func(context.Context) error) error {
	ctx, interrupted := p.untilInterrupted(ctx)
	interrupted.hold()
	defer interrupted.stop()
	err := run(ctx)
	if interrupted.count() > 0 && (err == nil || errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled)) {
		return interrupted.status()
	}
	return err
}

// heed takes one signal, and answers the exit code when it ends the program at once: nothing is held, or it is the third,
// after which nobody wants to wait for a command that cannot end (a clean stop, then its trees killed, were the first two).
func (a *attention) heed(exit int) (code int, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.taken
	switch {
	case i == nil:
		return exit, true
	case !i.held && i.clean:
		return exitDone, true
	case !i.held:
		return exit, true
	}
	if i.seen++; i.seen == 1 {
		i.exit = exit
	}
	i.cancel(errInterrupted)
	return exit, i.seen > 2
}

// attend runs a command and answers its exit code, or that of the signal that ends it. What the command waits for then is
// left to the end of the process: the open of a pipe cannot be called back.
func (p *Program) attend(command func() int) int {
	ended := make(chan int, 1)
	go func() { ended <- command() }()
	signals := p.Interrupts
	for {
		select {
		case code := <-ended:
			return code
		case signal, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			if code, ended := p.attention.heed(signal.Exit); ended {
				return code
			}
		}
	}
}
