package gormstore

import (
	"context"
	"database/sql/driver"
	"embed"
	"fmt"
	"io/fs"
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

// migrate brings the schema up to date in one transaction. A schema that is newer than this binary, and a file of another
// program, are refused and left as they are.
func migrate(ctx context.Context, w *writer, path string, now time.Time) error {
	steps, err := migrations("sqlite")
	if err != nil {
		return fault("the migrations of this binary cannot be read", err)
	}
	return apply(ctx, w, steps, path, now)
}

func apply(ctx context.Context, w *writer, steps []migration, path string, now time.Time) error {
	return w.transaction(ctx, func(t *tx) error {
		counts := make([]driver.Value, 2)
		if _, err := t.row(counts, sqlSchemaTables); err != nil {
			return err
		}
		if counts[0] != int64(0) && counts[1] == int64(0) {
			return misplaced("%s is a SQLite file of another program; name another file for the store", path)
		}
		if _, err := t.exec(`CREATE TABLE IF NOT EXISTS schema_migrations
			(version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`); err != nil {
			return err
		}
		at := make([]driver.Value, 1)
		if _, err := t.row(at, `SELECT coalesce(max(version), 0) FROM schema_migrations`); err != nil {
			return err
		}
		present, _ := at[0].(int64)
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

func newer(path string, present, known int64) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "SchemaNewer",
		Message: fmt.Sprintf("the store at %s has schema %d; this binary knows up to %d. Start it with the version that wrote it, or a later one", path, present, known),
	}
}
