package gormstore

import "aion/domain/history"

const (
	sqlTaskPut = `INSERT OR REPLACE INTO activity_tasks (workflow_id, run_id, activity_id, attempt, state, owner, claim_token, claim_until,
		scheduled_at, not_before, namespace, task_queue, name, package_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlTaskMove = `UPDATE activity_tasks SET attempt = ?, state = ?, owner = ?, not_before = ?, claim_token = ?, claim_until = ?
		WHERE workflow_id = ? AND run_id = ? AND activity_id = ?`
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
		_, err = t.exec(sqlTaskMove, int64(k.Attempt), string(a.State), a.Owner, micros(a.NotBefore), a.Token, micros(a.ClaimUntil),
			string(k.WorkflowID), string(k.RunID), k.ActivityID)
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
	_, err := t.exec(sqlTaskPut, string(k.Key.WorkflowID), string(k.Key.RunID), k.Key.ActivityID, int64(k.Key.Attempt), string(k.State), k.Owner,
		k.Token, micros(k.ClaimUntil), micros(k.ScheduledAt), micros(k.NotBefore), string(k.Namespace), k.TaskQueue, k.Name, k.PackageVersion)
	return err
}
