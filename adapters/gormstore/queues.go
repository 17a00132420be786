package gormstore

import (
	"cmp"
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
	taskColumns = `t.workflow_id, t.run_id, t.activity_id, t.attempt, t.state, t.owner, t.claim_token, t.claim_until, t.scheduled_at, t.not_before,
		t.namespace, t.task_queue, t.name, t.package_version`
	// The inner query reads an index only, so that tasks which wait for a later retry cost no row.
	sqlTasksDue = `SELECT ` + taskColumns + ` FROM (SELECT workflow_id, run_id, activity_id FROM activity_tasks
		WHERE state IN ('queued', 'parked') AND (state = 'parked' OR not_before <= ?)
		ORDER BY scheduled_at, workflow_id, run_id, activity_id LIMIT +?) AS d
		CROSS JOIN activity_tasks AS t WHERE t.workflow_id = d.workflow_id AND t.run_id = d.run_id AND t.activity_id = d.activity_id`
	sqlTasksStarted = `SELECT ` + taskColumns + ` FROM activity_tasks AS t WHERE t.state = 'started'`
	sqlTasksHeld    = sqlTasksStarted + ` AND t.owner IN ?`
	sqlTasksOpen    = `SELECT ` + taskColumns + ` FROM activity_tasks AS t WHERE t.workflow_id = +? ORDER BY t.run_id, t.activity_id`
	sqlTaskPark     = `UPDATE activity_tasks SET state = 'parked', owner = '', claim_token = 0, claim_until = 0 WHERE ` + sqlClaimed
	sqlClaimed      = `workflow_id = ? AND run_id = ? AND activity_id = ? AND attempt = ? AND claim_token = ? AND state = 'started'`
	sqlClaim        = `SELECT 1 FROM activity_tasks WHERE ` + sqlClaimed
	// Nobody holds a parked task, so its token is 0.
	sqlParked = `SELECT 1 FROM activity_tasks WHERE workflow_id = ? AND run_id = ? AND activity_id = ? AND attempt = ? AND claim_token = ? AND state = 'parked'`
	sqlLapsed = `SELECT ` + taskColumns + ` FROM activity_tasks AS t WHERE t.state = 'started' AND t.claim_until <= ?
		ORDER BY t.claim_until, t.workflow_id, t.run_id, t.activity_id LIMIT +?`
	sqlRenew  = `UPDATE activity_tasks SET claim_until = ? WHERE ` + sqlClaimed
	sqlDepths = `SELECT namespace, task_queue, count(*), min(CASE WHEN not_before > scheduled_at THEN not_before ELSE scheduled_at END) FROM activity_tasks
		WHERE state IN ('queued', 'parked') AND (state = 'parked' OR not_before <= ?) GROUP BY namespace, task_queue`
	sqlTaskNext = `SELECT not_before FROM activity_tasks WHERE state = 'queued' ORDER BY not_before LIMIT 1`

	sqlTimersDue = `SELECT workflow_id, run_id, timer_id, namespace, purpose, fire_at FROM timers WHERE fire_at <= ?
		ORDER BY fire_at, workflow_id, run_id, timer_id LIMIT +?`
	sqlTimersDueOf = `SELECT workflow_id, run_id, timer_id, namespace, purpose, fire_at FROM timers WHERE fire_at <= ? AND shard IN ?
		ORDER BY fire_at, workflow_id, run_id, timer_id LIMIT ?`
	sqlTimerNextOf = `SELECT fire_at FROM timers WHERE shard IN ? ORDER BY fire_at LIMIT 1`
	sqlOutboxOf    = `SELECT id, namespace, workflow_id, kind, body FROM outbox WHERE shard IN ? ORDER BY n LIMIT ?`
	sqlTimerNext   = `SELECT fire_at FROM timers ORDER BY fire_at LIMIT 1`

	sqlOutbox    = `SELECT id, namespace, workflow_id, kind, body FROM outbox ORDER BY n LIMIT +?`
	sqlDelivered = `DELETE FROM outbox WHERE id = ?`
)

