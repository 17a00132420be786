package gormstore

import (
	"context"
	"database/sql/driver"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

const (
	sqlWorkflowAdd = `INSERT INTO workflows (id, namespace, workflow_type, run_id, status, head_seq, started_at, closed_at, current_step)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	sqlWorkflowAdvance = `UPDATE workflows SET head_seq = ?, current_step = ? WHERE id = ? AND head_seq = ?`
	sqlWorkflowChange  = `UPDATE workflows SET head_seq = ?, workflow_type = ?, run_id = ?, status = ?, closed_at = ?, current_step = ?
		WHERE id = ? AND head_seq = ?`
	sqlEventAdd = `INSERT INTO events (workflow_id, seq, run_id, type, recorded_at, data) VALUES `
	// What names a run (type, version, start, parent, labels) never changes, so that two of the indexes are written once.
	sqlRunPut = `INSERT INTO runs (workflow_id, generation, run_id, namespace, workflow_type, package_version, status, paused_reason,
		started_at, ended_at, previous_run_id, parent_workflow_id, parent_run_id, parent_child, labels, first_seq, outcome, failure_code, failure_message,
		schedule_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (workflow_id, generation) DO UPDATE SET status = excluded.status, paused_reason = excluded.paused_reason,
		ended_at = excluded.ended_at, outcome = excluded.outcome, failure_code = excluded.failure_code, failure_message = excluded.failure_message`
	sqlKeyLive = `SELECT 1 FROM idempotency_keys WHERE scope = ? AND key = ? AND expires_at > ?`
	sqlKeyPut  = `INSERT INTO idempotency_keys (scope, key, request, workflow_id, run_id, expires_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (scope, key) DO UPDATE SET request = excluded.request, workflow_id = excluded.workflow_id, run_id = excluded.run_id,
		expires_at = excluded.expires_at`
	// Each new key takes a few dead ones away, so that the table holds little more than the live ones.
	sqlKeysExpire = `DELETE FROM idempotency_keys WHERE (scope, key) IN
		(SELECT scope, key FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT 4)`
)

var sqlEventsAdd = manyRows(sqlEventAdd, 6)

// Append implements ports.EventStore: one transaction for all commits. A commit that must be refused is found before it
// has written anything, so it needs no savepoint. What nobody foresaw undoes the transaction and repeats it commit by
// commit; a store that cannot write fails all.
func (s *Store) Append(ctx context.Context, commits []history.Commit) []error {
	errs := make([]error, len(commits))
	now := s.clock.Now()
	failed := s.write.transaction(ctx, func(t *tx) error {
		if t.shared != nil {
			return t.waves(commits, errs, now)
		}
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
	case (domain.CodeOf(failed) == domain.CodeBackend || rowHeld(failed)) && len(commits) > 1 && !stopped(ctx, failed):
		s.oneByOne(ctx, commits, errs)
	default:
		for i := range errs {
			errs[i] = failed
		}
	}
	return errs
}

// oneByOne writes each commit in a transaction of its own, until the store goes away.
func (s *Store) oneByOne(ctx context.Context, commits []history.Commit, errs []error) {
	var away error
	for i := range commits {
		if away == nil {
			errs[i] = s.Append(ctx, commits[i:i+1])[0]
		} else {
			errs[i] = away
		}
		if domain.CodeOf(errs[i]) == domain.CodeUnavailable && !rowHeld(errs[i]) {
			away = errs[i]
		}
	}
}

// commit writes one commit, or refuses it and writes nothing of it. Any other error spoils the transaction.
func (t *tx) commit(c *history.Commit, now time.Time) (refusal, err error) {
	if refusal := ports.CheckCommit(c); refusal != nil {
		return refusal, nil
	}
	begun, refusal, err := ports.Judge(c, asking{t, now})
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := t.contents(c, begun); err != nil || c.Started == nil {
		return nil, err
	}
	if err := t.send(sqlKeyPut, keyRow(c.Started)...); err != nil {
		return nil, err
	}
	return nil, t.send(sqlKeysExpire, micros(now))
}

// asking implements ports.Grounds where nobody else writes: it reads what it is asked for.
type asking struct {
	t   *tx
	now time.Time
}

// KeyFree implements ports.Grounds.
func (a asking) KeyFree(k *history.Idempotency) (bool, error) {
	taken, err := a.t.row(make([]driver.Value, 1), sqlKeyLive, k.Scope, k.Key, micros(a.now))
	return !taken, err
}

// Waiting implements ports.Grounds.
func (a asking) Waiting(id task.ID) (t task.Task, known bool, err error) {
	row := make([]driver.Value, mcpTaskWidth)
	if known, err = a.t.row(row, sqlMCPTask, string(id)); known {
		t, err = toMCPTask(row)
	}
	return t, known, err
}

// Held implements ports.Grounds.
func (a asking) Held(c history.Claim) (bool, error) {
	query := sqlClaim
	if c.Token == 0 {
		query = sqlParked
	}
	return a.t.row(make([]driver.Value, 1), query, claimRow(c)...)
}

// Follows implements ports.Grounds: moving the head tells it.
func (a asking) Follows(c *history.Commit) (bool, error) {
	query, args := advancing(c)
	changed, err := a.t.exec(query, args...)
	return changed == 1, err
}

func keyRow(k *history.Idempotency) []driver.Value {
	return []driver.Value{k.Scope, k.Key, k.Request, string(k.WorkflowID), string(k.RunID), micros(k.ExpiresAt)}
}

// advancing is the statement that moves the head of a workflow; it changes nothing when the commit does not follow the head.
func advancing(c *history.Commit) (query string, args []driver.Value) {
	head := c.ExpectedSeq + history.Seq(len(c.Events))
	id := string(c.WorkflowID)
	row, hasRow := latest(c.Rows)
	switch {
	case c.ExpectedSeq == 0:
		started := row.StartedAt
		if !hasRow {
			started = c.Events[0].At
		}
		return sqlWorkflowAdd, []driver.Value{
			id, string(c.Namespace), row.WorkflowType, string(row.RunID), string(row.Status), head, micros(started), micros(row.EndedAt),
			currentStep(c.Current),
		}
	case hasRow:
		return sqlWorkflowChange, []driver.Value{head, row.WorkflowType, string(row.RunID), string(row.Status), micros(row.EndedAt), currentStep(c.Current), id, c.ExpectedSeq}
	default:
		return sqlWorkflowAdvance, []driver.Value{head, currentStep(c.Current), id, c.ExpectedSeq}
	}
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

// contents writes what a commit holds besides the head of its workflow and its key, and what became of the task that waits.
func (t *tx) contents(c *history.Commit, begun *task.Task) error {
	if t.shared != nil {
		t.events = append(t.events, c.Events...) // with those of the other commits
	} else if err := t.addEvents(c.Events); err != nil {
		return err
	}
	for i := range c.Rows {
		if err := t.putRun(&c.Rows[i]); err != nil {
			return err
		}
	}
	if err := t.noteChanges(c); err != nil {
		return err
	}
	for _, a := range c.Acts {
		if err := t.act(a); err != nil {
			return err
		}
	}
	for i := range c.Audit {
		t.audit(&c.Audit[i])
	}
	if begun == nil {
		return nil
	}
	_, err := t.setMCPTask(begun.ID, *begun)
	return err
}

func (t *tx) addEvents(events []history.Recorded) error {
	return t.addMany(sqlEventsAdd, len(events), func(i int, args []driver.Value) []driver.Value {
		e := &events[i]
		return append(args, string(e.WorkflowID), e.Seq, string(e.RunID), e.Type, micros(e.At), []byte(e.Data))
	})
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
	return t.send(sqlRunPut, string(r.WorkflowID), int64(r.Generation), string(r.RunID), string(r.Namespace), r.WorkflowType, r.PackageVersion,
		string(r.Status), r.PausedReason, micros(r.StartedAt), micros(r.EndedAt), string(r.PreviousRunID), parentWorkflow, parentRun, parentChild,
		labels, r.FirstSeq, r.Outcome, r.FailureCode, r.FailureMessage, orNull(r.ScheduleID))
}
