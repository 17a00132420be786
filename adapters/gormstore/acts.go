package gormstore

import (
	"database/sql/driver"

	"aion/domain"
	"aion/domain/history"
)

const (
	sqlTaskPut = `INSERT INTO activity_tasks (workflow_id, run_id, activity_id, attempt, state, owner, claim_token, claim_until,
		scheduled_at, not_before, namespace, task_queue, name, package_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (workflow_id, run_id, activity_id) DO UPDATE SET attempt = excluded.attempt, state = excluded.state, owner = excluded.owner,
		claim_token = excluded.claim_token, claim_until = excluded.claim_until, scheduled_at = excluded.scheduled_at,
		not_before = excluded.not_before, namespace = excluded.namespace, task_queue = excluded.task_queue, name = excluded.name,
		package_version = excluded.package_version`
	sqlTaskMove = `UPDATE activity_tasks SET attempt = ?, state = ?, owner = ?, not_before = ?, claim_token = ?, claim_until = ?
		WHERE workflow_id = ? AND run_id = ? AND activity_id = ?`
	sqlTaskEnd  = `DELETE FROM activity_tasks WHERE workflow_id = ? AND run_id = ? AND activity_id = ?`
	sqlTimerPut = `INSERT INTO timers (workflow_id, run_id, timer_id, namespace, purpose, fire_at /*pg , shard*/)
		VALUES (?, ?, ?, ?, ?, ? /*pg , ?*/) ON CONFLICT (workflow_id, run_id, timer_id) DO UPDATE SET
		namespace = excluded.namespace, purpose = excluded.purpose, fire_at = excluded.fire_at`
	sqlTimerEnd = `DELETE FROM timers WHERE workflow_id = ? AND run_id = ? AND timer_id = ?`
	sqlRunTasks = `DELETE FROM activity_tasks WHERE workflow_id = ? AND run_id = ?`
	sqlRunTimes = `DELETE FROM timers WHERE workflow_id = ? AND run_id = ?`
	sqlPost     = `INSERT INTO outbox (id, namespace, workflow_id, kind, body /*pg , shard*/) VALUES (?, ?, ?, ?, ? /*pg , ?*/) ON CONFLICT (id) DO NOTHING`
)

// act writes a row that makes the world act, or takes it away. One that names nothing stored changes nothing.
func (t *tx) act(a history.Act) error {
	switch a := a.(type) {
	case history.TaskAdded:
		return t.putTask(&a.Task)
	case history.TaskMoved:
		k := a.Key
		t.told.task(a.State)
		return t.send(sqlTaskMove, int64(k.Attempt), string(a.State), a.Owner, micros(a.NotBefore), a.Token, micros(a.ClaimUntil),
			string(k.WorkflowID), string(k.RunID), k.ActivityID)
	case history.TaskEnded:
		return t.send(sqlTaskEnd, string(a.WorkflowID), string(a.RunID), a.ActivityID)
	case history.TimerSet:
		m := a.Timer
		t.told.Timers = true
		return t.send(sqlTimerPut, t.sharded(m.WorkflowID, string(m.WorkflowID), string(m.RunID), m.TimerID, string(m.Namespace), m.Purpose, micros(m.FireAt))...)
	case history.TimerCleared:
		return t.send(sqlTimerEnd, string(a.WorkflowID), string(a.RunID), a.TimerID)
	case history.RunClosed:
		if err := t.send(sqlRunTasks, string(a.WorkflowID), string(a.RunID)); err != nil {
			return err
		}
		return t.send(sqlRunTimes, string(a.WorkflowID), string(a.RunID))
	case history.LeaseTaken:
		return t.putLease(&a.Lease)
	case history.LeaseOver:
		return t.send(sqlLeaseOver, string(a.End), a.Verdict, micros(a.RetryAt), a.Hash)
	case history.Posted:
		m := a.Message
		t.told.Messages = true
		return t.send(sqlPost, t.sharded(m.WorkflowID, m.ID, string(m.Namespace), string(m.WorkflowID), m.Kind, blob(m.Body))...)
	}
	return nil
}

// sharded adds the shard of a workflow to the values of a row where several servers share the work.
func (t *tx) sharded(id domain.WorkflowID, args ...driver.Value) []driver.Value {
	if t.shared != nil {
		args = append(args, int64(id.Shard()))
	}
	return args
}

func (t *tx) putTask(k *history.Task) error {
	t.told.task(k.State)
	return t.send(sqlTaskPut, string(k.Key.WorkflowID), string(k.Key.RunID), k.Key.ActivityID, int64(k.Key.Attempt), string(k.State), k.Owner,
		k.Token, micros(k.ClaimUntil), micros(k.ScheduledAt), micros(k.NotBefore), string(k.Namespace), k.TaskQueue, k.Name, k.PackageVersion)
}
