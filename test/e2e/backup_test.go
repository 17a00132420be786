package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/postgres"
)

// report is what `backup verify`, `backup restore` and `store check` say.
func (e ended) report(t *testing.T) map[string]any {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(e.stdout), &r); err != nil || e.code != 0 || r["ok"] != true {
		t.Fatalf("exit code %d: %s%s", e.code, e.stdout, e.stderr)
	}
	delete(r, "moved_aside")
	return r
}

// server 45: a backup of a server under load restores to a store whose report is equal, on SQLite, by way of Postgres, and on
// SQLite again; the restored server goes on.
func TestABackupUnderLoadRestoresEverywhere(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	c := connect(t, s)
	c.deploy("hello.awl", fixture(t, "hello.awl"))
	stop := make(chan struct{})
	var load sync.WaitGroup
	for n := range 4 {
		load.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					c.start("hello", map[string]any{"name": fmt.Sprint(n, i)})
				}
			}
		})
	}
	eventually(t, "the load runs", func() bool { return s.samples(t)[`aion_audit_records_total{action="run.start",outcome="ok"}`] > 40 })
	made := aion(t, home, "backup", "create", "-o", "json")
	close(stop)
	load.Wait()
	var file struct{ File string }
	if err := json.Unmarshal([]byte(made.stdout), &file); err != nil || made.code != 0 {
		t.Fatalf("%+v", made)
	}
	backup := filepath.Join(home, "backups", file.File)
	want := aion(t, home, "backup", "verify", backup, "-o", "json").report(t)
	// The document and who saved it are two files.
	if want["workflows"].(float64) < 40 || want["documents"] != 2.0 || want["unreplayed"] != 0.0 {
		t.Errorf("%v", want)
	}
	if e := aion(t, home, "backup", "restore", backup, "--replace"); e.code != 3 || !strings.Contains(e.stderr, "is in use by process") {
		t.Errorf("a store that a server has open: %+v", e)
	}

	same := func(what string, got map[string]any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	other := newHome(t)
	same("restored", aion(t, other, "backup", "restore", backup, "-o", "json").report(t))
	if e := aion(t, other, "backup", "restore", backup); e.code != 2 || !strings.Contains(e.stderr, "holds documents already") {
		t.Errorf("a second restore: %+v", e)
	}
	same("replaced", aion(t, other, "backup", "restore", backup, "--replace", "-o", "json").report(t))
	portable := filepath.Join(t.TempDir(), "p.tar")
	if e := aion(t, other, "backup", "create", "--portable", portable); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	third := newHome(t)
	config := filepath.Join(filepath.Dir(third), "postgres.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "store: {backend: postgres, dsn: %q}\n", postgres.Database(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	same("on Postgres", aion(t, third, "--config", config, "backup", "restore", portable, "-o", "json").report(t))
	back := filepath.Join(t.TempDir(), "back.tar")
	if e := aion(t, third, "--config", config, "backup", "create", back); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	fourth := newHome(t)
	same("on SQLite again", aion(t, fourth, "backup", "restore", back, "-o", "json").report(t))
	again := connect(t, serve(t, fourth))
	id := again.start("hello", map[string]any{"name": "Ada"})
	if d := again.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("%v", d)
	}

	bad, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	bad[len(bad)/2] ^= 4
	if err := os.WriteFile(portable, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := aion(t, home, "backup", "verify", portable); e.code != 1 || !strings.Contains(e.stderr, "store/aion.db") {
		t.Errorf("a flipped bit: %+v", e)
	}
}
