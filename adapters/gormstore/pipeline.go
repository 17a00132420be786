package gormstore

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"aion/domain"
)

// pipeline is one transaction on a Postgres connection. What is sent waits until somebody needs a result, so that most
// commits take two journeys to the database: one to find out whether they may be written, and one to write them.
type pipeline struct {
	conn    *pgx.Conn
	dialect *dialect
	batch   *pgx.Batch
}

// maxQueued bounds the statements that wait.
const maxQueued = 1024

func (p *pipeline) queue(query string, args []driver.Value) *pgx.QueuedQuery {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = toPostgres(a)
	}
	return p.batch.Queue(p.dialect.write(query), values...)
}

// flush runs what waits, in order. After an error the rest is not run, and the transaction is spoiled.
func (p *pipeline) flush(ctx context.Context) error {
	if p.batch.Len() == 0 {
		return nil
	}
	batch := p.batch
	p.batch = &pgx.Batch{}
	return p.conn.SendBatch(ctx, batch).Close()
}

// send implements session.
func (p *pipeline) send(ctx context.Context, query string, args []driver.Value) error {
	p.queue(query, args)
	if p.batch.Len() >= maxQueued {
		return p.flush(ctx)
	}
	return nil
}

// exec implements session.
func (p *pipeline) exec(ctx context.Context, query string, args []driver.Value) (changed int64, err error) {
	p.count(&changed, query, args)
	err = p.flush(ctx)
	return changed, err
}

// row implements session.
func (p *pipeline) row(ctx context.Context, dest []driver.Value, query string, args []driver.Value) (found bool, err error) {
	p.ask(&found, dest, query, args)
	err = p.flush(ctx)
	return found, err
}

// script implements session.
func (p *pipeline) script(ctx context.Context, text string) error {
	if err := p.flush(ctx); err != nil {
		return err
	}
	_, err := p.conn.PgConn().Exec(ctx, text).ReadAll()
	return err
}

// count is exec, answered by the next flush.
func (p *pipeline) count(changed *int64, query string, args []driver.Value) {
	p.queue(query, args).Exec(func(tag pgconn.CommandTag) error {
		*changed = tag.RowsAffected()
		return nil
	})
}

// ask is row, answered by the next flush.
func (p *pipeline) ask(found *bool, dest []driver.Value, query string, args []driver.Value) {
	first := true
	p.each(func(values []driver.Value) {
		if first {
			*found, first = true, false
			copy(dest, values)
		}
	}, query, args)
}

// each gives every row of a query, at the next flush.
func (p *pipeline) each(take func(values []driver.Value), query string, args []driver.Value) {
	p.queue(query, args).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			got, err := rows.Values()
			if err != nil {
				return err
			}
			values := make([]driver.Value, len(got))
			for i, v := range got {
				values[i] = fromPostgres(v)
			}
			take(values)
		}
		return rows.Err()
	})
}

// commit ends the transaction, and sends what after queues behind it; that may fail. A transaction that an error has
// spoiled answers a commit by undoing itself.
func (p *pipeline) commit(ctx context.Context, after func()) error {
	committed := false
	p.batch.Queue(`COMMIT`).Exec(func(tag pgconn.CommandTag) error {
		if committed = tag.String() == `COMMIT`; !committed {
			return errors.New("the database has undone the transaction")
		}
		return nil
	})
	after()
	if err := p.flush(ctx); err != nil && !committed {
		return err
	}
	return nil
}

// auditHeads implements tx.auditHeads.
func (p *pipeline) auditHeads(ctx context.Context) ([]domain.AuditHead, error) {
	heads := []domain.AuditHead{}
	p.queue(sqlAuditStill, nil)
	p.each(func(values []driver.Value) {
		var h domain.AuditHead
		h.Chain, _ = values[0].(string)
		h.N, _ = values[1].(int64)
		h.Hash, _ = values[2].(string)
		heads = append(heads, h)
	}, sqlAuditGrown, nil)
	err := p.flush(ctx)
	return heads, err
}
