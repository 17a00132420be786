package bootstrap

import (
	"context"
	"time"

	"aion/adapters/metrics"
	"aion/application/actions"
	"aion/application/deployments"
	"aion/application/queues"
	"aion/application/transcripts"
	"aion/application/workers"
	"aion/domain/awl/plan"
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

// deployWarnings tells whoever deploys what this server refuses to run, and which workers do not fit.
func (a *App) deployWarnings(bodies actions.Bodies) func(*plan.Plan) []string {
	const patience = 5 * time.Second
	policy := a.policy(bodies)
	return func(p *plan.Plan) []string {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return append(policy.Warnings(p), a.workers.DeployWarnings(ctx, p)...)
	}
}
