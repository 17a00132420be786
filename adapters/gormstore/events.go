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
	return s.eachOf(ctx, scan, func(ctx context.Context) (*sql.Rows, error) {
		return s.read.WithContext(ctx).Raw(s.text(query), args...).Rows()
	})
}

func (s *Store) eachOf(ctx context.Context, scan func(*sql.Rows) error, open func(context.Context) (*sql.Rows, error)) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	rows, err := open(ctx)
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

// list gives what the rows of a query hold.
func list[T any](ctx context.Context, s *Store, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	var all []T
	err := s.each(ctx, func(rows *sql.Rows) error {
		var v T
		err := scan(rows, &v)
		all = append(all, v)
		return err
	}, query, args...)
	return all, err
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
	return list(ctx, s, func(rows *sql.Rows, e *history.Recorded) error {
		var at int64
		var data []byte
		err := rows.Scan(&e.Seq, &e.RunID, &e.Type, &at, &data)
		e.WorkflowID, e.At, e.Data = id, fromMicros(at), data
		return err
	}, sqlHistory, id, from, max(limit, 0))
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
