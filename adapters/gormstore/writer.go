package gormstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mattn/go-sqlite3"

	"aion/domain"
)

// writer owns the one connection that writes. Its statements are prepared once. Whoever has the turn has the connection.
//
// Changes that wait for the turn are written together: the first one to get it writes all of them in one transaction, each
// behind a savepoint of its own, so that one fsync serves the histories and the transcripts of many runs.
type writer struct {
	turn  chan struct{} // holds one token
	conn  *sqlite3.SQLiteConn
	stmts map[string]*sqlite3.SQLiteStmt
	args  []driver.NamedValue
	gone  bool

	chain *chain

	mu      sync.Mutex
	waiting []*change // first come, first written
}

// change is one caller's part of a transaction. It belongs to the writer until done is closed.
type change struct {
	write func(*tx) error
	err   error
	done  chan struct{}
}

// maxTogether bounds what one change waits for besides itself.
const maxTogether = 64

// The log is moved into the file once it has 32 MiB, so that a page that many commits change is moved once; what a burst
// has added to the log is given back. Only the connection that commits has a use for these two.
const sqlLogSize = `PRAGMA wal_autocheckpoint = 8192; PRAGMA journal_size_limit = 67108864`

func openWriter(o Options) (*writer, error) {
	hook := func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec(sqlLogSize, nil)
		return err
	}
	conn, err := (&sqlite3.SQLiteDriver{ConnectHook: hook}).Open(dsn(o, false))
	if err != nil {
		return nil, err
	}
	w := &writer{turn: make(chan struct{}, 1), conn: conn.(*sqlite3.SQLiteConn), stmts: map[string]*sqlite3.SQLiteStmt{}, chain: newChain(o.Clock, o.Audited)}
	w.turn <- struct{}{}
	return w, nil
}

// transaction runs write inside a transaction, maybe on another caller's goroutine. An error of write, or of the database,
// leaves nothing of this change. The caller's context bounds the wait; a change that has begun is carried through.
func (w *writer) transaction(ctx context.Context, write func(*tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := &change{write: write, done: make(chan struct{})}
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	w.mu.Unlock()
	select {
	case <-c.done:
	case <-w.turn:
		w.lead(context.WithoutCancel(ctx), c)
	case <-ctx.Done():
		if w.withdraw(c) {
			return context.Cause(ctx)
		}
		<-c.done
	}
	return c.err
}

// lead writes what waits until c is written.
func (w *writer) lead(ctx context.Context, c *change) {
	defer func() { w.turn <- struct{}{} }()
	for {
		select {
		case <-c.done:
			return
		default:
			w.together(ctx, w.take())
		}
	}
}

func (w *writer) take() []*change {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), maxTogether)
	batch := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	return batch
}

// withdraw takes a change back; false when it is being written.
func (w *writer) withdraw(c *change) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, c)
	if i < 0 {
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	return true
}

// together writes a batch in one transaction and answers every change of it. When the transaction fails, its failure is
// the answer to all: what a change was told inside may rest on a neighbour that is gone now.
func (w *writer) together(ctx context.Context, batch []*change) {
	failed := fault("a change of the same transaction has failed; repeat the call", nil) // stays when one panics
	defer func() {
		for _, c := range batch {
			if failed != nil {
				c.err = failed
			}
			close(c.done)
		}
	}()
	if w.gone {
		failed = closed()
		return
	}
	failed = refuse(ctx, w.run(ctx, batch))
}

func (w *writer) run(ctx context.Context, batch []*change) error {
	t := &tx{ctx: ctx, on: w, chain: w.chain}
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	done := false
	defer func() { // also after a panic: the connection must not stay inside a transaction
		t.audited(done)
		if !done {
			// Some failures have ended the transaction already; then this one is refused, which is what is wanted.
			_, _ = t.exec(`ROLLBACK`)
		}
	}()
	if err := t.all(batch); err != nil {
		return err
	}
	if err := t.writeAudit(); err != nil {
		return err
	}
	if _, err := t.exec(`COMMIT`); err != nil {
		return err
	}
	done = true
	return nil
}

// all writes the changes of a batch. A change that fails alone is undone alone; a store that cannot write fails the batch.
func (t *tx) all(batch []*change) error {
	if len(batch) == 1 {
		return batch[0].write(t)
	}
	for _, c := range batch {
		if _, err := t.exec(`SAVEPOINT one`); err != nil {
			return err
		}
		told := len(t.records)
		c.err = refuse(t.ctx, c.write(t))
		if c.err != nil {
			if domain.CodeOf(c.err) == domain.CodeUnavailable {
				return c.err
			}
			if _, err := t.exec(`ROLLBACK TO one`); err != nil {
				return err
			}
			t.records = t.records[:told]
		}
		if _, err := t.exec(`RELEASE one`); err != nil {
			return err
		}
	}
	return nil
}

// close ends the connection; the last one of the process moves the write-ahead log into the file.
func (w *writer) close() error {
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	if w.gone {
		return nil
	}
	w.gone = true
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) prepared(query string) (*sqlite3.SQLiteStmt, error) {
	if s := w.stmts[query]; s != nil {
		return s, nil
	}
	prepared, err := w.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := prepared.(*sqlite3.SQLiteStmt)
	w.stmts[query] = s
	return s, nil
}

func (w *writer) named(args []driver.Value) []driver.NamedValue {
	w.args = w.args[:0]
	for i, a := range args {
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return w.args
}

// exec implements session.
func (w *writer) exec(ctx context.Context, query string, args []driver.Value) (changed int64, err error) {
	s, err := w.prepared(query)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(ctx, w.named(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// send implements session.
func (w *writer) send(ctx context.Context, query string, args []driver.Value) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(ctx, w.named(args))
	return err
}

// script implements session.
func (w *writer) script(ctx context.Context, text string) error {
	_, err := w.conn.ExecContext(ctx, text, nil)
	return err
}

// row implements session.
func (w *writer) row(ctx context.Context, dest []driver.Value, query string, args []driver.Value) (found bool, err error) {
	s, err := w.prepared(query)
	if err != nil {
		return false, err
	}
	rows, err := s.QueryContext(ctx, w.named(args))
	if err != nil {
		return false, err
	}
	switch err := rows.Next(dest); {
	case errors.Is(err, io.EOF):
		return false, rows.Close()
	case err != nil:
		_ = rows.Close()
		return false, err
	default:
		return true, rows.Close()
	}
}

// vacuum gives pages that are free back to the file system when the transaction ends. The statement has a row for each.
func (w *writer) vacuum(ctx context.Context, pages int64) error {
	rows, err := w.conn.QueryContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages), nil)
	if err != nil {
		return err
	}
	none := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(none)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
