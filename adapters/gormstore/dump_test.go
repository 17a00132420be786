package gormstore_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/domain/task"
	"aion/ports"
	"aion/test/fake"
)

// dump gives all rows of a store.
func dump(t *testing.T, s *gormstore.Store) (rows []string) {
	t.Helper()
	err := s.Dump(t.Context(), func(table string, line []byte) error {
		rows = append(rows, table+" "+string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// load fills a store with rows.
func load(ctx context.Context, s *gormstore.Store, rows []string) error {
	return s.Load(ctx, func() (string, []byte, error) {
		if len(rows) == 0 {
			return "", nil, io.EOF
		}
		table, line, _ := strings.Cut(rows[0], " ")
		rows = rows[1:]
		return table, []byte(line), nil
	})
}

// server 45: SQLite → Postgres → SQLite keeps every byte, and what is written afterwards finds its place.
func TestADumpGoesThroughBothDatabases(t *testing.T) {
	t.Parallel()
	first := open(t)
	everyCall(t, first)
	odd := chains(30)[29]
	started := odd.next()
	started.Started = &history.Idempotency{Scope: "a\x00b\x1a", Key: "\xff", Request: "r", WorkflowID: odd.id, RunID: odd.run, ExpiresAt: started.Events[0].At}
	started.Rows[0].Labels = map[string]string{}
	started.Acts = append(started.Acts, history.TimerSet{Timer: history.Timer{WorkflowID: odd.id, RunID: odd.run}}, history.Posted{Message: history.Message{ID: "late", WorkflowID: odd.id, Body: domain.Payload{}}})
	if err := first.Append(t.Context(), []history.Commit{started})[0]; err != nil {
		t.Fatal(err)
	}
	waiting := task.New(task.NewID([16]byte{2}), "o\x00", fake.Epoch, time.Second)
	waiting.Arguments = []byte(`{}`)
	_, _, err := first.AddNamespace(t.Context(), ports.NamespaceRow{Name: "acme", Retention: new(time.Hour)})
	if err = errors.Join(err, first.CreateMCPTask(t.Context(), waiting, 10)); err != nil {
		t.Fatal(err)
	}
	nightly := schedule.Schedule{Namespace: "default", ID: "nightly", UID: string(odd.id), Settings: schedule.Settings{Input: domain.Payload(`{"n":1}`)}, Due: fake.Epoch, CreatedAt: fake.Epoch}
	_, _, err = first.CreateSchedule(t.Context(), nightly, fake.Epoch)
	fired := func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		return v, []schedule.Fire{{N: 1, Nominal: fake.Epoch, DecidedAt: fake.Epoch, Action: schedule.Missed}}, nil
	}
	if _, failed := first.ChangeSchedule(t.Context(), nightly.Ref(), fired); errors.Join(err, failed) != nil {
		t.Fatal(err, failed)
	}
	want := dump(t, first)
	for _, table := range gormstore.DumpedTables() {
		if !slices.ContainsFunc(want, func(row string) bool { return strings.HasPrefix(row, table+" ") }) {
			t.Errorf("the test puts nothing into %s", table)
		}
	}
	second := openPostgres(t)
	if err := load(t.Context(), second, want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, dump(t, second)); d != "" {
		t.Errorf("on Postgres: %s", d)
	}
	third := open(t)
	if err := load(t.Context(), third, dump(t, second)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, dump(t, third)); d != "" {
		t.Errorf("on SQLite again: %s", d)
	}
	for name, s := range map[string]*gormstore.Store{"postgres": second, "sqlite": third} {
		wantCode(t, name, load(t.Context(), s, want), "StoreNotEmpty")
		next := odd.head
		more := odd.next()
		more.Acts = append(more.Acts, history.Posted{Message: history.Message{ID: "later", WorkflowID: odd.id}})
		if err := s.Append(t.Context(), []history.Commit{more})[0]; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Audit(t.Context(), domain.AuditRecord{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		odd.head = next
		odd.n--
	}
}

func wantCode(t *testing.T, what string, err error, typ string) {
	t.Helper()
	var e *domain.Error
	if !errors.As(err, &e) || e.Type != typ {
		t.Errorf("%s: %v, want %s", what, err, typ)
	}
}

// Whoever adds a table or a column decides whether it belongs into a backup.
func TestEveryColumnIsDumpedOrKnownNotToBe(t *testing.T) {
	t.Parallel()
	const sqlite = `SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`
	const postgres = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()`
	// Of the running servers and their readers, and the workers that register with them again; of the schema; and what was
	// recorded before the audit log was chained, which no version adds to.
	left := []string{"leases", "locks", "run_changes", "workers", "schema_migrations", "audit_log_unchained"}
	for query, s := range map[string]*gormstore.Store{sqlite: open(t), postgres: openPostgres(t)} {
		rows, err := s.Pool().QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				t.Fatal(err)
			}
			computed := query == postgres && column == "shard"
			if !slices.Contains(gormstore.DumpedColumns(), table+"."+column) && !slices.Contains(left, table) && !computed {
				t.Errorf("%s.%s would be lost by a backup", table, column)
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
	}
}

// Rows that no dump gives are refused, and none of them crashes the loading.
func TestForeignRowsAreRefused(t *testing.T) {
	t.Parallel()
	const route = `{"workflow_type":"a","content_hash":"b","routed_at":1}`
	for row, typ := range map[string]string{
		`nothing {}`:              "BackupBroken",
		`routes `:                 "BackupBroken",
		`routes {}`:               "BackupBroken",
		`routes []`:               "BackupBroken",
		`routes ` + route + route: "BackupBroken",
		`routes ` + route[:20]:    "BackupBroken",
		`routes {"workflow_type":"a","content_hash":"b","routed_at":1.5}`:                                                                              "BackupBroken",
		`routes {"workflow_type":"a","content_hash":"b","routed_at":true}`:                                                                             "BackupBroken",
		`routes {"workflow_type":"a","content_hash":"b","routed":1}`:                                                                                   "BackupBroken",
		`routes {"workflow_type":"a","content_hash":"b","routed_at":1,"x":1}`:                                                                          "BackupBroken",
		`events {"workflow_id":"a","seq":1,"run_id":"","type":"","recorded_at":1,"data":"` + base64.StdEncoding.EncodeToString([]byte("x"))[1:] + `"}`: "BackupBroken",
		`schema_migrations {"version":9}`:                                                                                                              "BackupBroken",
	} {
		wantCode(t, row, load(t.Context(), open(t), []string{row}), typ)
	}
	for name, s := range map[string]*gormstore.Store{"sqlite": open(t), "postgres": openPostgres(t)} {
		for _, row := range []string{`routes {"workflow_type":null,"content_hash":"b","routed_at":1}`, `routes {"workflow_type":"a","content_hash":"b","routed_at":"x"}`} {
			if err := load(t.Context(), s, []string{row}); domain.CodeOf(err) == "" {
				t.Errorf("%s: %s: %v", name, row, err)
			}
		}
	}
}

// A copy is a store of its own; it gives space back like the one that it was made of.
func TestACopyIsAStore(t *testing.T) {
	t.Parallel()
	s := open(t)
	everyCall(t, s)
	dir := privateDir(t)
	if own, err := s.Copy(t.Context(), filepath.Join(dir, "copy")); !own || err != nil {
		t.Fatal(own, err)
	}
	copied, err := gormstore.Open(t.Context(), at(filepath.Join(dir, "copy")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if d := cmp.Diff(dump(t, s), dump(t, copied)); d != "" {
		t.Error(d)
	}
	if v, err := copied.WriterSetting(t.Context(), "auto_vacuum"); fmt.Sprint(v) != "2" || err != nil {
		t.Error(v, err)
	}
	if own, err := openPostgres(t).Copy(t.Context(), filepath.Join(dir, "none")); own || err != nil {
		t.Error(own, err)
	}
	for range 8 { // every reading connection still refuses to write
		if _, err := s.Pool().ExecContext(t.Context(), `DELETE FROM routes`); err == nil {
			t.Fatal("a reading connection writes")
		}
	}
}

// A store that is there is replaced when it is empty, or moved aside.
func TestReplaceTakesNothingAway(t *testing.T) {
	t.Parallel()
	s, dir := open(t), privateDir(t)
	everyCall(t, s)
	from, path := filepath.Join(dir, "copy"), filepath.Join(dir, "aion.db")
	if _, err := s.Copy(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	openClose := func(path string) (n int) {
		t.Helper()
		s, err := gormstore.Open(t.Context(), at(path))
		if err != nil {
			t.Fatal(err)
		}
		n = len(dump(t, s))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	openClose(path) // an empty one
	if err := gormstore.Replace(t.Context(), at(path), from, ""); err != nil {
		t.Fatal(err)
	}
	full := openClose(path)
	wantCode(t, "one that is not empty", gormstore.Replace(t.Context(), at(path), from, ""), "StoreNotEmpty")
	if full == 0 || openClose(path) != full {
		t.Error("a refused replacement has changed the store")
	}
	if err := gormstore.Replace(t.Context(), at(path), from, ".before"); err != nil || openClose(path+".before") != full {
		t.Error(err)
	}
	owner, err := gormstore.Open(t.Context(), at(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	wantCode(t, "one that is open", gormstore.Replace(t.Context(), at(path), from, ".again"), "StoreLocked")
}
