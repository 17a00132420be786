package bootstrap

import (
	"aion/adapters/system"
	"aion/application/schedules"
)

// newSchedules builds what fires schedules.
func (a *App) newSchedules(st store) *schedules.Service {
	c := a.Config
	return schedules.New(schedules.Deps{
		Store: st, Queue: st, Runs: a.Runs, Zones: &system.Zones{}, Clock: a.clock, IDs: a.ids, Log: a.log, Meter: a.registry,
		Shards: a.shards, Shared: a.others.shared, Poll: c.EnginePollInterval, Keys: c.LimitIdempotencyRetention,
	})
}
