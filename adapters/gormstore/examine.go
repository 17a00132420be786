package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/mattn/go-sqlite3"

	"aion/domain"
)

// Examination is what a look at a store from outside finds. A look changes nothing and needs no ownership.
type Examination struct {
	Exists bool
	Owner  Owner // zero PID: nobody has it open
	// Unclean says that the last owner ended without closing a store that nobody has open: the next one checks it first, and
	// until then its file is not read.
	Unclean   bool
	Schema    int64  // 0: none yet, or not read
	Known     int64  // the newest one that this binary knows
	Bytes     int64  // of the file and what is not yet in it
	Free      int64  // bytes that a process of this user may still write to its disk
	NetworkFS string // the network file system that it is on; empty: none that is known
}

// Examine looks at the SQLite store at path. whole reads every page of the file, which takes its time. It refuses as Open
// does: a place that is not private, a damaged file, a file of another program, a schema that is newer than this binary.
func Examine(ctx context.Context, path string, whole bool) (Examination, error) {
	x := Examination{Known: knownSchema("sqlite"), NetworkFS: networkFS(filepath.Dir(path)), Free: freeBytes(filepath.Dir(path))}
	if err := checkPlace(Options{Path: path, UnsafeNetworkFS: true}); err != nil {
		return x, err
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			x.Bytes += info.Size()
		}
	}
	owner, held, err := FindOwner(path)
	if err != nil {
		return x, err
	}
	if held {
		x.Owner = owner
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return x, nil
	}
	x.Exists = true
	if x.Unclean = !held && leftOpen(path); x.Unclean {
		return x, nil
	}
	db := sql.OpenDB(connector{&sqlite3.SQLiteDriver{}, lookDSN(path, held)})
	defer func() { _ = db.Close() }()
	x.Schema, err = look(ctx, db, path, whole)
	return x, err
}

// leftOpen reports whether the last owner of a store that nobody has open ended without closing it.
func leftOpen(path string) bool {
	info, err := os.Stat(path + lockSuffix)
	_, wal := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0 || wal == nil
}

// lookDSN reads without writing. Where nobody has the store open SQLite must not make its helper files either: they would
// belong to whoever looks.
func lookDSN(path string, held bool) string {
	q := url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}, "_query_only": {"true"}}
	if !held {
		q.Set("immutable", "1")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func look(ctx context.Context, db *sql.DB, path string, whole bool) (schema int64, err error) {
	var tables, ours int64
	if err := db.QueryRowContext(ctx, sqlSchemaTables).Scan(&tables, &ours); err != nil {
		return 0, corrupt(path, err.Error())
	}
	if ours == 0 {
		if tables > 0 {
			return 0, misplaced("%s is a SQLite file of another program; name another file for the store", path)
		}
		return 0, nil
	}
	if err := db.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&schema); err != nil {
		return 0, corrupt(path, err.Error())
	}
	if known := knownSchema("sqlite"); schema > known {
		return schema, newer(path, schema, known)
	}
	if !whole {
		return schema, nil
	}
	var finding string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&finding); err != nil {
		if ctx.Err() != nil {
			return schema, context.Cause(ctx)
		}
		return schema, corrupt(path, err.Error())
	}
	if finding != "ok" {
		return schema, corrupt(path, finding)
	}
	return schema, nil
}

// ExaminePostgres connects to a database, tells its schema, and changes nothing. It refuses as OpenPostgres does.
func ExaminePostgres(ctx context.Context, o PostgresOptions) (Examination, error) {
	x := Examination{Known: knownSchema("postgres")}
	config, err := configure(&o)
	if err != nil {
		return x, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.patience, away(nil))
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
	if err != nil {
		return x, unreachable(config.ConnConfig, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	schema, fresh, err := presentSchema(ctx, conn)
	x.Exists, x.Schema = !fresh, schema
	if err == nil && !fresh {
		err = fitting(conn, schema, x.Known)
	}
	if err != nil {
		return x, unusable(ctx, conn.Config(), err)
	}
	return x, nil
}

// CopyStore copies the SQLite store at path, whoever has it open, to a file that does not exist yet. The copy can be opened
// like any store.
func CopyStore(ctx context.Context, path, to string) error {
	_, held, err := FindOwner(path)
	if err != nil {
		return err
	}
	if held {
		source := &url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_busy_timeout=5000"} // SQLite counts the copy as a change of its connection
		db := sql.OpenDB(connector{&sqlite3.SQLiteDriver{}, source.String()})
		defer func() { _ = db.Close() }()
		if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
			return uncopied(path, to, err)
		}
		return os.Chmod(to, fileMode)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return uncopied(path, to, cmp.Or(err, fs.ErrExist))
	}
	for _, suffix := range []string{"", "-wal"} { // what the last owner left open is in the second one
		if err := copyFile(path+suffix, to+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return uncopied(path, to, err)
		}
	}
	return nil
}

func uncopied(path, to string, cause error) error {
	return domain.Unavailable("StoreUncopied", "the store at "+path+" could not be copied to "+to+"; look for free space: "+cause.Error(), cause)
}