func (s *Store) tasks(ctx context.Context, query string, args ...any) ([]history.Task, error) {
	return list(ctx, s, scanTask, query, args...)
}

func scanTask(rows *sql.Rows, t *history.Task) error {
	var until, scheduled, notBefore int64
	err := rows.Scan(&t.Key.WorkflowID, &t.Key.RunID, &t.Key.ActivityID, &t.Key.Attempt, &t.State, &t.Owner, &t.Token, &until, &scheduled, &notBefore,
		&t.Namespace, &t.TaskQueue, &t.Name, &t.PackageVersion)
	t.ClaimUntil, t.ScheduledAt, t.NotBefore = fromMicros(until), fromMicros(scheduled), fromMicros(notBefore)
	return err
}

func compareTasks(a, b history.Task) int {
	return cmp.Or(cmp.Compare(a.Key.WorkflowID, b.Key.WorkflowID), cmp.Compare(a.Key.RunID, b.Key.RunID), cmp.Compare(a.Key.ActivityID, b.Key.ActivityID))
}

// Due implements ports.TaskStore.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]history.Task, error) {
	tasks, err := s.tasks(ctx, sqlTasksDue, micros(now), max(limit, 0))
	slices.SortFunc(tasks, func(a, b history.Task) int { return cmp.Or(a.ScheduledAt.Compare(b.ScheduledAt), compareTasks(a, b)) })
	return tasks, err
}

// Held implements ports.TaskStore.
func (s *Store) Held(ctx context.Context, owners ...string) ([]history.Task, error) {
	query, args := sqlTasksStarted, []any(nil)
	if len(owners) > 0 {
		query, args = sqlTasksHeld, []any{owners}
	}
	tasks, err := s.tasks(ctx, query, args...)
	slices.SortFunc(tasks, compareTasks)
	return tasks, err
}

// Lapsed implements ports.TaskStore.
func (s *Store) Lapsed(ctx context.Context, at time.Time, limit int) ([]history.Task, error) {
	return s.tasks(ctx, sqlLapsed, micros(at), max(limit, 0))
}

// Open implements ports.TaskStore.
func (s *Store) Open(ctx context.Context, id domain.WorkflowID) ([]history.Task, error) {
	tasks, err := s.tasks(ctx, sqlTasksOpen, id)
	slices.SortStableFunc(tasks, func(a, b history.Task) int { return cmp.Compare(a.Key.ActivityID, b.Key.ActivityID) })
	return tasks, err
}

