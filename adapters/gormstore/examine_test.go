package gormstore_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/ports"
	"aion/test/postgres"
)

// files lists what lies beside a store, with its size.
func files(t *testing.T, path string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = info.Size()
	}
	return found
}

// server 5.3: a look tells whose a store is and how it stands, needs no ownership, and leaves every file as it was.
func TestALookAtAStoreChangesNothing(t *testing.T) {
	t.Parallel()
	o := options(t)
	look := func() gormstore.Examination {
		t.Helper()
		before := files(t, o.Path)
		x, err := gormstore.Examine(t.Context(), o.Path, true)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, files(t, o.Path)); d != "" {
			t.Errorf("the look left something: %s", d)
		}
		return x
	}
	if x := look(); x.Exists || x.Unclean || x.Owner.PID != 0 || x.Free == 0 {
		t.Errorf("before the first start: %+v", x)
	}
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if x := look(); !x.Exists || x.Owner.PID != os.Getpid() || x.Schema != x.Known || x.Bytes == 0 {
		t.Errorf("while it is open: %+v", x)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if x := look(); !x.Exists || x.Unclean || x.Owner.PID != 0 || x.Schema != x.Known {
		t.Errorf("after a clean stop: %+v", x)
	}
	if err := os.WriteFile(o.Path+".lock", []byte(`{"pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if x := look(); !x.Exists || !x.Unclean {
		t.Errorf("after an unclean one: %+v", x)
	}
}

func TestALookRefusesWhatAStartWould(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte{}, whole...)
	for i := 4096; i < len(damaged); i++ {
		damaged[i] ^= 0x5a
	}
	if err := os.WriteFile(o.Path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = gormstore.Examine(t.Context(), o.Path, true)
	wantRefusal(t, err, domain.CodeBackend, "StoreFault", "is damaged")
	if err := os.WriteFile(o.Path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite3", o.Path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	change(`INSERT INTO schema_migrations VALUES (999, 'later', 0)`)
	_, err = gormstore.Examine(t.Context(), o.Path, false)
	wantRefusal(t, err, domain.CodeInvalidState, "SchemaNewer", "schema 999")
	change(`DROP TABLE schema_migrations`)
	_, err = gormstore.Examine(t.Context(), o.Path, false)
	wantRefusal(t, err, domain.CodeInvalidInput, "StoreMisplaced", "of another program")
	if err := os.Chmod(filepath.Dir(o.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = gormstore.Examine(t.Context(), o.Path, false)
	wantRefusal(t, err, domain.CodeInvalidInput, "StoreMisplaced", "chmod 700")
}

// server 5.8: a copy holds what the original holds, whoever has that open.
func TestACopyOfAStoreIsAStore(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddNamespace(t.Context(), ports.NamespaceRow{Name: "kept", CreatedAt: o.Clock.Now()}); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		to := filepath.Join(privateDir(t), "copy.db")
		if err := gormstore.CopyStore(t.Context(), o.Path, to); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		copied := mustOpen(t, gormstore.Options{Path: to, Clock: o.Clock})
		if _, err := copied.Namespace(t.Context(), "kept"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if err := gormstore.CopyStore(t.Context(), o.Path, to); domain.TypeOf(err) != "StoreUncopied" {
			t.Errorf("%s: a file is written over: %v", when, err)
		}
	}
	check("while it is open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check("when it is closed")
}

func TestALookAtPostgresTellsTheSchema(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	if x, err := gormstore.ExaminePostgres(t.Context(), postgresOptions(t, dsn)); err != nil || x.Exists || x.Schema != 0 {
		t.Errorf("an empty database: %+v %v", x, err)
	}
	mustOpenPostgres(t, postgresOptions(t, dsn))
	if x, err := gormstore.ExaminePostgres(t.Context(), postgresOptions(t, dsn)); err != nil || !x.Exists || x.Schema != x.Known || x.Known == 0 {
		t.Errorf("a store: %+v %v", x, err)
	}
	if _, err := gormstore.ExaminePostgres(t.Context(), postgresOptions(t, "postgres://nobody@127.0.0.1:1/x")); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("nobody there: %v", err)
	}
	execute(t, dsn, `INSERT INTO schema_migrations VALUES (999, 'later', 0)`)
	_, err := gormstore.ExaminePostgres(t.Context(), postgresOptions(t, dsn))
	wantRefusal(t, err, domain.CodeInvalidState, "SchemaNewer", "schema 999")
}
