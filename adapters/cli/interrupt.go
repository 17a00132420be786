package cli

import (
	"context"
	"sync"
	"sync/atomic"
)

// interruption watches for SIGINT and SIGTERM while a command runs.
type interruption struct {
	seen, exit atomic.Int64
	stop       func() // ends the watch and waits for it
}

// count is the number of signals seen so far.
func (i *interruption) count() int { return int(i.seen.Load()) }

// status is the exit code of the first signal: 130 or 143.
func (i *interruption) status() status { return status(i.exit.Load()) }

// untilInterrupted gives a context that ends at the first signal with the cause errInterrupted.
func (p *Program) untilInterrupted(parent context.Context) (context.Context, *interruption) {
	ctx, cancel := context.WithCancelCause(parent)
	i := &interruption{}
	i.exit.Store(130)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case signal, ok := <-p.Interrupts:
				if !ok {
					return
				}
				if i.seen.Add(1) == 1 {
					i.exit.Store(int64(signal.Exit))
				}
				cancel(errInterrupted)
			}
		}
	})
	i.stop = func() { close(done); watch.Wait(); cancel(nil) }
	return ctx, i
}
