package bootstrap

import (
	"aion/application/deployments"
	"aion/application/transcripts"
	"aion/application/workers"
)

// newWorkers builds what remote workers talk to.
func (a *App) newWorkers(st store, versions *deployments.Service, publisher *transcripts.Publisher) *workers.Service {
	c := a.Config
	return workers.New(workers.Deps{
		Store: st, Tasks: st, Index: st, Engine: a.engine, Attempts: a.dispatcher, Gate: a.gate, Versions: versions, Transcript: publisher,
		Clock: a.clock, IDs: a.ids, Random: random, Log: a.log, Settings: workers.Settings{
			HeartbeatInterval: c.WorkersHeartbeatInterval, LeaseTTL: c.WorkersLeaseTTL, MaxLease: c.WorkersMaxLease, PollInterval: c.EnginePollInterval,
			MaxPayload: int(c.LimitPayloadBytes), RequireContracts: c.WorkersRequireContracts, AllowedSubjects: c.WorkersAllowedSubjects,
		},
	})
}
