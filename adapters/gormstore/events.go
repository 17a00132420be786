package gormstore

import (
	"context"
	"database/sql"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// SQLite plans a bare parameter after `=` or LIMIT by its value and prepares the statement again for the next one. Written
// +? it is a value like any other, and what is read often stays prepared.
const (
	sqlHistory = `SELECT seq, run_id, type, recorded_at, data FROM events WHERE workflow_id = +? AND seq >= ? ORDER BY seq LIMIT +?`
	sqlHead    = `SELECT head_seq FROM workflows WHERE id = +?`
	sqlKey     = `SELECT request, workflow_id, run_id, expires_at FROM idempotency_keys WHERE scope = +? AND key = +?`
)

// each runs a query on a reading connection and calls scan for every row.
func (s *Store) each(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	rows, err := s.read.WithContext(ctx).Raw(s.text(query), args...).Rows()
	if err != nil {
		return s.readError(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return s.readError(ctx, err)
		}
	}
	if rows.Err() == nil && s.postgres != nil {
		s.postgres.patience.answer()
	}
	return s.readError(ctx, rows.Err())
}

// bound gives a call its time. SQLite is never away.
func (s *Store) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.postgres == nil {
		return ctx, func() {}
	}
	return s.postgres.bound(ctx)
}

// text is a statement, or a part of one, as gorm takes it.
func (s *Store) text(query string) string {
	if s.postgres == nil {
		return query
	}
	return s.postgres.dialect.read(query)
}

// History implements ports.EventStore.
func (s *Store) History(ctx context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error) {
	var events []history.Recorded
	err := s.each(ctx, func(rows *sql.Rows) error {
		e := history.Recorded{WorkflowID: id}
		var at int64
		var data []byte
		if err := rows.Scan(&e.Seq, &e.RunID, &e.Type, &at, &data); err != nil {
			return err
		}
		e.At, e.Data = fromMicros(at), data
		events = append(events, e)
		return nil
	}, sqlHistory, id, from, max(limit, 0))
	return events, err
}

// Head implements ports.EventStore.
func (s *Store) Head(ctx context.Context, id domain.WorkflowID) (history.Seq, error) {
	var head history.Seq
	err := s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&head) }, sqlHead, id)
	return head, err
}

// Idempotent implements ports.EventStore.
func (s *Store) Idempotent(ctx context.Context, scope, key string) (history.Idempotency, error) {
	k := history.Idempotency{Scope: scope, Key: key}
	var expires int64
	err := s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&k.Request, &k.WorkflowID, &k.RunID, &expires) }, sqlKey, scope, key)
	if err != nil {
		return history.Idempotency{}, err
	}
	k.ExpiresAt = fromMicros(expires)
	if !k.ExpiresAt.After(s.clock.Now()) { // also when there was no row
		return history.Idempotency{}, ports.IdempotencyUnknown(key)
	}
	return k, nil
}
