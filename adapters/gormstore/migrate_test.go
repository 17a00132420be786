package gormstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain/history"
	"aion/test/postgres"
)

// server 46: with store.migrate check a schema that is not up to date is refused and left as it is; otherwise the file is
// copied before it is changed, and one copy stays.
func TestAnOldSchemaIsCopiedOrRefused(t *testing.T) {
	t.Parallel()
	o := at(filepath.Join(privateDir(t), "aion.db"))
	known := int64(gormstore.SchemaVersion())
	present, due, err := gormstore.Plan(t.Context(), o)
	if present != 0 || len(due) != int(known) || err != nil {
		t.Errorf("of no file: %d, %d due, %v", present, len(due), err)
	}
	if _, err := os.Stat(o.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("asking has made a store")
	}
	older := func(version int) {
		t.Helper()
		old, err := gormstore.OpenAt(t.Context(), o, version)
		if err == nil {
			err = old.CloseWriter()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	older(4)
	strict := o
	strict.CheckOnly = true
	_, err = gormstore.Open(t.Context(), strict)
	wantCode(t, "check", err, "MigrationsPending")
	present, due, err = gormstore.Plan(t.Context(), o)
	if present != 4 || len(due) != int(known)-4 || due[0].Version != 5 || due[0].Name == "" || due[0].SQL == "" || err != nil {
		t.Errorf("%d, %+v, %v", present, due, err)
	}
	if err := os.WriteFile(o.Path+".before-2", nil, 0o600); err != nil { // of an earlier change
		t.Fatal(err)
	}
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = gormstore.Plan(t.Context(), o)
	wantCode(t, "a plan of an open store", err, "StoreLocked")
	if errs := s.Append(t.Context(), []history.Commit{chains(1)[0].next()}); errs[0] != nil {
		t.Error(errs[0])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	copied := o
	copied.Path += ".before-4"
	if present, _, err := gormstore.Plan(t.Context(), copied); present != 4 || err != nil {
		t.Errorf("the copy has schema %d, %v", present, err)
	}
	if info, err := os.Stat(copied.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if _, err := os.Stat(o.Path + ".before-2"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("two copies are kept")
	}
	if s, err = gormstore.Open(t.Context(), strict); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Path + ".before-6"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a store that is up to date was copied")
	}
}

func TestAnOldSchemaOfPostgresIsRefusedByCheck(t *testing.T) { // server 46
	t.Parallel()
	o := postgresOptions(t, postgres.Database(t))
	o.CheckOnly = true
	_, err := gormstore.OpenPostgres(t.Context(), o)
	wantCode(t, "an empty database", err, "MigrationsPending")
	present, due, err := gormstore.PlanPostgres(t.Context(), o)
	if present != 0 || len(due) != gormstore.PostgresSchema() || err != nil {
		t.Errorf("%d, %+v, %v", present, due, err)
	}
	o.CheckOnly = false
	mustOpenPostgres(t, o)
	o.CheckOnly = true
	mustOpenPostgres(t, o)
	if present, due, err := gormstore.PlanPostgres(t.Context(), o); int(present) != gormstore.PostgresSchema() || len(due) != 0 || err != nil {
		t.Errorf("%d, %+v, %v", present, due, err)
	}
}
