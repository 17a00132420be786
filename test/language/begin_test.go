package language_test

import (
	"context"
	"sync"

	"aion/application/actions"
	"aion/application/engine"
	"aion/application/timers"
)

// begin runs the parts of a server and gives the way to stop them.
func begin(s *server, d *actions.Dispatcher, wheel *timers.Wheel, couriers *engine.Couriers) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	outer, cancelOuter := context.WithCancel(context.Background())
	var inner, wait sync.WaitGroup
	wait.Go(func() { _ = s.engine.Run(ctx) })
	if _, err := d.Recover(ctx); err != nil && !s.store.Dead() {
		s.t.Errorf("recover: %v", err)
	}
	inner.Go(func() { _ = d.Run(outer) })
	inner.Go(func() { _ = wheel.Run(outer) })
	inner.Go(func() { _ = couriers.Run(outer) })
	var once sync.Once
	return func() {
		once.Do(func() { cancelOuter(); inner.Wait(); cancel(); wait.Wait() })
	}
}
