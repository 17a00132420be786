package gormstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// atOneMoment implements Store.atOneMoment in one repeatable-read transaction, on a connection of its own. Each row may take
// its time.
func (d *database) atOneMoment(ctx context.Context, use func(read rowsOf) error) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return d.refuse(ctx, err)
	}
	defer conn.Release() // one that is inside a transaction is closed
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return d.refuse(ctx, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Conn().PgConn().Exec(ctx, `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`).ReadAll(); err != nil {
		return d.refuse(ctx, err)
	}
	return use(func(ctx context.Context, query string, _ int, each func([]any) error) error {
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return d.refuse(ctx, err)
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return d.refuse(ctx, err)
			}
			for i, v := range values {
				values[i] = fromPostgres(v)
			}
			if err := each(values); err != nil {
				return err
			}
		}
		if rows.Err() == nil {
			return nil
		}
		return d.refuse(ctx, rows.Err())
	})
}
