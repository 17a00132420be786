package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"aion/adapters/web"
	"aion/application/engine"
	"aion/application/replicas"
	"aion/domain"
	"aion/ports"
)

// others is what ties a server to those that work on the same store; a zero one belongs to a server that has its store for
// itself.
type others struct {
	shared  bool
	service *replicas.Service // nil: there can be no others
	engine  atomic.Pointer[engine.Engine]
}

// changed wakes the parts that look at what another server has changed.
func (o *others) changed(c ports.Changes) {
	e := o.engine.Load() // before the engine there is nobody to wake, and no service yet
	if e == nil {
		return
	}
	if c.Replicas || c.All {
		o.service.Changed()
	}
	e.Elsewhere(c)
}

// meet makes the service that keeps this server in touch with the others.
func (a *App) meet(store ports.ReplicaStore) {
	if !a.others.shared {
		return
	}
	a.others.service = replicas.New(replicas.Deps{
		Store: store, Clock: a.clock, Logger: a.log,
		Self: ports.Replica{ID: a.instance, Version: version, StartedAt: a.clock.Now()},
		Moved: func() { // what waits in them may be due
			a.others.changed(ports.Changes{Timers: true, Messages: true})
		},
	})
	a.registry.WatchLeases(func() int { return len(a.others.service.Shards()) })
}

// shards are those that this server looks after; nil: all.
func (a *App) shards() ports.Shards { return a.others.service.Shards() }

// serves tells where this server can be reached: whoever looks for the owner of the store, or the other servers.
func (a *App) serves(address string) error {
	a.shown.address.Store(&address)
	if a.others.shared {
		a.others.service.Serve(address)
		return nil
	}
	if a.durable == nil {
		return nil
	}
	return a.durable.SetAddress(address)
}

// mostClockOffset is how far the clock of a ready server may be from that of its database.
const mostClockOffset = 5 * time.Second

// storeChecks are the conditions of readiness that the store sets.
func (a *App) storeChecks() []web.Check {
	if a.durable == nil {
		return nil
	}
	checks := []web.Check{{Name: "store", Probe: func(ctx context.Context) error {
		if _, err := a.durable.NextTimer(ctx, nil); err != nil || !a.engine.Refused() {
			return err
		}
		return a.durable.TryWrite(ctx) // the last commit was refused: it may be over
	}}}
	if !a.others.shared {
		return checks
	}
	return append(checks, web.Check{Name: "replica", Probe: func(context.Context) error {
		if !a.others.service.Valid() {
			return fmt.Errorf("the lease of this server has ended; others look after its runs until the store answers it again")
		}
		return nil
	}, Note: a.servers}, web.Check{Name: "clock", Probe: func(context.Context) error {
		if off := a.durable.ClockOffset(); off.Abs() > mostClockOffset {
			return fmt.Errorf("the clock of this machine is %s off that of the database; set it (NTP)", off.Round(time.Millisecond))
		}
		return nil
	}})
}

// servers names those that work on the store.
func (a *App) servers() string {
	var at []string
	for _, m := range a.others.service.Members() {
		at = append(at, cmp.Or(m.Address, "one that serves nobody"))
	}
	return fmt.Sprintf("%d shards of %d; servers: %s", len(a.shards()), domain.Shards, strings.Join(at, ", "))
}
