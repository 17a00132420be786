package gormstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	oldestPostgres = 130000
	// migrationLock is a number that nobody else is likely to lock.
	migrationLock = 0x61696f6e
)

const sqlPostgresSchema = `SELECT count(*), count(*) FILTER (WHERE table_name = 'schema_migrations'),
	(SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'schema_migrations'
		AND column_name IN ('version', 'name', 'applied_at'))
	FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`

// migratePostgres brings the schema up to date in one transaction, one server at a time. A schema that is newer than this
// binary, and a database of another program, are refused and left as they are.
func migratePostgres(ctx context.Context, conn *pgx.Conn, o PostgresOptions) error {
	steps, err := migrations("postgres")
	if err != nil {
		return fault("the migrations of this binary cannot be read", err)
	}
	if done, err := upToDate(ctx, conn, int64(len(steps)), o); done || err != nil {
		return err
	}
	if o.CheckOnly {
		present, _, err := presentSchema(ctx, conn)
		if err != nil {
			return refusePostgres(ctx, err)
		}
		return pending(place(conn.Config()), present, int64(len(steps)))
	}
	for try := 1; ; try++ {
		err := applyPostgres(ctx, conn, steps, o)
		var e *pgconn.PgError
		// Without the lock, of two servers that create the same table one is told so.
		met := again(err) || errors.As(err, &e) && e.Code == "42P07"
		if !met || try == maxTries {
			return err
		}
	}
}

// upToDate looks whether anything is to be done, and who answers. Only the migrations themselves may take their time.
func upToDate(ctx context.Context, conn *pgx.Conn, known int64, o PostgresOptions) (bool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.patience, away(nil))
	defer cancel()
	var text string
	if err := conn.QueryRow(ctx, `SHOW server_version_num`).Scan(&text); err != nil {
		return false, refusePostgres(ctx, err)
	}
	if version, err := strconv.Atoi(text); err == nil && version < oldestPostgres {
		return false, misplaced("%s is Postgres %d; aion needs 13 or later", place(conn.Config()), version/10000)
	}
	present, _, err := presentSchema(ctx, conn)
	if err == nil {
		err = fitting(conn, present, known)
	}
	return err == nil && present == known, refusePostgres(ctx, err)
}

// fitting refuses a schema that this binary does not know.
func fitting(conn *pgx.Conn, present, known int64) error {
	switch {
	case present > known:
		return newer(place(conn.Config()), present, known)
	case present < 0:
		return misplaced("%s has schema %d, which no aion has written; name another database for the store", place(conn.Config()), present)
	}
	return nil
}

func applyPostgres(ctx context.Context, conn *pgx.Conn, steps []migration, o PostgresOptions) error {
	how := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	return pgx.BeginTxFunc(ctx, conn, how, func(tx pgx.Tx) error {
		if _, err := conn.PgConn().Exec(ctx, `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL synchronous_commit = on`).ReadAll(); err != nil {
			return err
		}
		if err := lockMigrations(ctx, tx); err != nil {
			return err
		}
		present, fresh, err := presentSchema(ctx, conn)
		if err == nil {
			err = fitting(conn, present, int64(len(steps)))
		}
		if err == nil && fresh {
			_, err = tx.Exec(ctx, `CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`)
		}
		if err != nil {
			return err
		}
		for _, m := range steps[present:] {
			if _, err := conn.PgConn().Exec(ctx, m.text).ReadAll(); err != nil {
				return fmt.Errorf("migration %d %s: %w", m.version, m.name, err)
			}
			if _, err := tx.Exec(ctx, `INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)`, m.version, m.name, micros(o.Clock.Now())); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockMigrations waits for another server that migrates. An engine without such locks goes on; there the number of a
// migration can be written once only.
func lockMigrations(ctx context.Context, tx pgx.Tx) error {
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock)
		return err
	})
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "42883" { // undefined function
		return nil
	}
	return err
}

// presentSchema tells the version of the schema; fresh is true when there is none.
func presentSchema(ctx context.Context, conn *pgx.Conn) (present int64, fresh bool, err error) {
	var tables, named, columns int64
	if err := conn.QueryRow(ctx, sqlPostgresSchema).Scan(&tables, &named, &columns); err != nil {
		return 0, false, err
	}
	switch {
	case named == 1 && columns == 3:
		err := conn.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&present)
		return present, false, err
	case tables > 0:
		return 0, false, misplaced("%s holds tables of another program; name another database for the store", place(conn.Config()))
	}
	return 0, true, nil
}

// PlanPostgres is Plan for a database.
func PlanPostgres(ctx context.Context, o PostgresOptions) (present int64, due []Migration, err error) {
	config, err := configure(&o)
	if err != nil {
		return 0, nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
	if err != nil {
		return 0, nil, unreachable(config.ConnConfig, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if present, _, err = presentSchema(ctx, conn); err == nil {
		due, err = after("postgres", present)
	}
	if steps, known := migrations("postgres"); err == nil && known == nil {
		err = fitting(conn, present, int64(len(steps)))
	}
	if err != nil {
		return 0, nil, unusable(ctx, conn.Config(), err)
	}
	return present, due, nil
}