// Park implements ports.TaskStore.
func (s *Store) Park(ctx context.Context, claims []history.Claim) error {
	return s.write.transaction(ctx, func(t *tx) error {
		t.told.task(history.TaskParked)
		for _, i := range inOrder(claims) {
			if err := t.send(sqlTaskPark, claimRow(claims[i])...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Renew implements ports.TaskStore.
func (s *Store) Renew(ctx context.Context, claims []history.Claim, until time.Time) ([]history.Claim, error) {
	held := make([]int64, len(claims))
	err := s.write.transaction(ctx, func(t *tx) error {
		for _, i := range inOrder(claims) {
			if err := t.count(&held[i], sqlRenew, append([]driver.Value{micros(until)}, claimRow(claims[i])...)...); err != nil {
				return err
			}
		}
		return t.flush()
	})
	return without(claims, err, func(i int) bool { return held[i] > 0 })
}

// inOrder gives the places of claims by the keys of their tasks: in that order all who hold several tasks take them, so that
// none waits for another in a circle.
func inOrder(claims []history.Claim) []int {
	places := make([]int, len(claims))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(i, j int) int {
		return compareTasks(history.Task{Key: claims[i].Key}, history.Task{Key: claims[j].Key})
	})
	return places
}

// without gives the claims that are not held.
func without(claims []history.Claim, err error, held func(i int) bool) ([]history.Claim, error) {
	if err != nil {
		return nil, err
	}
	var lost []history.Claim
	for i, c := range claims {
		if !held(i) {
			lost = append(lost, c)
		}
	}
	return lost, nil
}

// Lost implements ports.TaskStore.
func (s *Store) Lost(ctx context.Context, claims []history.Claim) ([]history.Claim, error) {
	held := make([]bool, len(claims))
	err := s.write.transaction(ctx, func(t *tx) error {
		for i, c := range claims {
			if err := t.ask(&held[i], sqlClaim, claimRow(c)...); err != nil {
				return err
			}
		}
		return t.flush()
	})
	return without(claims, err, func(i int) bool { return held[i] })
}

// Depths implements ports.QueueStore.
func (s *Store) Depths(ctx context.Context, now time.Time) ([]ports.QueueDepth, error) {
	return list(ctx, s, func(rows *sql.Rows, d *ports.QueueDepth) error {
		var oldest int64
		err := rows.Scan(&d.Namespace, &d.TaskQueue, &d.Tasks, &oldest)
		d.Oldest = fromMicros(oldest)
		return err
	}, sqlDepths, micros(now))
}

// NextDue implements ports.TaskStore. A task without a due time has long been due.
func (s *Store) NextDue(ctx context.Context) (time.Time, error) { return s.earliest(ctx, sqlTaskNext) }

// NextTimer implements ports.TimerStore.
func (s *Store) NextTimer(ctx context.Context, of ports.Shards) (time.Time, error) {
	if s.none(of) {
		return time.Time{}, nil
	}
	if shards, some := s.some(of); some {
		return s.earliest(ctx, sqlTimerNextOf, shards)
	}
	return s.earliest(ctx, sqlTimerNext)
}

// some gives the shards as an argument; ok is false when all are asked for, as they are on SQLite.
func (s *Store) some(of ports.Shards) (shards []int, ok bool) {
	if of == nil || s.postgres == nil {
		return nil, false
	}
	return of, true
}

// none reports whether a server looks after no shard at all: there is nothing to read for it.
func (s *Store) none(of ports.Shards) bool { return s.postgres != nil && of != nil && len(of) == 0 }

// earliest reads at most one time; a stored 0 is a time here, because the row exists.
func (s *Store) earliest(ctx context.Context, query string, args ...any) (time.Time, error) {
	var next time.Time
	err := s.each(ctx, func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		next = time.UnixMicro(n).UTC()
		return err
	}, query, args...)
	return next, err
}

// DueTimers implements ports.TimerStore.
func (s *Store) DueTimers(ctx context.Context, of ports.Shards, now time.Time, limit int) ([]history.Timer, error) {
	if s.none(of) {
		return nil, nil
	}
	query, args := sqlTimersDue, []any{micros(now), max(limit, 0)}
	if shards, some := s.some(of); some {
		query, args = sqlTimersDueOf, []any{micros(now), shards, max(limit, 0)}
	}
	return list(ctx, s, func(rows *sql.Rows, t *history.Timer) error {
		var at int64
		err := rows.Scan(&t.WorkflowID, &t.RunID, &t.TimerID, &t.Namespace, &t.Purpose, &at)
		t.FireAt = fromMicros(at)
		return err
	}, query, args...)
}

// Pending implements ports.OutboxStore.
func (s *Store) Pending(ctx context.Context, of ports.Shards, limit int) ([]history.Message, error) {
	if s.none(of) {
		return nil, nil
	}
	query, args := sqlOutbox, []any{max(limit, 0)}
	if shards, some := s.some(of); some {
		query, args = sqlOutboxOf, []any{shards, max(limit, 0)}
	}
	return list(ctx, s, func(rows *sql.Rows, m *history.Message) error {
		var body []byte
		err := rows.Scan(&m.ID, &m.Namespace, &m.WorkflowID, &m.Kind, &body)
		m.Body = body
		return err
	}, query, args...)
}

// Delivered implements ports.OutboxStore.
func (s *Store) Delivered(ctx context.Context, ids []string) error {
	return s.write.transaction(ctx, func(t *tx) error {
		for _, id := range ids {
			if err := t.send(sqlDelivered, id); err != nil {
				return err
			}
		}
		return nil
	})
}
