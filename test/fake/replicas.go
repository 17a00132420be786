package fake

import (
	"context"
	"time"

	"aion/ports"
)

// RenewReplica implements ports.ReplicaStore.
func (s *Store) RenewReplica(ctx context.Context, self ports.Replica, ttl time.Duration) ([]ports.Replica, error) {
	return call(ctx, s, "RenewReplica", func() ([]ports.Replica, error) { return s.next.RenewReplica(ctx, self, ttl) })
}

// LeaveReplica implements ports.ReplicaStore.
func (s *Store) LeaveReplica(ctx context.Context, id string) error {
	return act(ctx, s, "LeaveReplica", func() error { return s.next.LeaveReplica(ctx, id) })
}

// Replicas implements ports.ReplicaStore.
func (s *Store) Replicas(ctx context.Context) ([]ports.Replica, error) {
	return call(ctx, s, "Replicas", func() ([]ports.Replica, error) { return s.next.Replicas(ctx) })
}
