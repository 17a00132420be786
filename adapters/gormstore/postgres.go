package gormstore

import (
	"context"
	"database/sql"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"aion/ports"
)

// PostgresOptions say which database to open, and how. DSN, Clock and Instance are required.
type PostgresOptions struct {
	DSN            string // never in an error or a log
	Clock          ports.Clock
	Instance       string // names this process among those that share the database
	MaxConnections int    // 0: 20; at least 2
	// SimpleProtocol is for a pooler that gives a connection for one transaction, and for engines that only speak the
	// protocol: nothing is kept on a connection, so what other processes change is not heard of.
	SimpleProtocol bool
	UnsafeNoFsync  bool // acknowledged means: handed to the database
	CheckOnly      bool // see Options
	// Changed is told what other processes have changed, from a goroutine of the store; it must not wait. nil: nobody asks.
	Changed func(ports.Changes)
	// Audited is told of each audit record; it must not wait. nil: nobody counts.
	Audited func(action, outcome string)

	ownTime  bool          // the clock is not set by the database's
	patience time.Duration // 0: storePatience
}

// storePatience bounds every call, so that a database which is away is answered for within 5 s.
const storePatience = 4500 * time.Millisecond

// idleInTransaction is how long a client that has vanished may hold rows.
const idleInTransaction = 4 * time.Second

// rowPatience is how long a transaction waits for a row that somebody else holds. Nobody of ours holds one so long.
const rowPatience = time.Second

// database is what a Store on Postgres has besides. Claims need no SKIP LOCKED and no advisory locks: a task is claimed by a
// commit, and of two that claim it one finds it claimed.
type database struct {
	pool     *pgxpool.Pool
	dialect  *dialect
	patience patience
	begin    []string // how a transaction begins
	instance string
	clock    *databaseClock
	listener *listener    // nil: there is none
	epoch    atomic.Int64 // of this process's lease
	alone    atomic.Bool  // no other process holds one: nobody is to be told
}

// OpenPostgres connects to a database and brings its schema up to date. It refuses in one sentence with the fix when the
// database cannot be reached or used, or holds something else or a newer schema.
func OpenPostgres(ctx context.Context, o PostgresOptions) (*Store, error) {
	config, err := configure(&o)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, config, o); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, unreachable(config.ConnConfig, err)
	}
	clock := &databaseClock{Clock: o.Clock, fixed: o.ownTime}
	d := &database{pool: pool, dialect: &dialect{}, patience: patience{most: o.patience}, begin: beginning(o), instance: o.Instance, clock: clock}
	s := &Store{clock: clock, postgres: d}
	s.write = &postgresWriter{database: d, chain: newChain(clock, o.Audited), closed: &s.closed}
	if s.read, s.pool, err = d.openReads(clock); err == nil {
		err = s.measure(ctx)
	}
	for range 2 { // the first journey was that of a new connection
		if err == nil {
			err = s.measure(ctx)
		}
	}
	if err != nil {
		if s.pool != nil {
			_ = s.pool.Close()
		}
		pool.Close()
		return nil, s.readError(ctx, err)
	}
	if o.Changed != nil && !o.SimpleProtocol {
		d.listener = listen(context.WithoutCancel(ctx), config.ConnConfig, o, &d.alone)
	}
	return s, nil
}

// configure reads the DSN and makes every connection what the store needs.
func configure(o *PostgresOptions) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.DSN)
	if err != nil { // it would quote the DSN
		return nil, misplaced("store.dsn is no address of a Postgres database; write postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 20
	}
	if o.patience <= 0 {
		o.patience = storePatience
	}
	config.MaxConns = int32(max(o.MaxConnections, 2))
	config.HealthCheckPeriod = 10 * time.Second
	config.PingTimeout = o.patience / 3
	c := config.ConnConfig
	// The hosts of a DSN are tried one after the other.
	if each := o.patience / time.Duration(1+len(c.Fallbacks)); c.ConnectTimeout <= 0 || c.ConnectTimeout > each {
		c.ConnectTimeout = each
	}
	if o.SimpleProtocol {
		c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
		return config, nil
	}
	if o.Changed != nil {
		config.MaxConns-- // the listener has one
	}
	for _, s := range sessionSettings(*o) {
		c.RuntimeParams[s.name] = s.value
	}
	// The server notices a client that has vanished by itself.
	c.RuntimeParams["tcp_keepalives_idle"] = "5"
	c.RuntimeParams["tcp_keepalives_interval"] = "2"
	c.RuntimeParams["tcp_keepalives_count"] = "3"
	c.RuntimeParams["tcp_user_timeout"] = "10000"
	return config, nil
}

type setting struct{ name, value string }

// sessionSettings are what a connection needs while it writes, whatever the server's defaults are.
func sessionSettings(o PostgresOptions) []setting {
	durable := "on"
	if o.UnsafeNoFsync {
		durable = "off"
	}
	return []setting{
		{"synchronous_commit", durable},
		{"idle_in_transaction_session_timeout", milliseconds(idleInTransaction)},
		{"statement_timeout", milliseconds(o.patience)},
		{"lock_timeout", milliseconds(rowPatience)},
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// beginning is how each transaction begins. Behind a pooler nothing can be set for a connection, so it is set there.
func beginning(o PostgresOptions) []string {
	texts := []string{`BEGIN ISOLATION LEVEL READ COMMITTED`}
	if o.SimpleProtocol {
		for _, s := range sessionSettings(o) {
			texts = append(texts, `SET LOCAL `+s.name+` = '`+s.value+`'`)
		}
	}
	return texts
}

// openReads gives gorm over the pool.
func (d *database) openReads(clock ports.Clock) (*gorm.DB, *sql.DB, error) {
	pool := sql.OpenDB(readConnector{stdlib.GetPoolConnector(d.pool)})
	pool.SetMaxIdleConns(0) // those that are idle are the pool's
	db, err := gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: pool}), &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and SQL holds payloads
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		NowFunc:                clock.Now,
	})
	return db, pool, err
}

// Place says where a store on Postgres is, without what opens it; nothing on SQLite.
func (s *Store) Place() string {
	if s.postgres == nil {
		return ""
	}
	return place(s.postgres.pool.Config().ConnConfig)
}

func (w *postgresWriter) close() error {
	if w.listener != nil {
		w.listener.stop()
	}
	w.pool.Close()
	return nil
}

// prepare connects once, looks at what answers and brings the schema up to date.
func prepare(ctx context.Context, config *pgxpool.Config, o PostgresOptions) error {
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return unreachable(config.ConnConfig, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := migratePostgres(ctx, conn, o); err != nil {
		return unusable(ctx, conn.Config(), err)
	}
	return nil
}
