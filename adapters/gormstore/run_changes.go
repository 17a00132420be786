package gormstore

import (
	"context"
	"database/sql"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// On Postgres several servers write at once, and what has a lower number may become visible later. So a change is ordered by
// its transaction first, and read once every transaction up to it has ended. SQLite has one writer, and its numbers are dense.
const (
	sqlChangeAdd = `INSERT INTO run_changes (at, namespace, workflow_id, generation) VALUES (?, ?, ?, ?)`
	// Each new change takes up to four old ones away. The one behind them is old, too, and stays: a reader who is at the end
	// of a log that nothing was added to for long still finds the place.
	sqlChangesDrop = `DELETE FROM run_changes WHERE n IN (SELECT n FROM run_changes ORDER BY /*pg epoch, */n LIMIT 4 /*pg FOR UPDATE SKIP LOCKED*/)
		AND EXISTS (SELECT 1 FROM (SELECT n, at FROM run_changes ORDER BY /*pg epoch, */n LIMIT 1 OFFSET 4) AS d WHERE d.at <= ?
			OR d.n <= (SELECT n FROM run_changes ORDER BY /*pg epoch DESC, */n DESC LIMIT 1) - ?)`
	sqlChanges = `SELECT /*pg epoch, */n, namespace, workflow_id, generation FROM run_changes WHERE n > ? ORDER BY n LIMIT ?`
	sqlEnds    = `SELECT 0, coalesce((SELECT n FROM run_changes ORDER BY n LIMIT 1) - 1, 0), 0, coalesce((SELECT n FROM run_changes ORDER BY n DESC LIMIT 1), 0)`

	sqlChangesPG = `SELECT epoch, n, namespace, workflow_id, generation FROM run_changes
		WHERE (epoch, n) > (CAST(? AS BIGINT), CAST(? AS BIGINT)) AND epoch < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
		ORDER BY epoch, n LIMIT ?`
	sqlEndsPG = `SELECT d.epoch, d.n, pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, 9223372036854775807
		FROM (SELECT epoch, n FROM run_changes ORDER BY epoch, n LIMIT 1) AS d`
	sqlNextTransaction = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
)

// noteChanges adds the rows of a commit to the log.
func (t *tx) noteChanges(c *history.Commit) error {
	for i := range c.Rows {
		r := &c.Rows[i]
		at := r.StartedAt
		if len(c.Events) > 0 {
			at = c.Events[len(c.Events)-1].At
		}
		if err := t.send(sqlChangeAdd, micros(at), string(r.Namespace), string(r.WorkflowID), int64(r.Generation)); err != nil {
			return err
		}
		if err := t.send(sqlChangesDrop, micros(at.Add(-ports.ChangesKept)), int64(ports.MostChangesKept)); err != nil {
			return err
		}
	}
	return nil
}

// noted is an entry of the log.
type noted struct {
	at         ports.ChangePosition
	namespace  string
	workflow   string
	generation int
}

// RunChanges implements ports.ChangeLog.
func (s *Store) RunChanges(ctx context.Context, ns domain.Namespace, after *ports.ChangePosition, limit int) (ports.ChangePage, error) {
	var page ports.ChangePage
	var found []noted
	var err error
	if after != nil {
		page.UpTo = *after
		if found, err = s.noted(ctx, *after, limit); err != nil {
			return page, err
		}
	}
	// Read after the entries: what was dropped meanwhile is missed.
	first, end, err := s.ends(ctx)
	if after == nil || err != nil {
		if page.UpTo = end; end.Before(first) { // a transaction that is older than the log goes on; it writes no change
			page.UpTo = first
		}
		return page, err
	}
	if page.Lost = after.Before(first); !page.Lost && len(found) == 0 {
		page.Lost, err = s.foreign(ctx, *after, end)
	}
	if page.Lost || err != nil {
		return page, err
	}
	for _, n := range found {
		page.UpTo = n.at
		if n.namespace != string(ns) {
			continue
		}
		runs, err := s.listedRuns(ctx, s.read.Table("runs").Select(listedColumns).Where("workflow_id = ? AND generation = ?", n.workflow, n.generation))
		if err != nil {
			return page, err
		}
		for _, r := range runs { // none: it was removed meanwhile
			page.Changes = append(page.Changes, ports.RunChange{At: n.at, Run: r})
		}
	}
	return page, nil
}

func (s *Store) noted(ctx context.Context, after ports.ChangePosition, limit int) ([]noted, error) {
	if s.postgres != nil {
		return list(ctx, s, func(rows *sql.Rows, n *noted) error {
			return rows.Scan(&n.at.Epoch, &n.at.N, &n.namespace, &n.workflow, &n.generation)
		}, sqlChangesPG, after.Epoch, after.N, max(limit, 0))
	}
	return list(ctx, s, func(rows *sql.Rows, n *noted) error {
		return rows.Scan(&n.at.N, &n.namespace, &n.workflow, &n.generation)
	}, sqlChanges, after.N, max(limit, 0))
}

// ends gives the first place that can still be read from, and the last one.
func (s *Store) ends(ctx context.Context) (first, end ports.ChangePosition, err error) {
	query := sqlEnds
	if s.postgres != nil {
		query = sqlEndsPG
	}
	err = s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&first.Epoch, &first.N, &end.Epoch, &end.N) }, query)
	return first, end, err
}

// foreign reports whether a place is beyond everything that the store has, as after the restoring of a backup.
func (s *Store) foreign(ctx context.Context, p, end ports.ChangePosition) (bool, error) {
	if s.postgres == nil {
		return end.Before(p), nil
	}
	var next int64
	err := s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&next) }, sqlNextTransaction)
	return p.Epoch >= next, err
}
