package gormstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

const (
	sqlWorkflowAdd = `INSERT INTO workflows (id, namespace, workflow_type, run_id, status, head_seq, started_at, closed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	sqlWorkflowAdvance = `UPDATE workflows SET head_seq = ? WHERE id = ? AND head_seq = ?`
	sqlWorkflowChange  = `UPDATE workflows SET head_seq = ?, workflow_type = ?, run_id = ?, status = ?, closed_at = ? WHERE id = ? AND head_seq = ?`
	sqlEventAdd        = `INSERT INTO events (workflow_id, seq, run_id, type, recorded_at, data) VALUES `
	// What names a run (type, version, start, parent, labels) never changes, so that two of the indexes are written once.
	sqlRunPut = `INSERT INTO runs (workflow_id, generation, run_id, namespace, workflow_type, package_version, status, paused_reason,
		started_at, ended_at, previous_run_id, parent_workflow_id, parent_run_id, parent_child, labels, first_seq, outcome)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (workflow_id, generation) DO UPDATE SET status = excluded.status, paused_reason = excluded.paused_reason,
		ended_at = excluded.ended_at, outcome = excluded.outcome`
	sqlKeyFind = `SELECT expires_at FROM idempotency_keys WHERE scope = ? AND key = ?`
	sqlKeyPut  = `INSERT OR REPLACE INTO idempotency_keys (scope, key, request, workflow_id, run_id, expires_at) VALUES (?, ?, ?, ?, ?, ?)`
	// Each new key takes a few dead ones away, so that the table holds little more than the live ones.
	sqlKeysExpire = `DELETE FROM idempotency_keys WHERE (scope, key) IN
		(SELECT scope, key FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT 4)`
)

// sqlEventsAdd has the statement for each number of events.
var sqlEventsAdd = func() (texts [eventsAtOnce + 1]string) {
	for n := 1; n <= eventsAtOnce; n++ {
		texts[n] = sqlEventAdd + strings.Repeat(`(?, ?, ?, ?, ?, ?), `, n-1) + `(?, ?, ?, ?, ?, ?)`
	}
	return texts
}()

// Append implements ports.EventStore: one transaction for all commits. A commit that must be refused is found before it
// has written anything, so it needs no savepoint. What nobody foresaw undoes the transaction and repeats it commit by
// commit; a store that cannot write fails all.
func (s *Store) Append(ctx context.Context, commits []history.Commit) []error {
	errs := make([]error, len(commits))
	now := s.clock.Now()
	failed := s.write.transaction(ctx, func(t *tx) error {
		for i := range commits {
			refusal, err := t.commit(&commits[i], now)
			if err != nil {
				return err
			}
			errs[i] = refusal
		}
		return nil
	})
	switch {
	case failed == nil:
		return errs
	case domain.CodeOf(failed) == domain.CodeBackend && len(commits) > 1 && !ended(ctx, failed):
		for i := range commits {
			errs[i] = s.Append(ctx, commits[i:i+1])[0]
		}
	default:
		for i := range errs {
			errs[i] = failed
		}
	}
	return errs
}

// ended tells whether err is the cause of a context that is over; such a cause may be any error.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// commit writes one commit, or refuses it and writes nothing of it. Any other error spoils the transaction.
func (t *tx) commit(c *history.Commit, now time.Time) (refusal, err error) {
	if err := ports.CheckCommit(c); err != nil {
		return err, nil
	}
	if c.Started != nil {
		taken, err := t.keyTaken(c.Started, now)
		if err != nil {
			return nil, err
		}
		if taken {
			return ports.IdempotencyTaken(c.Started.Key), nil
		}
	}
	if c.Started != nil && c.Started.Task != "" {
		if refusal, err := t.mcpTaskRefuses(c.Started); refusal != nil || err != nil {
			return refusal, err
		}
	}
	if refusal, err := t.claimLost(c.Claims); refusal != nil || err != nil {
		return refusal, err
	}
	follows, err := t.advance(c)
	if err != nil {
		return nil, err
	}
	if !follows {
		return domain.SequenceConflict(c.WorkflowID, c.ExpectedSeq), nil
	}
	return nil, t.contents(c, now)
}

func (t *tx) keyTaken(k *history.Idempotency, now time.Time) (bool, error) {
	found := make([]driver.Value, 1)
	ok, err := t.row(found, sqlKeyFind, k.Scope, k.Key)
	if !ok || err != nil {
		return false, err
	}
	expires, _ := found[0].(int64)
	return fromMicros(expires).After(now), nil
}

// advance moves the head of the workflow. It changes nothing, and says so, when the commit does not follow the head.
func (t *tx) advance(c *history.Commit) (follows bool, err error) {
	head := c.ExpectedSeq + history.Seq(len(c.Events))
	id := string(c.WorkflowID)
	row, hasRow := latest(c.Rows)
	var changed int64
	switch {
	case c.ExpectedSeq == 0:
		started := row.StartedAt
		if !hasRow {
			started = c.Events[0].At
		}
		changed, err = t.exec(sqlWorkflowAdd, id, string(c.Namespace), row.WorkflowType, string(row.RunID), string(row.Status), head,
			micros(started), micros(row.EndedAt))
	case hasRow:
		changed, err = t.exec(sqlWorkflowChange, head, row.WorkflowType, string(row.RunID), string(row.Status), micros(row.EndedAt), id, c.ExpectedSeq)
	default:
		changed, err = t.exec(sqlWorkflowAdvance, head, id, c.ExpectedSeq)
	}
	return changed == 1, err
}

// latest is the row of the newest generation.
func latest(rows []history.RunRow) (row history.RunRow, ok bool) {
	for i := range rows {
		if !ok || rows[i].Generation >= row.Generation {
			row, ok = rows[i], true
		}
	}
	return row, ok
}

func (t *tx) contents(c *history.Commit, now time.Time) error {
	for events := range slices.Chunk(c.Events, eventsAtOnce) {
		if err := t.addEvents(events); err != nil {
			return err
		}
	}
	for i := range c.Rows {
		if err := t.putRun(&c.Rows[i]); err != nil {
			return err
		}
	}
	for _, a := range c.Acts {
		if err := t.act(a); err != nil {
			return err
		}
	}
	if k := c.Started; k != nil {
		if err := t.beginMCPTask(c); err != nil {
			return err
		}
		if _, err := t.exec(sqlKeyPut, k.Scope, k.Key, k.Request, string(k.WorkflowID), string(k.RunID), micros(k.ExpiresAt)); err != nil {
			return err
		}
		if _, err := t.exec(sqlKeysExpire, micros(now)); err != nil {
			return err
		}
	}
	for i := range c.Audit {
		if err := t.audit(&c.Audit[i]); err != nil {
			return err
		}
	}
	return nil
}

// eventsAtOnce is how many events one statement adds; there is a prepared statement for each number up to it.
const eventsAtOnce = 8

func (t *tx) addEvents(events []history.Recorded) error {
	args := make([]driver.Value, 0, 6*eventsAtOnce)
	for i := range events {
		e := &events[i]
		args = append(args, string(e.WorkflowID), e.Seq, string(e.RunID), e.Type, micros(e.At), []byte(e.Data))
	}
	_, err := t.exec(sqlEventsAdd[len(events)], args...)
	return err
}

func (t *tx) putRun(r *history.RunRow) error {
	labels, err := encodeLabels(r.Labels)
	if err != nil {
		return err
	}
	var parentWorkflow, parentRun, parentChild driver.Value
	if p := r.Parent; p != nil {
		parentWorkflow, parentRun, parentChild = string(p.WorkflowID), string(p.RunID), p.Child
	}
	_, err = t.exec(sqlRunPut, string(r.WorkflowID), int64(r.Generation), string(r.RunID), string(r.Namespace), r.WorkflowType, r.PackageVersion,
		string(r.Status), r.PausedReason, micros(r.StartedAt), micros(r.EndedAt), string(r.PreviousRunID), parentWorkflow, parentRun, parentChild,
		labels, r.FirstSeq, r.Outcome)
	return err
}
