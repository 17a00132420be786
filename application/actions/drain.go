package actions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// unkept gathers what a drain could not keep.
type unkept struct {
	mu   sync.Mutex
	errs []error
}

func (u *unkept) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return errors.Join(u.errs...)
}

// notKept tells whoever drains this server of a failure; before a drain the sweeps of this server make it good.
func (d *Dispatcher) notKept(err error) {
	if !d.registry.drains() {
		return
	}
	d.unkept.mu.Lock()
	defer d.unkept.mu.Unlock()
	d.unkept.errs = append(d.unkept.errs, err)
}

// park gives an attempt back to the store under its own number: history gets nothing.
func (d *Dispatcher) park(ctx context.Context, held history.Claim) {
	d.registry.claim(held.Key, 0, time.Time{})
	if err := d.Tasks.Park(ctx, []history.Claim{held}); err != nil {
		d.Logger.Error("an attempt cannot be parked; it counts as lost at the next start", keyed(held.Key, "error", err)...)
		d.notKept(err)
	}
}

// Drain ends the work of this server: from now on nothing starts; running attempts have until grace is over, or until ctx
// ends, and are then stopped and parked, and verdicts that wait for the store are tried once more. It returns when none is
// left, with what could not be parked, recorded or flushed. Run must still run.
func (d *Dispatcher) Drain(ctx context.Context, grace time.Duration) error {
	d.Engine.Drain()
	empty := d.Gate.shut() // also of attempts whose start is on its way
	idle := d.registry.drain()
	over := d.Clock.After(grace)
	for _, rest := range []<-chan struct{}{empty, idle} {
		select {
		case <-rest:
			continue
		case <-ctx.Done():
		case <-over:
		}
		if n := d.registry.stopAll(ports.StopDrain); n > 0 {
			d.Logger.Info("running attempts are stopped and parked", "count", n)
		}
		d.hurry()
		<-empty
		<-idle
	}
	return d.unkept.err()
}

// flushed ends the stream of an attempt.
func (d *Dispatcher) flushed(stream *transcripts.Stream, key domain.AttemptKey) {
	if lost := stream.Close(); lost > 0 {
		d.notKept(domain.Unavailable("StoreUnavailable", fmt.Sprintf("%d transcript events of attempt %s could not be stored", lost, key), nil))
	}
}

// Running counts the attempts that have not been proved gone.
func (d *Dispatcher) Running() int {
	d.registry.mu.Lock()
	defer d.registry.mu.Unlock()
	return len(d.registry.entries)
}
