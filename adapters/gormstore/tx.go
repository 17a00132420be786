package gormstore

import (
	"context"
	"database/sql/driver"

	"aion/domain"
	"aion/domain/history"
)

// writes is the writing side of a database.
type writes interface {
	// transaction runs write inside a transaction, maybe more than once and maybe on another goroutine. An error of write, or
	// of the database, leaves nothing of it. The caller's context bounds the wait; what has begun is carried through.
	transaction(ctx context.Context, write func(*tx) error) error
	close() error
}

// session is the connection below a transaction. Statements are written once for both databases (see dialect).
type session interface {
	// exec runs a statement and tells how many rows it changed.
	exec(ctx context.Context, query string, args []driver.Value) (changed int64, err error)
	// send runs a statement whose result nobody needs: in its turn, and at the latest before the transaction ends.
	send(ctx context.Context, query string, args []driver.Value) error
	// row reads the first row of a query into dest; found is false when there is none.
	row(ctx context.Context, dest []driver.Value, query string, args []driver.Value) (found bool, err error)
	// script runs statements that are needed once.
	script(ctx context.Context, text string) error
}

// tx is one transaction.
type tx struct {
	ctx    context.Context //nolint:containedctx // lives for one call of transaction
	on     session
	shared *pipeline // set on Postgres, where other processes write too

	chain   *chain
	held    bool               // this transaction has the turn of the chain
	records []auditEntry       // of this transaction, in their order; written last
	told    changed            // what other processes are to know
	events  []history.Recorded // of the commits of a wave
	moved   []*history.Commit  // that only move the head
}

func (t *tx) exec(query string, args ...driver.Value) (changed int64, err error) {
	return t.on.exec(t.ctx, query, args)
}

// count is exec, answered by the next flush at the latest.
func (t *tx) count(changed *int64, query string, args ...driver.Value) (err error) {
	if t.shared != nil {
		t.shared.count(changed, query, args)
		return nil
	}
	*changed, err = t.exec(query, args...)
	return err
}

// ask tells, by the next flush at the latest, whether a query has a row.
func (t *tx) ask(found *bool, query string, args ...driver.Value) (err error) {
	if t.shared != nil {
		t.shared.ask(found, nil, query, args)
		return nil
	}
	*found, err = t.row(make([]driver.Value, 1), query, args...)
	return err
}

// flush waits for the answers to what was asked.
func (t *tx) flush() error {
	if t.shared == nil {
		return nil
	}
	return t.shared.flush(t.ctx)
}

func (t *tx) send(query string, args ...driver.Value) error { return t.on.send(t.ctx, query, args) }

func (t *tx) row(dest []driver.Value, query string, args ...driver.Value) (found bool, err error) {
	return t.on.row(t.ctx, dest, query, args)
}

func (t *tx) script(text string) error { return t.on.script(t.ctx, text) }

// A row for each shard stands for what several servers do one at a time.
const sqlLock = `SELECT id FROM locks WHERE id = ?` + forUpdate

// oneAtATime keeps others who name the same thing out until the transaction ends.
func (t *tx) oneAtATime(name string) error {
	if t.shared == nil {
		return nil
	}
	return t.send(sqlLock, int64(domain.WorkflowID(name).Shard()))
}
