package gormstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"aion/domain/history"
	"aion/ports"
)

const (
	backlogDue  = `state IN ('queued', 'parked') AND (state = 'parked' OR not_before <= ?)`
	sqlBacklogs = `SELECT namespace, task_queue, name, package_version, count(*), min(CASE WHEN not_before > scheduled_at THEN not_before ELSE scheduled_at END)
		FROM activity_tasks WHERE ` + backlogDue + ` GROUP BY task_queue, namespace, name, package_version ORDER BY task_queue, namespace, name, package_version`
	sqlBacklogsOf = `SELECT namespace, task_queue, name, package_version, count(*), min(CASE WHEN not_before > scheduled_at THEN not_before ELSE scheduled_at END)
		FROM activity_tasks WHERE ` + backlogDue + ` AND task_queue = ?
		GROUP BY task_queue, namespace, name, package_version ORDER BY task_queue, namespace, name, package_version`
	sqlWaiting = `SELECT ` + taskColumns + ` FROM activity_tasks AS t INDEXED BY activity_tasks_backlog WHERE t.state IN ('queued', 'parked')
		AND (t.state = 'parked' OR t.not_before <= ?) AND t.task_queue = ? AND t.namespace = ? AND t.name = ? AND t.package_version = ?
		ORDER BY t.scheduled_at, t.workflow_id, t.run_id, t.activity_id LIMIT ?`
)

// Backlogs implements ports.BacklogStore.
func (s *Store) Backlogs(ctx context.Context, queue string, now time.Time) ([]ports.Backlog, error) {
	query, args := sqlBacklogs, []any{micros(now)}
	if queue != "" {
		query, args = sqlBacklogsOf, append(args, queue)
	}
	found, err := list(ctx, s, func(rows *sql.Rows, b *ports.Backlog) error {
		var oldest int64
		err := rows.Scan(&b.Namespace, &b.TaskQueue, &b.Name, &b.PackageVersion, &b.Tasks, &oldest)
		b.Oldest = fromMicros(oldest)
		return err
	}, query, args...)
	slices.SortFunc(found, ports.CompareBacklogs)
	return found, err
}

// WaitingTasks implements ports.BacklogStore.
func (s *Store) WaitingTasks(ctx context.Context, of ports.Backlog, now time.Time, limit int) ([]history.Task, error) {
	return s.tasks(ctx, sqlWaiting, micros(now), of.TaskQueue, string(of.Namespace), of.Name, of.PackageVersion, max(limit, 0))
}
