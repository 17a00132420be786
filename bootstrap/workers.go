package bootstrap

import (
	"aion/adapters/metrics"
	"aion/application/deployments"
	"aion/application/queues"
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

// newQueues builds what shows the task queues.
func (a *App) newQueues(st store, versions *deployments.Service) *queues.Service {
	return queues.New(queues.Deps{
		Store: st, Tasks: st, Versions: versions, Gate: a.gate, Workers: a.workers, Clock: a.clock, Heartbeat: a.Config.WorkersHeartbeatInterval,
	})
}

// leases are what the metrics show of remote workers.
func (a *App) leases() metrics.Leases {
	open, expired := a.workers.Counts()
	l := metrics.Leases{Open: map[string]int{}, Expired: expired}
	for state, n := range open {
		l.Open[string(state)] = n
	}
	return l
}
