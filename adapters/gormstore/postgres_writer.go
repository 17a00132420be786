package gormstore

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresWriter runs transactions on connections of the pool, as many at a time as there are. They read what is
// committed and lock what they rest on.
type postgresWriter struct {
	*database
	chain  *chain
	closed *atomic.Bool
}

// errAgain undoes a transaction that met a change of somebody else's, and repeats it.
var errAgain = errors.New("somebody else has changed what this change rests on")

// maxTries bounds how often a transaction is repeated.
const maxTries = 10

// transaction implements writes.
func (w *postgresWriter) transaction(ctx context.Context, write func(*tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	waiting, cancelWait := w.bound(ctx)
	defer cancelWait()
	// What has begun is carried through: it has its whole time.
	running, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), w.patience.most, away(nil))
	defer cancel()
	for try := 1; ; try++ {
		err := w.once(waiting, running, write)
		if err == nil {
			w.patience.answer()
			return nil
		}
		if w.closed.Load() {
			return closed()
		}
		if try < maxTries && again(err) && running.Err() == nil {
			continue
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return context.Cause(ctx)
		}
		return w.refuse(running, err)
	}
}

func (w *postgresWriter) once(waiting, ctx context.Context, write func(*tx) error) (err error) {
	conn, err := w.pool.Acquire(waiting)
	if err != nil {
		return err
	}
	defer conn.Release() // one that is inside a transaction is closed
	p := &pipeline{conn: conn.Conn(), dialect: w.dialect, batch: &pgx.Batch{}}
	t := &tx{ctx: ctx, on: p, shared: p, chain: w.chain}
	done := false
	defer func() {
		t.audited(done)
		if !done && p.conn.PgConn().TxStatus() != 'I' && !p.conn.IsClosed() {
			_, _ = p.conn.Exec(ctx, `ROLLBACK`)
		}
	}()
	for _, text := range w.begin {
		p.batch.Queue(text)
	}
	if err := write(t); err != nil {
		return err
	}
	if err := t.writeAudit(); err != nil {
		return err
	}
	err = p.commit(ctx, func() { w.tell(p, &t.told) })
	done = err == nil
	return err
}

// again tells whether a transaction that failed so may succeed when it is repeated: it met another one.
func again(err error) bool {
	if errors.Is(err, errAgain) {
		return true
	}
	var e *pgconn.PgError
	return errors.As(err, &e) && slices.Contains([]string{
		"40001", // serialization failure
		"40P01", // deadlock
		"23505", // a key that somebody else has just added
		"0A000", // a prepared statement of before a migration
		"26000", // a prepared statement that the connection has lost
	}, e.Code)
}

// refuse turns an error into a refusal. When the database did not answer, what is idle in the pool may be as dead as the
// connection that waited, so it is closed.
func (d *database) refuse(ctx context.Context, err error) error {
	var answer *pgconn.PgError
	if err != nil && !errors.As(err, &answer) && (pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded)) {
		d.pool.Reset()
	}
	return refusePostgres(ctx, err)
}

// bound gives a call its time.
func (d *database) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	most, whole := d.patience.now()
	if !whole {
		return context.WithTimeoutCause(ctx, most, away(nil))
	}
	// Only who has waited the whole time in vain tells the others.
	bounded, cancel := context.WithTimeoutCause(ctx, most, away(nil))
	began := time.Now().UnixNano()
	stop := context.AfterFunc(bounded, func() {
		if errors.Is(bounded.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			d.patience.exhausted(began)
		}
	})
	return bounded, func() { stop(); cancel() }
}

// patience is how long a call waits for the database. A request makes several calls, one after the other: once one of them
// has waited in vain, those that follow soon wait for a moment only, so that the whole request is answered in time.
type patience struct {
	most     time.Duration
	short    atomic.Int64 // until then, as all times here in nanoseconds since 1970
	answered atomic.Int64 // when the database last did
}

const (
	shortPatience = 300 * time.Millisecond
	shortFor      = 3 * time.Second
)

func (p *patience) now() (most time.Duration, whole bool) {
	if until := p.short.Load(); until != 0 && time.Now().UnixNano() < until {
		return min(shortPatience, p.most), false
	}
	return p.most, true
}

// exhausted notes a call that has waited the whole time in vain, since when nobody got an answer: then it is not the call.
func (p *patience) exhausted(since int64) {
	if p.answered.Load() < since {
		p.short.Store(time.Now().Add(shortFor).UnixNano())
	}
}

func (p *patience) answer() {
	p.answered.Store(time.Now().UnixNano())
	p.short.Store(0)
}
