package gormstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/test/fake"
)

func oneCommit(c *chain) []history.Commit { return []history.Commit{c.next()} }

func at(path string) gormstore.Options {
	return gormstore.Options{Path: path, Clock: fake.NewClock(time.Time{})}
}

func TestStoreNeedsAPrivateDirectory(t *testing.T) {
	t.Parallel()
	base := privateDir(t)
	loose, file, link := filepath.Join(base, "loose"), filepath.Join(base, "file"), filepath.Join(base, "link")
	if err := os.Mkdir(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	for dir, words := range map[string][]string{
		loose:                          {loose + " has mode 0755 and must be private: put the store into a folder of its own (mkdir -m 700 " + loose + "/store), or run: chmod 700 " + loose},
		file:                           {file + " is not a directory"},
		link:                           {link + " is a link"},
		filepath.Join(base, "nowhere"): {"mkdir -m 700 " + filepath.Join(base, "nowhere")},
	} {
		_, err := gormstore.Open(t.Context(), at(filepath.Join(dir, "aion.db")))
		wantRefusal(t, err, domain.CodeInvalidInput, "StoreMisplaced", words...)
	}
	entries, err := os.ReadDir(loose)
	if err != nil || len(entries) != 0 {
		t.Errorf("a refused place holds %v, %v", entries, err)
	}
}

func TestLinksForStoreFilesAreRefused(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		path := filepath.Join(privateDir(t), "aion.db")
		target := filepath.Join(t.TempDir(), "target")
		if err := os.Symlink(target, path+suffix); err != nil {
			t.Fatal(err)
		}
		_, err := gormstore.Open(t.Context(), at(path))
		wantRefusal(t, err, domain.CodeInvalidInput, "StoreMisplaced", path+suffix, "not a regular file")
		if _, err := os.Lstat(target); !os.IsNotExist(err) {
			t.Errorf("the link of %q was followed: %v", suffix, err)
		}
	}
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	o := options(t)
	if err := os.WriteFile(o.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(o.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, o)
	if err := s.Append(t.Context(), oneCommit(chains(1)[0]))[0]; err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(o.Path))
	if err != nil || len(entries) != 4 { // database, log, shared memory, lock
		t.Errorf("files %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// asUser runs f in a thread that reaches files as another user; the thread ends with it.
func asUser(uid int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		if err := syscall.Setfsuid(uid); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

func TestUnwritableDirectoryIsNamedWithItsFix(t *testing.T) { // report 84
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	o := options(t)
	dir := filepath.Dir(o.Path)
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) { // the other user may look, but not write
		if d != dir {
			if err := os.Chmod(d, 0o711); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := asUser(54321, func() error {
		s, err := gormstore.Open(context.Background(), o)
		if err == nil {
			return s.Close()
		}
		return err
	})
	wantRefusal(t, err, domain.CodeUnavailable, "StoreReadOnly", dir, "owner uid 0", fmt.Sprintf("uid %d", os.Geteuid()), "chown")
	if strings.Contains(err.(*domain.Error).Message, "\n") { //nolint:errorlint,forcetypeassert // checked above
		t.Error("more than one line")
	}
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	text := at(filepath.Join(privateDir(t), "notes.txt"))
	if err := os.WriteFile(text.Path, []byte("not a database, but longer than a header"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := gormstore.Open(t.Context(), text)
	wantRefusal(t, err, domain.CodeBackend, "StoreFault", "does not begin like a SQLite file", "aion backup restore FILE")

	foreign := at(filepath.Join(privateDir(t), "other.db"))
	db, err := sql.Open("sqlite3", foreign.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE cookies (name TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = gormstore.Open(t.Context(), foreign)
	wantRefusal(t, err, domain.CodeInvalidInput, "StoreMisplaced", "another program")
}

func TestDamagedFileIsRefusedAfterAnUncleanStop(t *testing.T) { // engine 21
	t.Parallel()
	o := options(t)
	s := mustOpen(t, o)
	cs := chains(64)
	for range 8 {
		var group []history.Commit
		for _, c := range cs {
			group = append(group, c.next())
		}
		for _, err := range s.Append(t.Context(), group) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), body...)
	for i := len(damaged) / 2; i < len(damaged)/2+3*4096; i++ {
		damaged[i] ^= 0xff
	}
	if err := os.WriteFile(o.Path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Path+".lock", []byte(`{"pid":1}`), 0o600); err != nil { // left by an owner that died
		t.Fatal(err)
	}
	for range 2 { // the refusal does not count as a clean stop
		_, err = gormstore.Open(t.Context(), o)
		wantRefusal(t, err, domain.CodeBackend, "StoreFault", o.Path+" is damaged", "aion backup restore FILE")
	}
	if err := os.WriteFile(o.Path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	restored := mustOpen(t, o)
	if head, err := restored.Head(t.Context(), cs[0].id); err != nil || head != cs[0].head {
		t.Errorf("head %d, %v; want %d", head, err, cs[0].head)
	}
}

func TestNewerSchemaIsRefusedByNumber(t *testing.T) { // engine 19
	t.Parallel()
	o := options(t)
	s := mustOpen(t, o)
	if err := s.Write(t.Context(), `INSERT INTO schema_migrations (version, name, applied_at) VALUES (31, 'later', 1)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := gormstore.Open(t.Context(), o)
	wantRefusal(t, err, domain.CodeInvalidState, "SchemaNewer", fmt.Sprintf("has schema 31; this binary knows up to %d", gormstore.SchemaVersion()))
}

func TestReopenedStoreHoldsWhatItHeld(t *testing.T) {
	t.Parallel()
	o := options(t)
	c := chains(1)[0]
	for range 3 {
		s := mustOpen(t, o)
		if err := s.Append(t.Context(), oneCommit(c))[0]; err != nil {
			t.Fatal(err)
		}
		if head, err := s.Head(t.Context(), c.id); err != nil || head != c.head {
			t.Errorf("head %d, %v; want %d", head, err, c.head)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
