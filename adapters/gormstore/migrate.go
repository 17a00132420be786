package gormstore

import (
	"context"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"aion/domain"
)

//go:embed migrations/sqlite/*.sql migrations/postgres/*.sql
var migrationFiles embed.FS

// migration is one numbered step of the schema: `0001_runs.sql`.
type migration struct {
	version int64
	name    string
	text    string
}

// migrations gives every step that this binary knows for a database, dense from 1.
func migrations(database string) ([]migration, error) {
	dir := path.Join("migrations", database)
	files, err := fs.ReadDir(migrationFiles, dir) // sorted by name
	if err != nil {
		return nil, err
	}
	steps := make([]migration, 0, len(files))
	for i, f := range files {
		number, name, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i)+1 {
			return nil, fmt.Errorf("migration %s: number %d is due", f.Name(), i+1)
		}
		text, err := migrationFiles.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, name, string(text)})
	}
	return steps, nil
}

const sqlSchemaTables = `SELECT count(*), coalesce(sum(name = 'schema_migrations'), 0) FROM sqlite_schema WHERE type = 'table'`

// migrate brings the schema up to date in one transaction, and keeps a copy of the file as it was. A schema that is newer than
// this binary, and a file of another program, are refused and left as they are.
func migrate(ctx context.Context, w *writer, o Options) error {
	steps, err := migrations("sqlite")
	if err != nil {
		return fault("the migrations of this binary cannot be read", err)
	}
	present, err := w.schema(ctx, o.Path, int64(len(steps)))
	switch {
	case err != nil:
		return err
	case o.CheckOnly && present < int64(len(steps)):
		return pending(o.Path, present, int64(len(steps)))
	case present > 0 && present < int64(len(steps)):
		if err := w.keepBefore(ctx, o.Path, present); err != nil {
			return err
		}
	}
	return apply(ctx, w, steps, o.Path, o.Clock.Now())
}

func apply(ctx context.Context, w *writer, steps []migration, path string, now time.Time) error {
	return w.transaction(ctx, func(t *tx) error {
		present, err := t.schema(path)
		if err != nil {
			return err
		}
		if _, err := t.exec(`CREATE TABLE IF NOT EXISTS schema_migrations
			(version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`); err != nil {
			return err
		}
		if known := int64(len(steps)); present > known {
			return newer(path, present, known)
		}
		for _, m := range steps[present:] {
			if err := t.script(m.text); err != nil {
				return fmt.Errorf("migration %d %s: %w", m.version, m.name, err)
			}
			if _, err := t.exec(`INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)`, m.version, m.name, micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// schema is the version of a file; 0 when it is empty.
func (t *tx) schema(path string) (int64, error) {
	counts := make([]driver.Value, 2)
	if _, err := t.row(counts, sqlSchemaTables); err != nil {
		return 0, err
	}
	if counts[1] == int64(0) {
		if counts[0] != int64(0) {
			return 0, misplaced("%s is a SQLite file of another program; name another file for the store", path)
		}
		return 0, nil
	}
	at := make([]driver.Value, 1)
	_, err := t.row(at, `SELECT coalesce(max(version), 0) FROM schema_migrations`)
	present, _ := at[0].(int64)
	return present, err
}

// schema is that of the file, which this binary knows.
func (w *writer) schema(ctx context.Context, path string, known int64) (present int64, err error) {
	err = w.transaction(ctx, func(t *tx) (err error) {
		present, err = t.schema(path)
		return err
	})
	if err == nil && present > known {
		err = newer(path, present, known)
	}
	return present, err
}

// before is what the copy of a file is called that was made before its schema was changed; the schema follows.
const before = ".before-"

// keepBefore copies the file as it is, and removes the copy of an earlier change.
func (w *writer) keepBefore(ctx context.Context, path string, present int64) error {
	copied := fmt.Sprintf("%s%s%d", path, before, present)
	half := copied + ".new"
	if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(path, err)
	}
	if _, err := w.conn.ExecContext(ctx, `VACUUM INTO ?`, []driver.NamedValue{{Ordinal: 1, Value: half}}); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(half, fileMode), os.Rename(half, copied)); err != nil {
		return unwritable(path, err)
	}
	for n := range present {
		if err := os.Remove(fmt.Sprintf("%s%s%d", path, before, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unwritable(path, err)
		}
	}
	return nil
}

// Migration is a change of the schema that is due.
type Migration struct {
	Version int64
	Name    string
	SQL     string
}

// Plan gives the schema of a SQLite store that nobody has open, and the changes that are due; it changes nothing.
func Plan(ctx context.Context, o Options) (present int64, due []Migration, err error) {
	if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		due, err := after("sqlite", 0)
		return 0, due, err
	}
	if err := checkPlace(o); err != nil {
		return 0, nil, err
	}
	l, clean, err := takeLock(o.Path, o.Clock.Now())
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, l.release(clean)) }()
	w, err := openWriter(o)
	if err != nil {
		return 0, nil, atStart(ctx, o.Path, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if present, err = w.schema(ctx, o.Path, int64(SchemaVersion())); err == nil {
		due, err = after("sqlite", present)
	}
	return present, due, atStart(ctx, o.Path, err)
}

// after gives the changes behind a schema.
func after(database string, present int64) (due []Migration, err error) {
	steps, err := migrations(database)
	if err != nil {
		return nil, fault("the migrations of this binary cannot be read", err)
	}
	for _, m := range steps[min(present, int64(len(steps))):] {
		due = append(due, Migration{m.version, m.name, m.text})
	}
	return due, nil
}

func pending(path string, present, known int64) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "MigrationsPending",
		Message: fmt.Sprintf("the store at %s has schema %d, this binary works on %d, and store.migrate is check; run: aion store migrate (--plan prints what it does; a SQLite file is copied first)", path, present, known),
	}
}

func newer(path string, present, known int64) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "SchemaNewer",
		Message: fmt.Sprintf("the store at %s has schema %d; this binary knows up to %d. Start it with the version that wrote it, or a later one", path, present, known),
	}
}
