package workers

import (
	"context"
	"fmt"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/worker"
)

// Registration is what a worker says of itself.
type Registration struct {
	InstanceID string
	Namespaces []string
	worker.Settings
}

// Registered is the answer to a registration.
type Registered struct {
	Worker      worker.Worker
	Fresh       bool
	Heartbeat   time.Duration
	LeaseTTL    time.Duration
	MaxPollWait time.Duration
	Contract
}

// Register admits a worker whose contract fits what its queue is routed to (actions 8.2). The same instance keeps its id.
func (s *Service) Register(ctx context.Context, who access.Caller, req Registration) (Registered, error) {
	if err := s.admit(who); err != nil {
		return Registered{}, err
	}
	settings := req.Settings
	settings.Namespaces = nil
	for _, name := range req.Namespaces {
		ns, err := domain.ParseNamespace(name)
		if err != nil {
			return Registered{}, err
		}
		if err := who.Reach(ns); err != nil {
			return Registered{}, err
		}
		settings.Namespaces = append(settings.Namespaces, ns)
	}
	if err := worker.Check(req.InstanceID, settings); err != nil {
		return Registered{}, err
	}
	contract, err := s.compare(ctx, settings)
	if err != nil {
		return Registered{}, err
	}
	if err := s.judge(who, req.InstanceID, settings, contract); err != nil {
		return Registered{}, err
	}
	now := s.Clock.Now()
	live, err := s.Store.Workers(ctx, "", worker.GoneBefore(now, s.HeartbeatInterval))
	if err != nil {
		return Registered{}, err
	}
	if len(live) >= maxWorkers {
		return Registered{}, worker.SlowDown(fmt.Sprintf("%d workers are registered, and no more may; end some, or register later", maxWorkers), s.HeartbeatInterval.Milliseconds())
	}
	w, fresh, err := s.Store.PutWorker(ctx, worker.Worker{
		ID: s.IDs.UUIDv7(), Owner: who.Owner(), InstanceID: req.InstanceID, Settings: settings, RegisteredAt: now, SeenAt: now,
	})
	if err != nil {
		return Registered{}, err
	}
	s.Log.InfoContext(ctx, "a worker registered", "worker", w.Identity, "worker_id", w.ID, "task_queue", w.TaskQueue, "fresh", fresh)
	return Registered{
		Worker: w, Fresh: fresh, Heartbeat: s.HeartbeatInterval, LeaseTTL: s.LeaseTTL, MaxPollWait: maxPollWait, Contract: contract,
	}, nil
}
