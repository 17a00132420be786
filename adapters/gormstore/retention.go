package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"time"

	"aion/domain"
	"aion/ports"
)

const (
	// What others may change meanwhile; the head tells whether the workflow itself has.
	sqlNotNeeded = ` AND NOT EXISTS (SELECT 1 FROM activity_tasks AS t WHERE t.workflow_id = w.id)
		AND NOT EXISTS (SELECT 1 FROM idempotency_keys AS k WHERE k.workflow_id = w.id AND k.expires_at > ?)
		AND NOT EXISTS (SELECT 1 FROM runs AS r JOIN workflows AS p ON p.id = r.parent_workflow_id WHERE r.workflow_id = w.id AND p.closed_at = 0)
		AND NOT EXISTS (SELECT 1 FROM runs AS c JOIN workflows AS l ON l.id = c.workflow_id WHERE c.namespace = w.namespace AND c.parent_workflow_id = w.id
			AND l.closed_at = 0)`
	// Messages are delivered at once and working tasks are bounded: each of the two is read once for a whole page.
	sqlClosed = `SELECT w.id, w.closed_at, w.head_seq, (SELECT coalesce(sum(s.head), 0) FROM transcript_streams AS s WHERE s.workflow_id = w.id) AS records
		FROM workflows AS w WHERE w.namespace = ? AND w.closed_at > 0 AND w.closed_at <= ? AND (w.closed_at, w.id) > (?, ?)` + sqlNotNeeded + `
		AND w.id NOT IN (SELECT workflow_id FROM outbox)
		AND w.id NOT IN (SELECT workflow_id FROM mcp_tasks WHERE state = 'working' AND workflow_id IS NOT NULL)
		ORDER BY w.closed_at, w.id LIMIT ?`
	sqlStillClosed = ` WHERE w.id = ? AND w.head_seq = ? AND w.closed_at > 0 AND w.namespace <> ''` + sqlNotNeeded
	sqlRemove      = `DELETE FROM workflows AS w` + sqlStillClosed
	// A workflow that is removed in pieces belongs to no namespace meanwhile, and has no run: nobody finds it.
	sqlHide   = `UPDATE workflows AS w SET namespace = ''` + sqlStillClosed
	sqlHidden = `SELECT id FROM workflows WHERE namespace = '' AND closed_at > 0 LIMIT ?`

	sqlStreamFirst = `SELECT id FROM transcript_streams WHERE workflow_id = ? LIMIT 1`
	sqlRecordsSome = `DELETE FROM transcript_events WHERE stream = ?
		AND store_seq < (SELECT min(store_seq) FROM transcript_events WHERE stream = ?) + ?`
	sqlStreamDrop = `DELETE FROM transcript_streams WHERE id = ?`
	sqlLeasesSome = `DELETE FROM worker_leases WHERE hash IN (SELECT hash FROM worker_leases WHERE workflow_id = ? LIMIT ?)`
	sqlEventsSome = `DELETE FROM events WHERE workflow_id = ? AND seq < (SELECT min(seq) FROM events WHERE workflow_id = ?) + ?`
)

// What belongs to a workflow. Its tasks, and its messages, are gone before it may be removed.
var (
	sqlRemoveFew = []string{
		`DELETE FROM runs WHERE workflow_id = ?`, `DELETE FROM idempotency_keys WHERE workflow_id = ?`, `DELETE FROM timers WHERE workflow_id = ?`,
	}
	sqlRemoveMany = []string{
		`DELETE FROM transcript_events WHERE stream IN (SELECT id FROM transcript_streams WHERE workflow_id = ?)`,
		`DELETE FROM transcript_streams WHERE workflow_id = ?`, `DELETE FROM worker_leases WHERE workflow_id = ?`, `DELETE FROM events WHERE workflow_id = ?`,
	}
)

// removedRows bounds the events and records that one transaction removes: other changes wait for it some milliseconds.
const removedRows = 512

// Closed implements ports.RetentionStore.
func (s *Store) Closed(ctx context.Context, ns domain.Namespace, by time.Time, after *ports.ClosedWorkflow, limit int) ([]ports.ClosedWorkflow, error) {
	var last ports.ClosedWorkflow
	if after != nil {
		last = *after
	}
	return list(ctx, s, func(rows *sql.Rows, w *ports.ClosedWorkflow) error {
		var at int64
		err := rows.Scan(&w.ID, &at, &w.Head, &w.Records)
		w.ClosedAt = fromMicros(at)
		return err
	}, sqlClosed, string(ns), micros(by), micros(last.ClosedAt), string(last.ID), micros(s.clock.Now()), max(limit, 0))
}

