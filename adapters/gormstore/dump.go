package gormstore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aion/domain"
	"aion/ports"
)

// dumped is a table as a backup holds it. Its first columns, as many as key says, order it.
type dumped struct {
	name    string
	key     int
	columns []string
}

// dumpedTables are those that a backup holds, in the order of the file. What belongs to the running servers (leases, locks) is
// not in it.
func dumpedTables() []dumped {
	return []dumped{
		{"namespaces", 1, words(`name description max_in_flight_activities retention created_at created_by`)},
		{"deployments", 1, words(`content_hash deployment_id workflow_type document_path deployed_at source imports plan deployed_by`)},
		{"routes", 1, words(`workflow_type content_hash routed_at previous_hash`)},
		{"workflows", 1, words(`id namespace workflow_type run_id status head_seq started_at closed_at current_step`)},
		{"runs", 2, words(`workflow_id generation run_id namespace workflow_type package_version status paused_reason started_at ended_at
			previous_run_id parent_workflow_id parent_run_id parent_child labels first_seq outcome failure_code
			failure_message schedule_id`)},
		{"events", 2, words(`workflow_id seq run_id type recorded_at data`)},
		{"activity_tasks", 3, words(`workflow_id run_id activity_id attempt state owner claim_token claim_until scheduled_at not_before
			namespace task_queue name package_version`)},
		{"timers", 3, words(`workflow_id run_id timer_id namespace purpose fire_at`)},
		{"outbox", 1, words(`n id namespace workflow_id kind body`)},
		{"idempotency_keys", 2, words(`scope key request workflow_id run_id expires_at`)},
		{"transcript_streams", 1, words(`id workflow_id run_id activity_id attempt head worker_seq`)},
		{"transcript_events", 2, words(`stream store_seq worker_seq emitted_at agent_id agent_role kind name call_id flag body`)},
		{"mcp_tasks", 1, words(`task_id owner caller namespace tool arguments state status_message workflow_id run_id result error
			created_at updated_at expires_at lease_until`)},
		{"worker_leases", 1, words(`hash task_id worker_id poll_id server namespace workflow_id run_id activity_id attempt claim_token granted_at
			until deadline state ended verdict retry_at`)},
		{"schedules", 2, words(`namespace schedule_id uid workflow_type paused wake_at revision created_at request_key input body`)},
		{"schedule_fires", 2, words(`uid n nominal_at decided_at action reason workflow_id run_id`)},
		{"audit_log", 1, words(`id chain n at subject auth_mode grant_source surface action namespace target outcome code request_id
			remote detail prev hash`)},
	}
}

func words(list string) []string { return strings.Fields(list) }

// blobs are the columns of bytes; a backup holds them in base64, and text packed (see packed).
func isBlob(column string) bool {
	switch column {
	case "data", "labels", "body", "source", "imports", "plan", "caller", "arguments", "result", "detail", "input":
		return true
	}
	return false
}

func (d dumped) query() string {
	columns := strings.Join(d.columns, ", ")
	if d.name == "activity_tasks" { // who held it is gone when a backup is read
		columns = strings.Replace(columns, "claim_until", "0", 1)
	}
	return `SELECT ` + columns + ` FROM ` + d.name + ` ORDER BY ` + strings.Join(d.columns[:d.key], ", ")
}

// Dump implements ports.DumpStore.
func (s *Store) Dump(ctx context.Context, row func(table string, line []byte) error) error {
	return s.atOneMoment(ctx, func(read rowsOf) error {
		for _, d := range dumpedTables() {
			w := newRowWriter(d)
			err := read(ctx, d.query(), len(d.columns), func(values []any) error {
				line, err := w.line(values)
				if err != nil {
					return err
				}
				return row(d.name, line)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// rowsOf runs a query and gives each of its rows, whose values are valid during the call.
type rowsOf func(ctx context.Context, query string, width int, each func(values []any) error) error

// atOneMoment reads on one connection, which sees the store as it is now until read returns. An error of each is given as it
// is.
func (s *Store) atOneMoment(ctx context.Context, use func(read rowsOf) error) error {
	if s.postgres != nil {
		return s.postgres.atOneMoment(ctx, use)
	}
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return s.readError(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return s.readError(ctx, err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`) }()
	return use(func(ctx context.Context, query string, width int, each func([]any) error) (err error) {
		rows, err := conn.QueryContext(ctx, query)
		if err != nil {
			return s.readError(ctx, err)
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		return eachRow(rows, width, each, func(err error) error { return s.readError(ctx, err) })
	})
}

func eachRow(rows *sql.Rows, width int, each func([]any) error, refuse func(error) error) error {
	values, into := make([]any, width), make([]any, width)
	for i := range into {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return refuse(err)
		}
		if err := each(values); err != nil {
			return err
		}
	}
	return refuse(rows.Err())
}

// rowWriter writes rows of one table as JSON.
type rowWriter struct {
	names []string // quoted, with the colon
	blob  []bool
	buf   []byte
}

func newRowWriter(d dumped) *rowWriter {
	w := &rowWriter{}
	for _, c := range d.columns {
		w.names, w.blob = append(w.names, `"`+c+`":`), append(w.blob, isBlob(c))
	}
	return w
}

func (w *rowWriter) line(values []any) ([]byte, error) {
	w.buf = append(w.buf[:0], '{')
	for i, v := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, w.names[i]...)
		switch v := v.(type) {
		case nil:
			w.buf = append(w.buf, `null`...)
		case int64:
			w.buf = fmt.Append(w.buf, v)
		case int32:
			w.buf = fmt.Append(w.buf, v)
		case bool:
			w.buf = append(w.buf, map[bool]byte{false: '0', true: '1'}[v])
		case string:
			text, err := json.Marshal(packed(v))
			if err != nil {
				return nil, err
			}
			w.buf = append(w.buf, text...)
		case []byte:
			w.buf = append(w.buf, '"')
			w.buf = base64.StdEncoding.AppendEncode(w.buf, v)
			w.buf = append(w.buf, '"')
		default:
			return nil, fault(fmt.Sprintf("a value of kind %T cannot be put into a backup", v), nil)
		}
	}
	return append(w.buf, '}'), nil
}

const sqlWorkflows = `SELECT id, run_id, status, head_seq FROM workflows WHERE id > ? AND namespace <> '' ORDER BY id LIMIT ?`

// Workflows implements ports.DumpStore.
func (s *Store) Workflows(ctx context.Context, after domain.WorkflowID, limit int) ([]ports.StoredWorkflow, error) {
	return list(ctx, s, func(rows *sql.Rows, w *ports.StoredWorkflow) error {
		return rows.Scan(&w.ID, &w.RunID, &w.Status, &w.Head)
	}, sqlWorkflows, string(after), max(limit, 0))
}

// Copy implements ports.DumpStore.
func (s *Store) Copy(ctx context.Context, file string) (own bool, err error) {
	if s.postgres != nil {
		return false, nil
	}
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return true, s.readError(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	// A reading connection writes the copy, and nothing else.
	if _, err := conn.ExecContext(ctx, `PRAGMA query_only = 0`); err != nil {
		return true, s.readError(ctx, err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA query_only = 1`) }()
	_, err = conn.ExecContext(ctx, `VACUUM INTO ?`, file)
	return true, s.readError(ctx, err)
}
