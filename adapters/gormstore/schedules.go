package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"math"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
)

const (
	sqlScheduleAdd = `INSERT INTO schedules (namespace, schedule_id, uid, workflow_type, paused, wake_at, revision, created_at, request_key, input, body
		/*pg , shard*/) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? /*pg , ?*/) ON CONFLICT (namespace, schedule_id) DO NOTHING`
	sqlSchedule     = `SELECT input, body FROM schedules WHERE namespace = ? AND schedule_id = ?`
	sqlScheduleHold = sqlSchedule + forUpdate
	sqlScheduleSet  = `UPDATE schedules SET workflow_type = ?, paused = ?, wake_at = ?, revision = ?, input = ?, body = ?
		WHERE namespace = ? AND schedule_id = ?`
	sqlScheduleDrop      = `DELETE FROM schedules WHERE namespace = ? AND schedule_id = ?`
	sqlScheduleRequested = `SELECT input, body FROM schedules WHERE request_key = ? AND request_key <> '' AND created_at > ? LIMIT 1`
	sqlSchedules         = `SELECT input, body FROM schedules WHERE namespace = ? AND schedule_id > ?
		AND (CAST(? AS TEXT) = '' OR workflow_type = ?) AND (CAST(? AS BIGINT) < 0 OR paused = ?) ORDER BY schedule_id LIMIT ?`
	sqlFireAdd = `INSERT INTO schedule_fires (uid, n, nominal_at, decided_at, action, reason, workflow_id, run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlFires   = `SELECT n, nominal_at, decided_at, action, reason, workflow_id, run_id FROM schedule_fires WHERE uid = ? AND n < ?
		ORDER BY n DESC LIMIT ?`
	sqlFiresTrim = `DELETE FROM schedule_fires WHERE uid = ? AND n <= ?`
	sqlFiresDrop = `DELETE FROM schedule_fires WHERE uid = ?`

	// The condition on wake_at is word for word that of the index.
	sqlSchedulesDue = `SELECT wake_at, namespace, schedule_id FROM schedules WHERE wake_at > 0 AND wake_at <= ?
		AND (wake_at, namespace, schedule_id) > (?, ?, ?) ORDER BY wake_at, namespace, schedule_id LIMIT +?`
	sqlSchedulesDueOf = `SELECT wake_at, namespace, schedule_id FROM schedules WHERE wake_at > 0 AND wake_at <= ?
		AND (wake_at, namespace, schedule_id) > (?, ?, ?) AND shard IN ? ORDER BY wake_at, namespace, schedule_id LIMIT ?`
	sqlScheduleNext   = `SELECT wake_at FROM schedules WHERE wake_at > 0 ORDER BY wake_at LIMIT 1`
	sqlScheduleNextOf = `SELECT wake_at FROM schedules WHERE wake_at > 0 AND shard IN ? ORDER BY wake_at LIMIT 1`
)

// CreateSchedule implements ports.ScheduleStore.
func (s *Store) CreateSchedule(ctx context.Context, v schedule.Schedule, since time.Time) (stored schedule.Schedule, made bool, err error) {
	err = s.write.transaction(ctx, func(t *tx) error {
		stored, made = schedule.Schedule{}, false
		if v.RequestKey != "" {
			if err := t.oneAtATime(v.RequestKey); err != nil {
				return err
			}
			row := make([]driver.Value, 2)
			found, err := t.row(row, sqlScheduleRequested, v.RequestKey, micros(since))
			if err != nil {
				return err
			}
			if found {
				stored, err = toSchedule(row)
				return err
			}
		}
		body, err := encodeSchedule(v)
		if err != nil {
			return err
		}
		added, err := t.exec(sqlScheduleAdd, t.sharded(domain.WorkflowID(v.UID), string(v.Namespace), string(v.ID), v.UID, v.WorkflowType,
			whether(v.Paused != nil), micros(v.WakeAt()), v.Revision, micros(v.CreatedAt), v.RequestKey, blob(v.Input), body)...)
		if err != nil {
			return err
		}
		if added == 0 {
			return schedule.Exists(v.ID)
		}
		t.audit(v.Audit)
		stored, made = v, true
		stored.Audit = nil
		return nil
	})
	return stored, made, err
}

// ChangeSchedule implements ports.ScheduleStore.
func (s *Store) ChangeSchedule(ctx context.Context, of schedule.Ref, change ports.ScheduleChange) (changed schedule.Schedule, err error) {
	err = s.write.transaction(ctx, func(t *tx) error {
		before, err := t.schedule(of)
		if err != nil {
			return err
		}
		after, fires, err := change(before)
		if err != nil {
			return err
		}
		if err := t.setSchedule(after); err != nil {
			return err
		}
		for _, f := range fires {
			if err := t.send(sqlFireAdd, after.UID, f.N, micros(f.Nominal), micros(f.DecidedAt), string(f.Action), f.Reason,
				string(f.WorkflowID), string(f.RunID)); err != nil {
				return err
			}
		}
		if len(fires) > 0 && after.Fires > ports.KeptFires {
			if err := t.send(sqlFiresTrim, after.UID, after.Fires-ports.KeptFires); err != nil {
				return err
			}
		}
		t.audit(after.Audit)
		changed = after
		changed.Audit = nil
		return nil
	})
	return changed, err
}

func (t *tx) setSchedule(v schedule.Schedule) error {
	body, err := encodeSchedule(v)
	if err != nil {
		return err
	}
	return t.send(sqlScheduleSet, v.WorkflowType, whether(v.Paused != nil), micros(v.WakeAt()), v.Revision, blob(v.Input), body,
		string(v.Namespace), string(v.ID))
}

// schedule reads one, which nobody else changes until the transaction ends.
func (t *tx) schedule(of schedule.Ref) (schedule.Schedule, error) {
	row := make([]driver.Value, 2)
	found, err := t.row(row, sqlScheduleHold, string(of.Namespace), string(of.ID))
	if err != nil {
		return schedule.Schedule{}, err
	}
	if !found {
		return schedule.Schedule{}, schedule.NotFound(string(of.ID), of.Namespace)
	}
	return toSchedule(row)
}

// DeleteSchedule implements ports.ScheduleStore.
func (s *Store) DeleteSchedule(ctx context.Context, of schedule.Ref, check func(schedule.Schedule) error, audit *domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		v, err := t.schedule(of)
		if err == nil && check != nil {
			err = check(v)
		}
		if err != nil {
			return err
		}
		if err := t.send(sqlScheduleDrop, string(of.Namespace), string(of.ID)); err != nil {
			return err
		}
		t.audit(audit)
		return t.send(sqlFiresDrop, v.UID)
	})
}

// Schedule implements ports.ScheduleStore.
func (s *Store) Schedule(ctx context.Context, of schedule.Ref) (schedule.Schedule, error) {
	list, err := s.schedules(ctx, sqlSchedule, string(of.Namespace), string(of.ID))
	if err == nil && len(list) == 0 {
		err = schedule.NotFound(string(of.ID), of.Namespace)
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	return list[0], nil
}

// Schedules implements ports.ScheduleStore.
func (s *Store) Schedules(ctx context.Context, which ports.ScheduleFilter) ([]schedule.Schedule, error) {
	paused := int64(-1)
	if which.Paused != nil {
		paused = whether(*which.Paused)
	}
	return s.schedules(ctx, sqlSchedules, string(which.Namespace), string(which.After), which.WorkflowType, which.WorkflowType, paused, paused,
		max(which.Limit, 0))
}

func (s *Store) schedules(ctx context.Context, query string, args ...any) ([]schedule.Schedule, error) {
	return list(ctx, s, func(rows *sql.Rows, v *schedule.Schedule) error {
		var input, body []byte
		if err := rows.Scan(&input, &body); err != nil {
			return err
		}
		var err error
		*v, err = toSchedule([]driver.Value{input, body})
		return err
	}, query, args...)
}

// Fires implements ports.ScheduleStore.
func (s *Store) Fires(ctx context.Context, of schedule.Schedule, before int64, limit int) ([]schedule.Fire, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return list(ctx, s, func(rows *sql.Rows, f *schedule.Fire) error {
		var nominal, decided int64
		err := rows.Scan(&f.N, &nominal, &decided, &f.Action, &f.Reason, &f.WorkflowID, &f.RunID)
		f.Nominal, f.DecidedAt = fromMicros(nominal), fromMicros(decided)
		return err
	}, sqlFires, of.UID, before, max(limit, 0))
}

// DueSchedules implements ports.ScheduleQueue.
func (s *Store) DueSchedules(ctx context.Context, of ports.Shards, now time.Time, after *ports.DueSchedule, limit int) ([]ports.DueSchedule, error) {
	if s.none(of) {
		return nil, nil
	}
	behind := ports.DueSchedule{}
	if after != nil {
		behind = *after
	}
	query, args := sqlSchedulesDue, []any{micros(now), micros(behind.WakeAt), string(behind.Namespace), string(behind.ID)}
	if shards, some := s.some(of); some {
		query, args = sqlSchedulesDueOf, append(args, shards)
	}
	return list(ctx, s, func(rows *sql.Rows, d *ports.DueSchedule) error {
		var at int64
		err := rows.Scan(&at, &d.Namespace, &d.ID)
		d.WakeAt = fromMicros(at)
		return err
	}, query, append(args, max(limit, 0))...)
}

// NextSchedule implements ports.ScheduleQueue.
func (s *Store) NextSchedule(ctx context.Context, of ports.Shards) (time.Time, error) {
	if s.none(of) {
		return time.Time{}, nil
	}
	if shards, some := s.some(of); some {
		return s.earliest(ctx, sqlScheduleNextOf, shards)
	}
	return s.earliest(ctx, sqlScheduleNext)
}

// OpenOfSchedule implements ports.ScheduleQueue.
func (s *Store) OpenOfSchedule(ctx context.Context, of schedule.Ref, limit int) ([]history.RunRow, error) {
	// The condition on the status is word for word that of the index.
	const open = "namespace = ? AND schedule_id = ? AND schedule_id IS NOT NULL AND status IN ('Running', 'Paused')"
	return s.findRuns(ctx, s.runs().Where(open, string(of.Namespace), string(of.ID)).Order("started_at, run_id").Limit(max(limit, 0)))
}

// encodeSchedule is all of a schedule that has no column, and what has one, too; the input is kept as the bytes that came.
func encodeSchedule(v schedule.Schedule) ([]byte, error) {
	v.Input, v.Audit = nil, nil
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fault("schedule "+string(v.ID)+" cannot be stored", err)
	}
	return body, nil
}

func toSchedule(row []driver.Value) (v schedule.Schedule, err error) {
	body, _ := row[1].([]byte)
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fault("a schedule cannot be read", err)
	}
	v.Input, _ = row[0].([]byte)
	if len(v.Input) == 0 {
		v.Input = nil
	}
	return v, nil
}

// whether is how a truth is stored.
func whether(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
