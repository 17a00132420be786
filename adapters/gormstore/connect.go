package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"

	"github.com/mattn/go-sqlite3"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// busyTimeoutMS bounds how long a call waits for a foreign lock, such as an operator's shell on the file.
const busyTimeoutMS = 5000

// dsn holds every setting of a connection, so that no physical connection can lack one. The driver sets the wait before
// anything that may need it.
func dsn(o Options, reader bool) string {
	q := url.Values{}
	q.Set("_busy_timeout", fmt.Sprint(busyTimeoutMS))
	q.Set("_journal_mode", "WAL")
	q.Set("_synchronous", "FULL")
	if o.UnsafeNoFsync {
		q.Set("_synchronous", "OFF")
	}
	q.Set("_foreign_keys", "false")
	// In KiB. Splitting a page may swap two numbers by way of one far behind the file's end, and the next end of a transaction
	// then walks the whole cache; a reader drops all of it after each commit of another connection. What is not in it is in
	// the system's cache of pages.
	q.Set("_cache_size", "-4096")
	q.Set("_mutex", "no") // each connection serves one goroutine at a time
	if reader {
		q.Set("mode", "ro")
		q.Set("_query_only", "true")
		q.Set("_stmt_cache_size", "64")
	} else {
		q.Set("mode", "rwc")
		q.Set("_auto_vacuum", "incremental")
	}
	return (&url.URL{Scheme: "file", Path: o.Path, RawQuery: q.Encode()}).String()
}

// connector opens the reading connections without a registered driver.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// openReaders gives gorm over a pool of read-only connections.
func openReaders(ctx context.Context, o Options) (*gorm.DB, *sql.DB, error) {
	pool := sql.OpenDB(connector{&sqlite3.SQLiteDriver{}, dsn(o, true)})
	pool.SetMaxOpenConns(o.Readers)
	pool.SetMaxIdleConns(o.Readers)
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close()
		return nil, nil, err
	}
	db, err := gorm.Open(sqlite.New(sqlite.Config{Conn: pool}), &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and SQL holds payloads
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		TranslateError:         true,
		NowFunc:                o.Clock.Now,
	})
	if err != nil {
		_ = pool.Close()
		return nil, nil, err
	}
	return db, pool, nil
}
