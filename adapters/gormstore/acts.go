package gormstore

import (
	"database/sql/driver"

	"aion/domain/history"
)

const (
	sqlTaskPut = `INSERT OR REPLACE INTO activity_tasks (workflow_id, run_id, activity_id, attempt, state, owner, scheduled_at, not_before, namespace,
		task_queue, node, name, workflow_type, package_version, policy_failures, lost_in_row, timeout_ms, max_attempts, backoff_kind,
		backoff_delay_ms, backoff_initial_ms, backoff_multiplier, backoff_max_ms, input)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlTaskMove = `UPDATE activity_tasks SET attempt = ?, state = ?, owner = ?, not_before = ? WHERE workflow_id = ? AND run_id = ? AND activity_id = ?`
	sqlTaskEnd  = `DELETE FROM activity_tasks WHERE workflow_id = ? AND run_id = ? AND activity_id = ?`
	sqlTimerPut = `INSERT OR REPLACE INTO timers (workflow_id, run_id, timer_id, namespace, purpose, fire_at) VALUES (?, ?, ?, ?, ?, ?)`
	sqlTimerEnd = `DELETE FROM timers WHERE workflow_id = ? AND run_id = ? AND timer_id = ?`
	sqlRunTasks = `DELETE FROM activity_tasks WHERE workflow_id = ? AND run_id = ?`
	sqlRunTimes = `DELETE FROM timers WHERE workflow_id = ? AND run_id = ?`
	sqlPost     = `INSERT INTO outbox (id, namespace, workflow_id, kind, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
)

// act writes a row that makes the world act, or takes it away. One that names nothing stored changes nothing.
func (t *tx) act(a history.Act) error {
	var err error
	switch a := a.(type) {
	case history.TaskAdded:
		err = t.putTask(&a.Task)
	case history.TaskMoved:
		k := a.Key
		_, err = t.exec(sqlTaskMove, int64(k.Attempt), string(a.State), a.Owner, micros(a.NotBefore), string(k.WorkflowID), string(k.RunID), k.ActivityID)
	case history.TaskEnded:
		_, err = t.exec(sqlTaskEnd, string(a.WorkflowID), string(a.RunID), a.ActivityID)
	case history.TimerSet:
		m := a.Timer
		_, err = t.exec(sqlTimerPut, string(m.WorkflowID), string(m.RunID), m.TimerID, string(m.Namespace), m.Purpose, micros(m.FireAt))
	case history.TimerCleared:
		_, err = t.exec(sqlTimerEnd, string(a.WorkflowID), string(a.RunID), a.TimerID)
	case history.RunClosed:
		if _, err = t.exec(sqlRunTasks, string(a.WorkflowID), string(a.RunID)); err == nil {
			_, err = t.exec(sqlRunTimes, string(a.WorkflowID), string(a.RunID))
		}
	case history.Posted:
		m := a.Message
		_, err = t.exec(sqlPost, m.ID, string(m.Namespace), string(m.WorkflowID), m.Kind, blob(m.Body))
	}
	return err
}

func (t *tx) putTask(k *history.Task) error {
	var attempts, kind, delay, initial, multiplier, longest driver.Value
	if r := k.Config.Retry; r != nil {
		b := r.Backoff
		attempts, kind, delay, initial, multiplier, longest = int64(r.MaxAttempts), b.Kind, b.DelayMS, b.InitialMS, b.Multiplier, b.MaxMS
	}
	_, err := t.exec(sqlTaskPut, string(k.Key.WorkflowID), string(k.Key.RunID), k.Key.ActivityID, int64(k.Key.Attempt), string(k.State), k.Owner,
		micros(k.ScheduledAt), micros(k.NotBefore), string(k.Namespace), k.TaskQueue, k.Node, k.Name, k.WorkflowType, k.PackageVersion,
		int64(k.PolicyFailures), int64(k.LostInRow), k.Config.TimeoutMS, attempts, kind, delay, initial, multiplier, longest, blob(k.Input))
	return err
}
