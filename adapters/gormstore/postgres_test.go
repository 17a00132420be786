package gormstore_test

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"aion/adapters/gormstore"
	"aion/test/conformance"
	"aion/test/fake"
	"aion/test/postgres"
)

// modes are the two ways to speak to a database: to itself, and through a pooler that gives a connection for one transaction.
var modes = map[string]bool{"direct": false, "simple protocol": true}

func postgresOptions(tb testing.TB, dsn string) gormstore.PostgresOptions {
	tb.Helper()
	return gormstore.PostgresOptions{DSN: dsn, Clock: fake.NewClock(time.Time{}), Instance: "one", MaxConnections: 4}.WithOwnTime()
}

func mustOpenPostgres(tb testing.TB, o gormstore.PostgresOptions) *gormstore.Store {
	tb.Helper()
	s, err := gormstore.OpenPostgres(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func openPostgres(tb testing.TB) *gormstore.Store {
	tb.Helper()
	return mustOpenPostgres(tb, postgresOptions(tb, postgres.Database(tb)))
}

// withSchema makes a schema in a database and gives the DSN that leads to it: to a case it is a database of its own, and it
// takes less time to make.
func withSchema(tb testing.TB, dsn string, n int64) string {
	tb.Helper()
	name := fmt.Sprint("case_", n)
	execute(tb, dsn, `CREATE SCHEMA `+name)
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// execute runs statements on a connection of the test's own, as an operator would.
func execute(tb testing.TB, dsn, statements string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		tb.Fatal(err)
	}
}

func TestPostgresKeepsEveryPortsPromise(t *testing.T) { // engine 17
	t.Parallel()
	for name, simple := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := postgres.Database(t)
			var cases atomic.Int64
			open := func(tb testing.TB) conformance.SharedStore {
				o := postgresOptions(tb, withSchema(tb, dsn, cases.Add(1)))
				o.SimpleProtocol = simple
				return mustOpenPostgres(tb, o)
			}
			conformance.All(t, func(tb testing.TB) conformance.Store { return open(tb) })
			conformance.Shared(t, open)
		})
	}
}
