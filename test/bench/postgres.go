package main

import (
	"context"
	"database/sql"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of plain

	"aion/bootstrap"
	"aion/test/postgres"
)

// database is where a measure keeps its store, what that can do without aion, and the ratios that are wanted there.
type database struct {
	plain               func(context.Context) (*plainStore, error)
	tune                func(*bootstrap.Config) // nil: at the defaults
	open                func(bootstrap.Config) (*sql.DB, error)
	bytes               string // the query for the size of aion's tables
	throughput, latency float64
}

func (b *bench) sqlite() database {
	return database{
		plain:      func(ctx context.Context) (*plainStore, error) { return openPlain(ctx, b.place("plain.db")) },
		open:       func(c bootstrap.Config) (*sql.DB, error) { return sql.Open("sqlite3", "file:"+c.StorePath+"?mode=ro") },
		bytes:      `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
		throughput: 2, latency: 3,
	}
}

// size counts the runs and events of a store, and the bytes that it takes.
func (d database) size(ctx context.Context, c bootstrap.Config) (runs, events, bytes float64, err error) {
	db, err := d.open(c)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM events), (`+d.bytes+`)`).Scan(&runs, &events, &bytes)
	return runs, events, bytes, err
}

// postgres repeats throughput and latency on a server of its own, at its defaults, on loopback.
func (b *bench) postgres(ctx context.Context) error {
	var failed error
	err := postgres.With(nil, func(dsn string) {
		db := database{
			plain: func(ctx context.Context) (*plainStore, error) {
				pool, err := sql.Open("pgx", dsn)
				if err != nil {
					return nil, err
				}
				return newPlain(ctx, pool, `CREATE TABLE IF NOT EXISTS plain.facts (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data BYTEA NOT NULL)`,
					`INSERT INTO plain.facts (data) VALUES ($1)`)
			},
			tune:       func(c *bootstrap.Config) { c.StoreBackend, c.StoreDSN = "postgres", bootstrap.Secret(dsn) },
			open:       func(bootstrap.Config) (*sql.DB, error) { return sql.Open("pgx", dsn) },
			bytes:      `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
			throughput: 2, latency: 3,
		}
		if failed = schema(ctx, dsn); failed == nil {
			failed = b.throughputOn(ctx, db)
		}
		if failed == nil {
			failed = b.latencyOn(ctx, db)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// schema keeps the plain table apart from those of aion.
func schema(ctx context.Context, dsn string) error {
	pool, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	_, err = pool.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS plain`)
	return err
}
