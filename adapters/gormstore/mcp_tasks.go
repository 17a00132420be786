package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"math"
	"time"

	"aion/domain"
	"aion/domain/task"
	"aion/ports"
)

const (
	mcpTaskColumns = `task_id, owner, caller, namespace, tool, arguments, state, status_message, workflow_id, run_id, result, error,
		created_at, updated_at, expires_at, lease_until`
	mcpTaskWidth   = 16
	sqlMCPTaskAdd  = `INSERT INTO mcp_tasks (` + mcpTaskColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlMCPTask     = `SELECT ` + mcpTaskColumns + ` FROM mcp_tasks WHERE task_id = ?`
	sqlMCPTaskHold = sqlMCPTask + forUpdate
	sqlMCPTaskSet  = `UPDATE mcp_tasks SET state = ?, status_message = ?, workflow_id = ?, run_id = ?, result = ?, error = ?, updated_at = ?,
		expires_at = ?, lease_until = ? WHERE task_id = ?`
	sqlMCPTasksOf = `SELECT count(*) FROM mcp_tasks WHERE state = 'working' AND owner = ?`
	// The conditions are word for word those of the partial indexes.
	sqlMCPTasksUnstarted = `SELECT task_id FROM mcp_tasks INDEXED BY mcp_tasks_unstarted
		WHERE state = 'working' AND workflow_id IS NULL
		AND task_id > ? AND (CAST(? AS BIGINT) = 0 OR lease_until <= ?) ORDER BY task_id LIMIT ?`
	sqlMCPTasksStarted = `SELECT task_id FROM mcp_tasks INDEXED BY mcp_tasks_started
		WHERE state = 'working' AND workflow_id IS NOT NULL
		AND task_id > ? AND (CAST(? AS BIGINT) = 0 OR lease_until <= ?) ORDER BY task_id LIMIT ?`
	// What is large stays where it is.
	sqlMCPTasks = `SELECT task_id, owner, namespace, tool, state, status_message, workflow_id, run_id, created_at, updated_at, expires_at
		FROM mcp_tasks WHERE (expires_at IS NULL OR expires_at > ?) AND (CAST(? AS TEXT) = '' OR owner = ?) AND (CAST(? AS TEXT) = '' OR state = ?)
		AND (created_at < ? OR created_at = ? AND task_id > ?) ORDER BY created_at DESC, task_id LIMIT ?`
	sqlMCPTasksExpire = `DELETE FROM mcp_tasks WHERE task_id IN
		(SELECT task_id FROM mcp_tasks WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
	sqlMCPTasksCount = `SELECT state, count(*) FROM mcp_tasks GROUP BY state`
)

// CreateMCPTask implements ports.MCPTaskStore.
func (s *Store) CreateMCPTask(ctx context.Context, t task.Task, limit int) error {
	caller, err := json.Marshal(t.Caller)
	if err != nil {
		return fault("the caller of a task cannot be stored", err)
	}
	return s.write.transaction(ctx, func(x *tx) error {
		if err := x.oneAtATime(t.Owner); err != nil { // the count holds until the task is there
			return err
		}
		working := make([]driver.Value, 1)
		if _, err := x.row(working, sqlMCPTasksOf, t.Owner); err != nil {
			return err
		}
		if n, _ := working[0].(int64); n >= int64(limit) {
			return task.TooMany(limit)
		}
		outcome, err := encodeOutcome(t.Outcome)
		if err != nil {
			return err
		}
		x.audit(t.Audit)
		return x.send(sqlMCPTaskAdd, string(t.ID), t.Owner, caller, string(t.Namespace), t.Tool, []byte(t.Arguments), string(t.State), t.StatusMessage,
			orNull(string(t.WorkflowID)), orNull(string(t.RunID)), outcome, orNull(t.Reference), micros(t.CreatedAt), micros(t.UpdatedAt),
			timeOrNull(t.ExpiresAt), micros(t.LeaseUntil))
	})
}

// ChangeMCPTask implements ports.MCPTaskStore.
func (s *Store) ChangeMCPTask(ctx context.Context, id task.ID, change func(task.Task) (task.Task, error)) (changed task.Task, err error) {
	err = s.write.transaction(ctx, func(x *tx) error {
		row := make([]driver.Value, mcpTaskWidth)
		found, err := x.row(row, sqlMCPTaskHold, string(id))
		if err != nil {
			return err
		}
		if !found {
			return task.Unknown()
		}
		before, err := toMCPTask(row)
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil {
			return err
		}
		changed, err = x.setMCPTask(id, after)
		return err
	})
	return changed, err
}

// setMCPTask writes what became of a task.
func (x *tx) setMCPTask(id task.ID, t task.Task) (task.Task, error) {
	outcome, err := encodeOutcome(t.Outcome)
	if err != nil {
		return task.Task{}, err
	}
	x.audit(t.Audit)
	t.Audit = nil
	return t, x.send(sqlMCPTaskSet, string(t.State), t.StatusMessage, orNull(string(t.WorkflowID)), orNull(string(t.RunID)), outcome,
		orNull(t.Reference), micros(t.UpdatedAt), timeOrNull(t.ExpiresAt), micros(t.LeaseUntil), string(id))
}

// MCPTask implements ports.MCPTaskStore.
func (s *Store) MCPTask(ctx context.Context, id task.ID) (task.Task, error) {
	found := task.Unknown()
	var t task.Task
	err := s.each(ctx, func(rows *sql.Rows) error {
		values, into, row := make([]any, mcpTaskWidth), make([]any, mcpTaskWidth), make([]driver.Value, mcpTaskWidth)
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			row[i] = v
		}
		var err error
		t, err = toMCPTask(row)
		found = nil
		return err
	}, sqlMCPTask, string(id))
	if err == nil {
		err = found
	}
	return t, err
}

// MCPTasks implements ports.MCPTaskList.
func (s *Store) MCPTasks(ctx context.Context, which ports.MCPTaskFilter) ([]task.Task, error) {
	before, after := int64(math.MaxInt64), ""
	if which.After != nil {
		before, after = micros(which.After.CreatedAt), string(which.After.ID)
	}
	var list []task.Task
	err := s.each(ctx, func(rows *sql.Rows) error {
		var t task.Task
		var workflow, run sql.NullString
		var created, updated int64
		var expires sql.NullInt64
		if err := rows.Scan(&t.ID, &t.Owner, &t.Namespace, &t.Tool, &t.State, &t.StatusMessage, &workflow, &run, &created, &updated, &expires); err != nil {
			return err
		}
		t.WorkflowID, t.RunID = domain.WorkflowID(workflow.String), domain.RunID(run.String)
		t.CreatedAt, t.UpdatedAt = fromMicros(created), fromMicros(updated)
		if expires.Valid {
			t.ExpiresAt = fromMicros(expires.Int64)
		}
		list = append(list, t)
		return nil
	}, sqlMCPTasks, micros(which.Now), which.Owner, which.Owner, string(which.State), string(which.State), before, before, after, max(which.Limit, 0))
	return list, err
}

// WorkingMCPTasks implements ports.MCPTaskStore.
func (s *Store) WorkingMCPTasks(ctx context.Context, which ports.WorkingMCPTasks) ([]task.ID, error) {
	query, by := sqlMCPTasksUnstarted, micros(which.LeaseBy)
	if which.Started {
		query = sqlMCPTasksStarted
	}
	return list(ctx, s, func(rows *sql.Rows, id *task.ID) error {
		return rows.Scan(id)
	}, query, string(which.After), by, by, max(which.Limit, 0))
}

// DeleteMCPTasks implements ports.MCPTaskStore.
func (s *Store) DeleteMCPTasks(ctx context.Context, now time.Time, limit int) (int, error) {
	var removed int64
	err := s.write.transaction(ctx, func(x *tx) (err error) {
		removed, err = x.exec(sqlMCPTasksExpire, micros(now), int64(max(limit, 0)))
		return err
	})
	return int(removed), err
}

// CountMCPTasks implements ports.MCPTaskStore.
func (s *Store) CountMCPTasks(ctx context.Context) (map[task.State]int, error) {
	counts := map[task.State]int{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var state task.State
		var n int
		err := rows.Scan(&state, &n)
		counts[state] = n
		return err
	}, sqlMCPTasksCount)
	return counts, err
}

func toMCPTask(row []driver.Value) (task.Task, error) {
	text := func(i int) string { s, _ := row[i].(string); return s }
	at := func(i int) time.Time { n, _ := row[i].(int64); return fromMicros(n) }
	bytes := func(i int) []byte { b, _ := row[i].([]byte); return b }
	t := task.Task{
		ID: task.ID(text(0)), Owner: text(1), Namespace: domain.Namespace(text(3)), Tool: text(4), Arguments: bytes(5), State: task.State(text(6)),
		StatusMessage: text(7), WorkflowID: domain.WorkflowID(text(8)), RunID: domain.RunID(text(9)), Reference: text(11),
		CreatedAt: at(12), UpdatedAt: at(13), ExpiresAt: at(14), LeaseUntil: at(15),
	}
	if err := json.Unmarshal(bytes(2), &t.Caller); err != nil {
		return t, fault("the caller of task "+string(t.ID)+" cannot be read", err)
	}
	if outcome := bytes(10); outcome != nil {
		t.Outcome = &task.Outcome{}
		if err := json.Unmarshal(outcome, t.Outcome); err != nil {
			return t, fault("the result of task "+string(t.ID)+" cannot be read", err)
		}
	}
	return t, nil
}

func encodeOutcome(o *task.Outcome) (driver.Value, error) {
	if o == nil {
		return nil, nil //nolint:nilnil // NULL is the value
	}
	text, err := o.Encode()
	if err != nil {
		return nil, fault("the result of a task cannot be stored", err)
	}
	return text, nil
}

func orNull(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

func timeOrNull(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return micros(t)
}
