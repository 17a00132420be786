package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable names the environment variable with the DSN of a server for Database, as a superuser.
const Variable = "AION_TEST_POSTGRES"

// patience bounds what a healthy server does at once.
const patience = 2 * time.Minute

// shared is the server of this process, which ends with it.
var shared = sync.OnceValues(func() (*keeper, error) { return keep(nil) })

// Database gives the DSN of an empty database of the test's own: on the server of AION_TEST_POSTGRES, or else on one that all
// tests of the process share. It is dropped at the end of the test, whoever is still connected to it.
func Database(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		k, err := shared()
		if err != nil {
			tb.Fatalf("start a Postgres: %v", err)
		}
		server = k.dsn()
	}
	name := "aion_test_" + strings.ToLower(rand.Text())
	dsn, err := withDatabase(server, name)
	if err != nil {
		tb.Fatalf("%s: %v", Variable, err)
	}
	if err := execute(server, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Error(err)
		}
	})
	return dsn
}

func (k *keeper) dsn() string {
	return "postgres://postgres@" + loopback(k.port) + "/postgres?sslmode=disable"
}

// withDatabase is the DSN, a URL or words, with another database.
func withDatabase(dsn, name string) (string, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " dbname=" + name, nil
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// execute runs one statement on a connection of its own.
func execute(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
