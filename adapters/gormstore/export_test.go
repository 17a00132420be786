package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm/logger"

	"aion/ports"
)

func (s *Store) sqlite() *writer { return s.write.(*writer) }

// Pool gives the reading connections.
func (s *Store) Pool() *sql.DB { return s.pool }

// WriterSetting reads a setting of the writing connection.
func (s *Store) WriterSetting(ctx context.Context, pragma string) (any, error) {
	v := make([]driver.Value, 1)
	err := s.write.transaction(ctx, func(t *tx) error {
		_, err := t.row(v, `PRAGMA `+pragma)
		return err
	})
	return v[0], err
}

// Write runs a statement on the writing connection, as a later version or a hand would.
func (s *Store) Write(ctx context.Context, statement string) error {
	return s.write.transaction(ctx, func(t *tx) error { return t.script(statement) })
}

// WriterQueries gives every statement that the writer has prepared.
func (s *Store) WriterQueries() []string { return slices.Collect(maps.Keys(s.sqlite().stmts)) }

// PostgresQueries gives every statement that transactions on Postgres have run.
func (s *Store) PostgresQueries() []string {
	var all []string
	s.postgres.dialect.writing.Range(func(_, text any) bool { all = append(all, text.(string)); return true })
	return all
}

// TraceReads calls f with every statement that gorm runs, arguments filled in.
func (s *Store) TraceReads(f func(sql string)) { s.read.Logger = tracer(f) }

type tracer func(sql string)

func (t tracer) LogMode(logger.LogLevel) logger.Interface    { return t }
func (tracer) Info(context.Context, string, ...interface{})  {}
func (tracer) Warn(context.Context, string, ...interface{})  {}
func (tracer) Error(context.Context, string, ...interface{}) {}
func (t tracer) Trace(_ context.Context, _ time.Time, query func() (string, int64), _ error) {
	text, _ := query()
	t(text)
}

// HoldWriter takes the turn to write; the changes that wait until release are written together.
func (s *Store) HoldWriter() (release func()) {
	<-s.sqlite().turn
	return func() { s.sqlite().turn <- struct{}{} }
}

// WaitingChanges is the number of changes that wait for the turn.
func (s *Store) WaitingChanges() int {
	s.sqlite().mu.Lock()
	defer s.sqlite().mu.Unlock()
	return len(s.sqlite().waiting)
}

// Apply runs one migration again.
func (s *Store) Apply(ctx context.Context, version int) error {
	steps, err := migrations("sqlite")
	if err != nil {
		return err
	}
	return s.Write(ctx, steps[version-1].text)
}

// PostgresSchema is the newest schema of Postgres that this binary knows.
func PostgresSchema() int {
	steps, _ := migrations("postgres")
	return len(steps)
}

// OpenAt gives a store whose schema is of an earlier version.
func OpenAt(ctx context.Context, o Options, version int) (*Store, error) {
	if err := prepareFile(o.Path); err != nil {
		return nil, err
	}
	steps, err := migrations("sqlite")
	if err != nil {
		return nil, err
	}
	w, err := openWriter(o)
	if err != nil {
		return nil, err
	}
	return &Store{clock: o.Clock, write: w}, apply(ctx, w, steps[:version], o.Path, o.Clock.Now())
}

// CloseWriter ends a store of OpenAt.
func (s *Store) CloseWriter() error { return s.write.close() }

// WithOwnTime leaves the store with the clock that it is given.
func (o PostgresOptions) WithOwnTime() PostgresOptions {
	o.ownTime = true
	return o
}

// WithPatience bounds every call by d.
func (o PostgresOptions) WithPatience(d time.Duration) PostgresOptions {
	o.patience = d
	return o
}

// PostgresSetting reads a setting as a transaction has it.
func (s *Store) PostgresSetting(ctx context.Context, name string) (any, error) {
	v := make([]driver.Value, 1)
	err := s.write.transaction(ctx, func(t *tx) error {
		_, err := t.row(v, `SELECT current_setting(?)`, name)
		return err
	})
	return v[0], err
}

// RefusePostgres turns an error of Postgres into a refusal.
var RefusePostgres = refusePostgres

// OffsetAfter is what a clock takes from looks at the database's: each an offset, and how long the look took.
func OffsetAfter(looks [][2]time.Duration) time.Duration {
	var c databaseClock
	for _, l := range looks {
		before := time.Unix(1_000_000, 0)
		c.add(before, before.Add(l[1]), before.Add(l[1]/2+l[0]))
	}
	return c.measured()
}

// HideClosed begins to remove workflows and breaks off.
func (s *Store) HideClosed(ctx context.Context, workflows []ports.ClosedWorkflow) (int, error) {
	_, hidden, err := s.remove(ctx, workflows)
	return len(hidden), err
}

// DumpedTables are the tables of a dump.
func DumpedTables() (names []string) {
	for _, d := range dumpedTables() {
		names = append(names, d.name)
	}
	return names
}

// DumpedColumns are the columns of a dump, each behind its table and a dot.
func DumpedColumns() (names []string) {
	for _, d := range dumpedTables() {
		for _, c := range d.columns {
			names = append(names, d.name+"."+c)
		}
	}
	return names
}
