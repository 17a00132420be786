package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"aion/ports"
)

const (
	replicaColumns = `id, address, version, started_at, epoch, until`
	// The epoch of a lease that still holds stays.
	sqlReplicaRenew = `INSERT INTO leases (` + replicaColumns + `) VALUES (?, ?, ?, ?, nextval('lease_epochs'), ` + sqlNow + ` + ?)
		ON CONFLICT (id) DO UPDATE SET address = excluded.address, version = excluded.version, started_at = excluded.started_at,
		epoch = CASE WHEN leases.until > ` + sqlNow + ` THEN leases.epoch ELSE excluded.epoch END, until = excluded.until
		RETURNING epoch`
	sqlReplicas       = `SELECT ` + replicaColumns + ` FROM leases WHERE until > ` + sqlNow + ` ORDER BY id`
	sqlReplicaLeave   = `DELETE FROM leases WHERE id = ?`
	sqlReplicasForget = `DELETE FROM leases WHERE until < ` + sqlNow + ` - 86400000000`
)

// RenewReplica implements ports.ReplicaStore. A store on SQLite has one process, which has joined when it opened it.
func (s *Store) RenewReplica(ctx context.Context, self ports.Replica, ttl time.Duration) ([]ports.Replica, error) {
	d := s.postgres
	if d == nil {
		self.Epoch, self.StartedAt, self.Until = 1, fromMicros(micros(self.StartedAt)), fromMicros(micros(s.clock.Now().Add(ttl)))
		s.alone.Store(&self)
		return s.Replicas(ctx)
	}
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	epoch := make([]driver.Value, 1)
	err := s.write.transaction(ctx, func(t *tx) error {
		_, err := t.row(epoch, sqlReplicaRenew, self.ID, self.Address, self.Version, micros(self.StartedAt), ttl.Microseconds())
		if err != nil {
			return err
		}
		t.told.Replicas = epoch[0] != d.epoch.Load()
		return t.send(sqlReplicasForget)
	})
	if err != nil {
		return nil, err
	}
	d.epoch.Store(epoch[0].(int64))
	s.expireKeys(ctx)
	list, err := s.Replicas(ctx)
	d.alone.Store(err == nil && len(list) == 1)
	return list, err
}

// LeaveReplica implements ports.ReplicaStore.
func (s *Store) LeaveReplica(ctx context.Context, id string) error {
	if s.postgres == nil {
		s.alone.Store(nil)
		return nil
	}
	return s.write.transaction(ctx, func(t *tx) error {
		t.told.Replicas = true
		return t.send(sqlReplicaLeave, id)
	})
}

// Replicas implements ports.ReplicaStore.
func (s *Store) Replicas(ctx context.Context) ([]ports.Replica, error) {
	if s.postgres == nil {
		if self := s.alone.Load(); self != nil && self.Until.After(s.clock.Now()) {
			return []ports.Replica{*self}, nil
		}
		return nil, nil
	}
	return list(ctx, s, func(rows *sql.Rows, r *ports.Replica) error {
		var started, until int64
		err := rows.Scan(&r.ID, &r.Address, &r.Version, &started, &r.Epoch, &until)
		r.StartedAt, r.Until = fromMicros(started), fromMicros(until)
		return err
	}, sqlReplicas)
}
