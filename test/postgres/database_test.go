package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"aion/test/postgres"
)

func TestDatabasesAreEmptyAndApart(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn := connect(t, postgres.Database(t))
		execute(t, conn, "CREATE TABLE mine (n int)")
		if n := ask[int](t, conn, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); n != 1 {
			t.Errorf("%d tables in a fresh database with one", n)
		}
	}
}

func TestDatabaseIsDroppedAlthoughSomebodyIsConnected(t *testing.T) {
	t.Parallel()
	observer := connect(t, postgres.Database(t))
	var name string
	left := &pgx.Conn{}
	t.Run("inner", func(t *testing.T) {
		dsn := postgres.Database(t)
		var err error
		if left, err = pgx.Connect(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		name = ask[string](t, left, "SELECT current_database()::text")
	})
	if n := ask[int](t, observer, "SELECT count(*) FROM pg_database WHERE datname = $1", name); n != 0 {
		t.Errorf("the database %s is still there", name)
	}
	if _, err := left.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a connection outlived its database")
	}
	_ = left.Close(t.Context())
}

func TestDatabasesAreOnTheServerOfTheVariable(t *testing.T) { //nolint:paralleltest // it sets the environment
	s := postgres.Start(t)
	for _, dsn := range []string{s.DSN(), fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.Port())} {
		t.Setenv(postgres.Variable, dsn)
		conn := connect(t, postgres.Database(t))
		if port := ask[int](t, conn, "SELECT inet_server_port()"); port != s.Port() {
			t.Errorf("with %q the database is on port %d, not on %d", dsn, port, s.Port())
		}
		if name := ask[string](t, conn, "SELECT current_database()::text"); !strings.HasPrefix(name, "aion_test_") {
			t.Errorf("with %q the database is %s", dsn, name)
		}
	}
}
