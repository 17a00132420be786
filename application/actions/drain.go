package actions

import (
	"context"
	"errors"
	"sync"
	"time"

	"aion/domain"
	"aion/ports"
)

// parked gathers what went wrong while attempts were parked.
type parked struct {
	mu   sync.Mutex
	errs []error
}

func (p *parked) add(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errs = append(p.errs, err)
}

func (p *parked) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// park gives an attempt back to the store under its own number: history gets nothing.
func (d *Dispatcher) park(ctx context.Context, key domain.AttemptKey) {
	d.registry.claim(key, 0)
	if err := d.Tasks.Park(ctx, []domain.AttemptKey{key}); err != nil {
		d.Logger.Error("an attempt cannot be parked; it counts as lost at the next start", keyed(key, "error", err)...)
		d.parked.add(err)
	}
}

// Drain ends the work of this server: from now on nothing starts; running attempts have until grace is over, or until ctx
// ends, and are then stopped and parked. It returns when none is left, with what could not be parked. Run must still run.
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
		<-empty
		<-idle
	}
	return d.parked.err()
}

// Running counts the attempts that have not been proved gone.
func (d *Dispatcher) Running() int {
	d.registry.mu.Lock()
	defer d.registry.mu.Unlock()
	return len(d.registry.entries)
}
