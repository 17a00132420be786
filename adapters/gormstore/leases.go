package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

const (
	leaseColumns = `hash, task_id, worker_id, poll_id, server, namespace, workflow_id, run_id, activity_id, attempt, claim_token, granted_at, until,
		deadline, state, ended, verdict, retry_at`
	// The condition is word for word that of the partial indexes.
	leaseOpen    = `state IN ('held', 'ending')`
	sqlLeasePut  = `INSERT INTO worker_leases (` + leaseColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlLeaseOver = `UPDATE worker_leases SET state = 'ended', ended = ?, verdict = ?, retry_at = ? WHERE hash = ?`
	sqlLeases    = `SELECT ` + leaseColumns + ` FROM worker_leases WHERE task_id = +? ORDER BY granted_at, hash`
	sqlLeasesAll = `SELECT ` + leaseColumns + ` FROM worker_leases WHERE ` + leaseOpen + ` ORDER BY worker_id, hash`
	sqlLeasesOf  = `SELECT ` + leaseColumns + ` FROM worker_leases WHERE worker_id = ? AND ` + leaseOpen + ` ORDER BY worker_id, hash`
	sqlLapsing   = `SELECT ` + leaseColumns + ` FROM worker_leases WHERE ` + leaseOpen + ` AND (state = 'ending' OR until <= ?) ORDER BY until, hash LIMIT ?`
	sqlLeaseGrow = `UPDATE worker_leases SET until = CASE WHEN deadline > 0 AND deadline < ? THEN deadline WHEN until > ? THEN until ELSE ? END
		WHERE hash = ? AND state = 'held'
		RETURNING ` + leaseColumns
	sqlLeaseKey  = `UPDATE worker_leases SET hash = ?, until = CASE WHEN deadline > 0 AND deadline < ? THEN deadline ELSE ? END WHERE hash = ? AND state = 'held'`
	sqlLeaseMove = `UPDATE worker_leases SET state = ?, ended = ?, until = CASE WHEN CAST(? AS BIGINT) = 0 THEN until ELSE ? END
		WHERE hash = ? AND state = ? AND (CAST(? AS BIGINT) = 0 OR until <= ?)`
)

const leaseWidth = 18

func (t *tx) putLease(l *history.Lease) error {
	return t.send(sqlLeasePut, l.Hash, l.TaskID, l.WorkerID, l.PollID, l.Server, string(l.Namespace), string(l.Key.WorkflowID), string(l.Key.RunID),
		l.Key.ActivityID, int64(l.Key.Attempt), l.Token, micros(l.GrantedAt), micros(l.Until), micros(l.Deadline), string(l.State), string(l.End),
		l.Verdict, micros(l.RetryAt))
}

func scanLease(rows *sql.Rows, l *history.Lease) error {
	var granted, until, deadline, retry int64
	err := rows.Scan(&l.Hash, &l.TaskID, &l.WorkerID, &l.PollID, &l.Server, &l.Namespace, &l.Key.WorkflowID, &l.Key.RunID, &l.Key.ActivityID,
		&l.Key.Attempt, &l.Token, &granted, &until, &deadline, &l.State, &l.End, &l.Verdict, &retry)
	l.GrantedAt, l.Until, l.Deadline, l.RetryAt = fromMicros(granted), fromMicros(until), fromMicros(deadline), fromMicros(retry)
	return err
}

// Leases implements ports.LeaseStore.
func (s *Store) Leases(ctx context.Context, taskID string) ([]history.Lease, error) {
	return list(ctx, s, scanLease, sqlLeases, taskID)
}

// OpenLeases implements ports.LeaseStore.
func (s *Store) OpenLeases(ctx context.Context, workerID string) ([]history.Lease, error) {
	if workerID == "" {
		return list(ctx, s, scanLease, sqlLeasesAll)
	}
	return list(ctx, s, scanLease, sqlLeasesOf, workerID)
}

// LapsedLeases implements ports.LeaseStore.
func (s *Store) LapsedLeases(ctx context.Context, at time.Time, limit int) ([]history.Lease, error) {
	return list(ctx, s, scanLease, sqlLapsing, micros(at), max(limit, 0))
}

// ExtendLeases implements ports.LeaseStore.
func (s *Store) ExtendLeases(ctx context.Context, hashes []string, until time.Time) ([]history.Lease, error) {
	var held []history.Lease
	err := s.write.transaction(ctx, func(t *tx) error {
		held = nil
		for _, hash := range slices.Sorted(slices.Values(hashes)) {
			row := make([]driver.Value, leaseWidth)
			found, err := t.row(row, sqlLeaseGrow, micros(until), micros(until), micros(until), hash)
			if err != nil {
				return err
			}
			if found {
				held = append(held, toLease(row))
			}
		}
		return nil
	})
	return held, err
}

func toLease(row []driver.Value) history.Lease {
	text := func(i int) string { s, _ := row[i].(string); return s }
	number := func(i int) int64 { n, _ := row[i].(int64); return n }
	at := func(i int) time.Time { return fromMicros(number(i)) }
	l := history.Lease{
		Hash: text(0), TaskID: text(1), WorkerID: text(2), PollID: text(3), Server: text(4), Token: number(10), GrantedAt: at(11), Until: at(12),
		Deadline: at(13), State: history.LeaseState(text(14)), End: history.LeaseEnd(text(15)), Verdict: text(16), RetryAt: at(17),
	}
	l.Namespace = domain.Namespace(text(5))
	l.Key = domain.AttemptKey{WorkflowID: domain.WorkflowID(text(6)), RunID: domain.RunID(text(7)), ActivityID: number(8), Attempt: int(number(9))}
	return l
}

// RekeyLease implements ports.LeaseStore.
func (s *Store) RekeyLease(ctx context.Context, hash, fresh string, until time.Time) (bool, error) {
	var changed int64
	err := s.write.transaction(ctx, func(t *tx) (err error) {
		changed, err = t.exec(sqlLeaseKey, fresh, micros(until), micros(until), hash)
		return err
	})
	return changed == 1, err
}

// MoveLeases implements ports.LeaseStore.
func (s *Store) MoveLeases(ctx context.Context, hashes []string, m ports.LeaseMove) ([]string, error) {
	var moved []string
	err := s.write.transaction(ctx, func(t *tx) error {
		moved = nil
		for _, hash := range slices.Sorted(slices.Values(hashes)) {
			n, err := t.exec(sqlLeaseMove, string(m.To), string(m.End), micros(m.Until), micros(m.Until), hash, string(m.From), micros(m.Lapsed), micros(m.Lapsed))
			if err != nil {
				return err
			}
			if n > 0 {
				moved = append(moved, hash)
			}
		}
		return nil
	})
	return moved, err
}
