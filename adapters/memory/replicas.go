package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"aion/ports"
)

// RenewReplica implements ports.ReplicaStore.
func (s *Store) RenewReplica(_ context.Context, self ports.Replica, ttl time.Duration) ([]ports.Replica, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	held, ok := s.replicas[self.ID]
	self.Epoch = held.Epoch
	if !ok || !held.Until.After(now) {
		s.epoch++
		self.Epoch = s.epoch
	}
	self.StartedAt, self.Until = stored(self.StartedAt), stored(now.Add(ttl))
	s.replicas[self.ID] = self
	return s.live(now), nil
}

// LeaveReplica implements ports.ReplicaStore.
func (s *Store) LeaveReplica(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.replicas, id)
	return nil
}

// Replicas implements ports.ReplicaStore.
func (s *Store) Replicas(context.Context) ([]ports.Replica, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live(s.clock.Now()), nil
}

func (s *Store) live(now time.Time) []ports.Replica {
	list := slices.Collect(maps.Values(s.replicas))
	list = slices.DeleteFunc(list, func(r ports.Replica) bool { return !r.Until.After(now) })
	slices.SortFunc(list, func(a, b ports.Replica) int { return strings.Compare(a.ID, b.ID) })
	return list
}