// RemoveClosed implements ports.RetentionStore.
func (s *Store) RemoveClosed(ctx context.Context, workflows []ports.ClosedWorkflow) (removed int, err error) {
	left, err := list(ctx, s, func(rows *sql.Rows, id *string) error { return rows.Scan(id) }, sqlHidden, removedRows)
	if err == nil {
		err = s.erase(ctx, left)
	}
	for len(workflows) > 0 && err == nil {
		n, rows := 1, size(workflows[0])
		for n < len(workflows) && rows+size(workflows[n]) <= removedRows {
			rows += size(workflows[n])
			n++
		}
		var gone, hidden []string
		gone, hidden, err = s.remove(ctx, workflows[:n])
		removed += len(gone) + len(hidden)
		workflows = workflows[n:]
		if err == nil {
			err = s.erase(ctx, hidden)
		}
	}
	if err == nil {
		err = s.giveBack(ctx)
	}
	return removed, err
}

func size(w ports.ClosedWorkflow) int64 { return w.Head + w.Records }

// remove removes workflows in one transaction, and hides those that are too large for it.
func (s *Store) remove(ctx context.Context, workflows []ports.ClosedWorkflow) (gone, hidden []string, err error) {
	ordered := slices.SortedFunc(slices.Values(workflows), func(a, b ports.ClosedWorkflow) int { return cmp.Compare(a.ID, b.ID) })
	err = s.write.transaction(ctx, func(t *tx) error {
		gone, hidden = nil, nil
		for _, w := range ordered {
			large := size(w) > removedRows
			query := sqlRemove
			if large {
				query = sqlHide
			}
			changed, err := t.exec(query, string(w.ID), w.Head, micros(s.clock.Now()))
			if err != nil {
				return err
			}
			if changed == 0 {
				continue
			}
			t.told.Workflows = append(t.told.Workflows, w.ID)
			if err := t.sendAll(sqlRemoveFew, string(w.ID)); err != nil {
				return err
			}
			if large {
				hidden = append(hidden, string(w.ID))
				continue
			}
			gone = append(gone, string(w.ID))
			if err := t.sendAll(sqlRemoveMany, string(w.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	return gone, hidden, err
}

func (t *tx) sendAll(queries []string, id string) error {
	for _, query := range queries {
		if err := t.send(query, id); err != nil {
			return err
		}
	}
	return nil
}

// erase removes what is hidden, each piece in a transaction of its own.
func (s *Store) erase(ctx context.Context, hidden []string) error {
	for _, id := range hidden {
		for left := true; left; {
			err := s.write.transaction(ctx, func(t *tx) (err error) {
				left, err = t.eraseSome(id)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eraseSome removes a piece of a hidden workflow, and at the end itself.
func (t *tx) eraseSome(id string) (left bool, err error) {
	stream := make([]driver.Value, 1)
	found, err := t.row(stream, sqlStreamFirst, id)
	if err != nil {
		return false, err
	}
	if found {
		n, err := t.exec(sqlRecordsSome, stream[0], stream[0], int64(removedRows))
		if err != nil || n == removedRows {
			return true, err
		}
		return true, t.send(sqlStreamDrop, stream[0])
	}
	if n, err := t.exec(sqlLeasesSome, id, int64(removedRows)); err != nil || n == removedRows {
		return true, err
	}
	if n, err := t.exec(sqlEventsSome, id, id, int64(removedRows)); err != nil || n == removedRows {
		return true, err
	}
	return false, t.send(sqlWorkflowDrop, id)
}

// What a SQLite file has free is given back a megabyte at a time; a little is left for what is written next.
const (
	freedPages = 256
	sparePages = 1024
	freedTimes = 64 // by one call
)

// giveBack makes the file of a store smaller. A file that was made without incremental auto-vacuum keeps its size.
func (s *Store) giveBack(ctx context.Context) error {
	w, ok := s.write.(*writer)
	if !ok {
		return nil
	}
	for range freedTimes {
		free := make([]driver.Value, 1)
		var pages int64
		err := s.write.transaction(ctx, func(t *tx) error {
			if _, err := t.row(free, `PRAGMA freelist_count`); err != nil {
				return err
			}
			n, _ := free[0].(int64)
			pages = min(n-sparePages, freedPages)
			if pages <= 0 {
				return nil
			}
			return w.vacuum(t.ctx, pages)
		})
		if err != nil || pages < freedPages {
			return err
		}
	}
	return nil
}

const sqlAuditDrop = `DELETE FROM audit_log WHERE id >= ? AND id <= ? AND chain = ?`

// DropAudit implements ports.AuditRetention.
func (s *Store) DropAudit(ctx context.Context, chain string, first, last int64) error {
	for at := first; at <= last; at += removedRows {
		err := s.write.transaction(ctx, func(t *tx) error {
			return t.send(sqlAuditDrop, at, min(at+removedRows-1, last), chain)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
