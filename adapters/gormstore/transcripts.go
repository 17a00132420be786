package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"aion/domain"
	"aion/domain/transcript"
)

const (
	sqlStreamFind = `SELECT id, head, worker_seq FROM transcript_streams WHERE workflow_id = +? AND run_id = +? AND activity_id = +? AND attempt = +?`
	sqlStreamHold = sqlStreamFind + forUpdate
	sqlStreamAdd  = `INSERT INTO transcript_streams (workflow_id, run_id, activity_id, attempt, head, worker_seq) VALUES (?, ?, ?, ?, 0, 0)
		ON CONFLICT (workflow_id, run_id, activity_id, attempt) DO NOTHING RETURNING id`
	sqlStreamMove = `UPDATE transcript_streams SET head = ?, worker_seq = ? WHERE id = ?`
	sqlRecordAdd  = `INSERT INTO transcript_events (stream, store_seq, worker_seq, emitted_at, agent_id, agent_role, kind, name, call_id, flag, body) VALUES `
	sqlRecords    = `SELECT store_seq, worker_seq, emitted_at, agent_id, agent_role, kind, name, call_id, flag, body FROM transcript_events
		WHERE stream = +? AND store_seq >= ? AND store_seq < ? ORDER BY store_seq LIMIT +?`
	sqlStreams = `SELECT activity_id, attempt, head FROM transcript_streams WHERE workflow_id = +? AND run_id = +? ORDER BY activity_id, attempt`
)

var sqlRecordsAdd = manyRows(sqlRecordAdd, 11)

// recordRow is what the members of each kind have in common.
type recordRow struct {
	name, callID string
	flag         bool
	body         []byte
}

func toRecordRow(r transcript.Record) (recordRow, error) {
	switch r.Kind {
	case transcript.Message:
		return recordRow{name: r.Role, flag: r.Partial, body: []byte(r.Text)}, nil
	case transcript.ToolCall:
		return recordRow{name: r.Tool, callID: r.CallID, body: r.Input}, nil
	case transcript.ToolResult:
		return recordRow{callID: r.CallID, flag: r.IsError, body: r.Output}, nil
	case transcript.Progress:
		return recordRow{body: r.Detail}, nil
	case transcript.Stop:
		return recordRow{name: r.Reason}, nil
	case transcript.Raw:
		return recordRow{name: r.Source, body: r.Value}, nil
	}
	return recordRow{}, fault("a transcript record of kind "+domain.Quote(string(r.Kind), 64)+" cannot be stored", nil)
}

func (row recordRow) into(r *transcript.Record) error {
	switch r.Kind {
	case transcript.Message:
		r.Role, r.Partial, r.Text = row.name, row.flag, string(row.body)
	case transcript.ToolCall:
		r.Tool, r.CallID, r.Input = row.name, row.callID, row.body
	case transcript.ToolResult:
		r.CallID, r.IsError, r.Output = row.callID, row.flag, row.body
	case transcript.Progress:
		r.Detail = row.body
	case transcript.Stop:
		r.Reason = row.name
	case transcript.Raw:
		r.Source, r.Value = row.name, row.body
	default:
		return fault("a transcript record of kind "+domain.Quote(string(r.Kind), 64)+" is unknown to this version", nil)
	}
	return nil
}

// AppendRecords implements ports.TranscriptStore.
func (s *Store) AppendRecords(ctx context.Context, key domain.AttemptKey, records []transcript.Record) (int64, error) {
	var first int64
	err := s.write.transaction(ctx, func(t *tx) error {
		found := make([]driver.Value, 3)
		known, err := t.row(found, sqlStreamHold, keyArgs(key)...)
		if err != nil {
			return err
		}
		id, _ := found[0].(int64)
		head, _ := found[1].(int64)
		workerSeq, _ := found[2].(int64)
		first = head
		var fresh []*transcript.Record
		for i := range records {
			if r := &records[i]; r.WorkerSeq > workerSeq {
				fresh, workerSeq = append(fresh, r), r.WorkerSeq
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		if !known {
			if id, err = t.addStream(key); err != nil {
				return err
			}
		}
		if err := t.addRecords(id, head, fresh); err != nil {
			return err
		}
		return t.send(sqlStreamMove, head+int64(len(fresh)), workerSeq, id)
	})
	return first, err
}

func keyArgs(k domain.AttemptKey) []driver.Value {
	return []driver.Value{string(k.WorkflowID), string(k.RunID), k.ActivityID, int64(k.Attempt)}
}

func (t *tx) addStream(key domain.AttemptKey) (int64, error) {
	added := make([]driver.Value, 1)
	fresh, err := t.row(added, sqlStreamAdd, keyArgs(key)...)
	if err == nil && !fresh {
		err = errAgain // somebody else has just begun it
	}
	id, _ := added[0].(int64)
	return id, err
}

func (t *tx) addRecords(stream, seq int64, records []*transcript.Record) error {
	rows := make([]recordRow, len(records))
	for i, r := range records {
		var err error
		if rows[i], err = toRecordRow(*r); err != nil {
			return err
		}
	}
	return t.addMany(sqlRecordsAdd, len(records), func(i int, args []driver.Value) []driver.Value {
		r, row := records[i], &rows[i]
		var agent driver.Value
		if r.AgentID != transcript.NilAgent {
			agent = r.AgentID
		}
		return append(args, stream, seq+int64(i), r.WorkerSeq, micros(r.EmittedAt), agent, r.AgentRole, string(r.Kind), row.name, row.callID, row.flag, blob(row.body))
	})
}

// stream reads the position of one stream; zeros when nothing is stored.
func (s *Store) stream(ctx context.Context, k domain.AttemptKey) (id, head, workerSeq int64, err error) { //nolint:revive // one row
	err = s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&id, &head, &workerSeq) }, sqlStreamFind,
		string(k.WorkflowID), string(k.RunID), k.ActivityID, k.Attempt)
	return id, head, workerSeq, err
}

// Records implements ports.TranscriptStore.
func (s *Store) Records(ctx context.Context, key domain.AttemptKey, from int64, limit int) ([]transcript.Record, int64, error) {
	id, head, _, err := s.stream(ctx, key)
	if err != nil || head == 0 {
		return nil, 0, err
	}
	records, err := list(ctx, s, scanRecord, sqlRecords, id, from, head, max(limit, 0))
	return records, head, err
}

func scanRecord(rows *sql.Rows, r *transcript.Record) error {
	var row recordRow
	var emitted int64
	var agent sql.NullString
	if err := rows.Scan(&r.StoreSeq, &r.WorkerSeq, &emitted, &agent, &r.AgentRole, &r.Kind, &row.name, &row.callID, &row.flag, &row.body); err != nil {
		return err
	}
	r.EmittedAt, r.AgentID = fromMicros(emitted), agent.String
	if !agent.Valid {
		r.AgentID = transcript.NilAgent
	}
	return row.into(r)
}

// Heads implements ports.TranscriptStore.
func (s *Store) Heads(ctx context.Context, id domain.WorkflowID, run domain.RunID) ([]transcript.Head, error) {
	return list(ctx, s, func(rows *sql.Rows, h *transcript.Head) error {
		h.Key.WorkflowID, h.Key.RunID = id, run
		return rows.Scan(&h.Key.ActivityID, &h.Key.Attempt, &h.Head)
	}, sqlStreams, id, run)
}

// Tail implements ports.TranscriptStore.
func (s *Store) Tail(ctx context.Context, key domain.AttemptKey) (head, workerSeq int64, err error) {
	_, head, workerSeq, err = s.stream(ctx, key)
	return head, workerSeq, err
}
