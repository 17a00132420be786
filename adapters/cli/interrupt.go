package cli

import (
	"context"
	"sync"
	"sync/atomic"
)

// untilInterrupted gives a context that ends at the first SIGINT or SIGTERM with the cause errInterrupted. interrupted
// counts the signals seen so far; stop ends the watch and waits for it.
func (p *Program) untilInterrupted(parent context.Context) (ctx context.Context, interrupted func() int, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var seen atomic.Int64
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case _, ok := <-p.Interrupts:
				if !ok {
					return
				}
				seen.Add(1)
				cancel(errInterrupted)
			}
		}
	})
	return ctx, func() int { return int(seen.Load()) }, func() { close(done); watch.Wait(); cancel(nil) }
}
