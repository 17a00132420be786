package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"slices"
	"time"

	"aion/domain/worker"
	"aion/ports"
)

const (
	workerColumns = `worker_id, owner, instance_id, task_queue, settings, draining, registered_at, seen_at`
	sqlWorkerPut  = `INSERT INTO workers (` + workerColumns + `) VALUES (?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT (owner, instance_id) DO UPDATE SET
		task_queue = excluded.task_queue, settings = excluded.settings, draining = 0, seen_at = excluded.seen_at
		RETURNING worker_id, registered_at`
	sqlWorker       = `SELECT ` + workerColumns + ` FROM workers WHERE worker_id = +?`
	sqlWorkers      = `SELECT ` + workerColumns + ` FROM workers WHERE seen_at >= ?`
	sqlWorkersOf    = `SELECT ` + workerColumns + ` FROM workers WHERE task_queue = ? AND seen_at >= ?`
	sqlWorkerSeen   = `UPDATE workers SET seen_at = ? WHERE worker_id = ? AND seen_at < ?`
	sqlWorkerDrain  = `UPDATE workers SET draining = 1 WHERE worker_id = ?`
	sqlWorkerForget = `DELETE FROM workers WHERE worker_id = ?`
	sqlWorkersOld   = `DELETE FROM workers WHERE worker_id IN (SELECT worker_id FROM workers WHERE seen_at < ? ORDER BY seen_at LIMIT ?)`
)

// PutWorker implements ports.WorkerStore.
func (s *Store) PutWorker(ctx context.Context, w worker.Worker) (stored worker.Worker, fresh bool, err error) {
	settings, err := json.Marshal(w.Settings)
	if err != nil {
		return w, false, fault("what a worker registers cannot be stored", err)
	}
	err = s.write.transaction(ctx, func(t *tx) error {
		row := make([]driver.Value, 2)
		if _, err := t.row(row, sqlWorkerPut, w.ID, w.Owner, w.InstanceID, w.TaskQueue, settings, micros(w.RegisteredAt), micros(w.SeenAt)); err != nil {
			return err
		}
		stored, fresh = w, row[0] == w.ID
		stored.ID, _ = row[0].(string)
		registered, _ := row[1].(int64)
		stored.RegisteredAt, stored.SeenAt, stored.Draining = fromMicros(registered), fromMicros(micros(w.SeenAt)), false
		return nil
	})
	return stored, fresh, err
}

// Worker implements ports.WorkerStore.
func (s *Store) Worker(ctx context.Context, id string) (worker.Worker, error) {
	found, err := list(ctx, s, scanWorker, sqlWorker, id)
	if err == nil && len(found) == 0 {
		err = worker.NotFound(id)
	}
	if err != nil {
		return worker.Worker{}, err
	}
	return found[0], nil
}

// Workers implements ports.WorkerStore.
func (s *Store) Workers(ctx context.Context, queue string, seen time.Time) ([]worker.Worker, error) {
	query, args := sqlWorkers, []any{micros(seen)}
	if queue != "" {
		query, args = sqlWorkersOf, []any{queue, micros(seen)}
	}
	found, err := list(ctx, s, scanWorker, query, args...)
	slices.SortFunc(found, ports.NewestWorker)
	return found, err
}

func scanWorker(rows *sql.Rows, w *worker.Worker) error {
	var settings []byte
	var queue string
	var draining, registered, seen int64
	if err := rows.Scan(&w.ID, &w.Owner, &w.InstanceID, &queue, &settings, &draining, &registered, &seen); err != nil {
		return err
	}
	w.Draining, w.RegisteredAt, w.SeenAt = draining != 0, fromMicros(registered), fromMicros(seen)
	if err := json.Unmarshal(settings, &w.Settings); err != nil {
		return fault("worker "+w.ID+" cannot be read", err)
	}
	return nil
}

// SeenWorkers implements ports.WorkerStore.
func (s *Store) SeenWorkers(ctx context.Context, ids []string, at time.Time) error {
	return s.write.transaction(ctx, func(t *tx) error {
		for _, id := range ids {
			if err := t.send(sqlWorkerSeen, micros(at), id, micros(at)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DrainWorker implements ports.WorkerStore.
func (s *Store) DrainWorker(ctx context.Context, id string) error {
	return s.write.transaction(ctx, func(t *tx) error { return t.send(sqlWorkerDrain, id) })
}

// ForgetWorkers implements ports.WorkerStore.
func (s *Store) ForgetWorkers(ctx context.Context, id string, before time.Time, limit int) (int, error) {
	var removed int64
	err := s.write.transaction(ctx, func(t *tx) (err error) {
		if id != "" {
			removed, err = t.exec(sqlWorkerForget, id)
			return err
		}
		removed, err = t.exec(sqlWorkersOld, micros(before), int64(max(limit, 0)))
		return err
	})
	return int(removed), err
}
