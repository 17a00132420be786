package shell

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"aion/ports"
)

// mostAside bounds the looks at files that nobody waits for any more: each holds a thread.
const mostAside = 256

// aside has files looked at by a goroutine of its own: a file system that does not answer holds whoever looks, and nothing
// but its answer ends that. When the error is not nil nobody waits for the look any more, and nothing of it may be read: ctx or
// until has ended (a StopCause), or too many others were given up before.
func (p *pool) aside(ctx context.Context, until <-chan time.Time, look func()) error {
	err := p.wait(ctx.Done(), until, look)
	if errors.Is(err, ports.StopDrain) {
		return causeOf(ctx)
	}
	return err
}

// inTime is aside for what no attempt waits for. It reports whether the look has ended.
func (p *pool) inTime(look func()) bool { return p.wait(nil, within(p.o.KillWait), look) == nil }

// wait waits for a look until one of the two ends: StopDrain for the first, StopDeadline for the second.
func (p *pool) wait(ended <-chan struct{}, until <-chan time.Time, look func()) error {
	if n := p.unanswered.Load(); n >= mostAside {
		return fmt.Errorf("%d looks at files of this host were never answered: unmount the file system that does not answer", n)
	}
	done := make(chan struct{})
	var second atomic.Bool // of the two, the end of the look and giving it up
	go func() {            // waited for, unless the kernel does not answer
		look()
		close(done)
		if second.Swap(true) {
			p.unanswered.Add(-1)
		}
	}()
	cause := ports.StopDrain
	select {
	case <-done:
		return nil
	case <-ended:
	case <-until:
		cause = ports.StopDeadline
	}
	p.unanswered.Add(1)
	if second.Swap(true) { // it has just ended
		p.unanswered.Add(-1)
	}
	return cause
}

// within gives the time after which nothing more is waited for; nil, and so never, without a bound.
func within(bound time.Duration) <-chan time.Time {
	if bound <= 0 {
		return nil
	}
	return time.After(bound)
}
