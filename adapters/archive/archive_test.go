package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/archive"
	"aion/domain"
	"aion/ports"
)

var at = time.Date(2026, time.July, 28, 10, 0, 0, 0, time.UTC)

// made is a backup with members of each kind.
func made(t testing.TB) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(file, bytes.Repeat([]byte("SQLite"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := archive.Stream(&out, t.TempDir(), at, func(w *archive.Writer, _ string) error {
		for name, text := range map[string]string{archive.Table("runs"): "{\"a\":1}\n{\"a\":2}\n"} {
			if err := member(w, name, text); err != nil {
				return err
			}
		}
		if err := w.AddFile(archive.StoreFile, file); err != nil {
			return err
		}
		if err := errors.Join(member(w, archive.Table("events"), ""), member(w, archive.Documents+"team/a.awl", "text"), member(w, archive.Documents+".revisions/a.awl/x", "")); err != nil {
			return err
		}
		return w.Finish(ports.Manifest{Format: 1, CreatedAt: at, Version: "v", Counts: map[string]int64{"runs": 2}, Heads: []domain.AuditHead{{Chain: "c", N: 1, Hash: "h"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func member(w *archive.Writer, name, text string) error {
	out, err := w.Member(name)
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

func extract(t testing.TB, backup []byte) (ports.Manifest, string, error) {
	t.Helper()
	file, dir := filepath.Join(t.TempDir(), "b.tar"), t.TempDir()
	if err := os.WriteFile(file, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := archive.Extract(context.Background(), file, dir)
	return m, dir, err
}

func TestABackupComesBackWhole(t *testing.T) { // server 45
	t.Parallel()
	m, dir, err := extract(t, made(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Members) != 5 || m.Version != "v" || !m.CreatedAt.Equal(at) || m.Heads[0].N != 1 || m.Counts["runs"] != 2 {
		t.Errorf("%+v", m)
	}
	for name, want := range map[string]string{"documents/team/a.awl": "text", "store/aion.db": strings.Repeat("SQLite", 500)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	next, stop := archive.Rows(dir, m)
	defer stop()
	var rows []string
	for {
		table, line, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, table+" "+string(line))
	}
	if d := cmp.Diff([]string{`runs {"a":1}`, `runs {"a":2}`}, rows); d != "" {
		t.Error(d)
	}
}

// wantBroken checks that a backup is refused and that the refusal names something.
func wantBroken(t testing.TB, what, names string, err error) {
	t.Helper()
	var e *domain.Error
	if !errors.As(err, &e) || e.Type != "BackupBroken" || !strings.Contains(e.Message, names) {
		t.Errorf("%s: %v, want %q", what, err, names)
	}
}

// server 45: a bit that is flipped in a member is found, and the member is named.
func TestAFlippedBitInEachMemberIsFound(t *testing.T) {
	t.Parallel()
	whole := made(t)
	in, offset := tar.NewReader(bytes.NewReader(whole)), 0
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		offset += bytes.Index(whole[offset:], append([]byte(nil), body...))
		for i := range body {
			if len(body) > 1000 && i%97 != 0 {
				continue
			}
			bad := bytes.Clone(whole)
			bad[offset+i] ^= 1 << (i % 8)
			_, _, err := extract(t, bad)
			names := h.Name
			if names == "manifest.json" {
				names = "" // what it says may be missing, or another
			}
			wantBroken(t, fmt.Sprintf("%s, byte %d", h.Name, i), names, err)
		}
	}
}

func TestACutBackupIsFound(t *testing.T) {
	t.Parallel()
	whole := made(t)
	for n := 0; n < len(bytes.TrimRight(whole, "\x00")); n += 251 { // behind the manifest come zeros
		_, _, err := extract(t, whole[:n])
		wantBroken(t, fmt.Sprintf("%d bytes", n), "", err)
	}
}

// Hostile archives are refused by the name of the member, and nothing leaves the directory.
func TestHostileArchivesAreRefused(t *testing.T) {
	t.Parallel()
	file := func(name, body string) func(*tar.Writer) {
		return func(w *tar.Writer) {
			_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(body)), Mode: 0o600, Typeflag: tar.TypeReg})
			_, _ = w.Write([]byte(body))
		}
	}
	link := func(kind byte, name, to string) func(*tar.Writer) {
		return func(w *tar.Writer) { _ = w.WriteHeader(&tar.Header{Name: name, Linkname: to, Typeflag: kind}) }
	}
	huge := func(name string) func(*tar.Writer) {
		return func(w *tar.Writer) {
			_ = w.WriteHeader(&tar.Header{Name: name, Size: 1 << 40, Mode: 0o600, Typeflag: tar.TypeReg})
		}
	}
	for name, c := range map[string]struct {
		parts []func(*tar.Writer)
		names string
	}{
		"nothing":                    {nil, "without a manifest"},
		"a way out":                  {[]func(*tar.Writer){file("documents/../../x.awl", "x")}, "name that no backup has"},
		"an absolute path":           {[]func(*tar.Writer){file("/etc/x", "x")}, "/etc/x"},
		"another name":               {[]func(*tar.Writer){file("store/x.sh", "x")}, "store/x.sh"},
		"a table in capitals":        {[]func(*tar.Writer){file("store/X.jsonl", "x")}, "store/X.jsonl"},
		"a link":                     {[]func(*tar.Writer){link(tar.TypeSymlink, "documents/a.awl", "/etc/passwd")}, "no plain file"},
		"a hard link":                {[]func(*tar.Writer){link(tar.TypeLink, "documents/a.awl", "store/aion.db")}, "no plain file"},
		"a directory":                {[]func(*tar.Writer){link(tar.TypeDir, "documents/a/", "")}, "no plain file"},
		"a device":                   {[]func(*tar.Writer){link(tar.TypeChar, "documents/a.awl", "")}, "no plain file"},
		"one twice":                  {[]func(*tar.Writer){file("store/aion.db", "x"), file("store/aion.db", "y")}, "there twice"},
		"a huge member":              {[]func(*tar.Writer){huge("store/aion.db")}, "too much"},
		"a huge document":            {[]func(*tar.Writer){file("documents/a.awl", strings.Repeat("x", 3<<20))}, "too much"},
		"no manifest":                {[]func(*tar.Writer){file("store/aion.db", "x")}, "without a manifest"},
		"a manifest of another kind": {[]func(*tar.Writer){file("manifest.json", `{"format":2}`)}, "format 2"},
		"a manifest by hand":         {[]func(*tar.Writer){file("manifest.json", `{"format":1}`)}, "changed"},
		"a manifest in words":        {[]func(*tar.Writer){file("manifest.json", `hello`)}, "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := tar.NewWriter(&out)
			for _, part := range c.parts {
				part(w)
			}
			_ = w.Close() // of a huge member that is not there: it stays cut
			_, _, err := extract(t, out.Bytes())
			wantBroken(t, name, c.names, err)
		})
	}
	for _, swap := range [][2]string{{"team/a.awl", "team/b.awl"}} { // a name that was changed, with its checksum
		bad := bytes.Replace(made(t), []byte("documents/"+swap[0]), []byte("documents/"+swap[1]), 1)
		_, _, err := extract(t, bad)
		wantBroken(t, "a changed name", "", err)
	}
	more := append(bytes.Clone(made(t)[:len(made(t))-1024]), func() []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		file("store/aion.db", "x")(w)
		_ = w.Close()
		return out.Bytes()
	}()...)
	_, _, err := extract(t, more)
	wantBroken(t, "something behind the manifest", "follows", err)
}

func FuzzNoArchiveIsTakenThatWasNotMade(f *testing.F) {
	whole := made(f)
	f.Add(whole)
	f.Fuzz(func(t *testing.T, backup []byte) {
		m, _, err := extract(t, backup)
		var e *domain.Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("%v", err)
		case err == nil && len(m.Members) > len(backup):
			t.Errorf("%d members", len(m.Members))
		}
	})
}

func TestAFolderKeepsTheNewest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backups")
	folder := archive.Folder{Dir: dir, Keep: 2}
	if list, err := folder.Backups(); len(list) > 0 || err != nil {
		t.Error(list, err)
	}
	save := func(n int) (ports.Backup, error) {
		name := archive.Name(at.Add(time.Duration(n) * time.Second))
		path := filepath.Join(dir, name)
		s, err := folder.Save(name, at, func(w ports.ArchiveWriter, scratch string) error {
			if n < 0 {
				return errors.Join(os.WriteFile(scratch, nil, 0o600), errors.New("broke off"))
			}
			return w.Finish(ports.Manifest{Format: 1})
		})
		if err == nil {
			err = os.Chtimes(path, at.Add(time.Duration(n)*time.Second), at.Add(time.Duration(n)*time.Second))
		}
		return s, err
	}
	for n := range 4 {
		if s, err := save(n); err != nil || len(s.SHA256) != 64 || s.Bytes == 0 {
			t.Fatal(s, err)
		}
	}
	if _, err := save(3); err == nil {
		t.Error("a backup was written over another")
	}
	if _, err := save(-1); err == nil {
		t.Error("one that broke off counts")
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Error(info, err)
		}
	}
	want := []string{"aion-20260728T100002Z.tar", "aion-20260728T100002Z.tar.sha256", "aion-20260728T100003Z.tar", "aion-20260728T100003Z.tar.sha256", "mine.tar"}
	if d := cmp.Diff(want, names); d != "" || err != nil {
		t.Error(d, err)
	}
	list, err := folder.Backups()
	if err != nil || len(list) != 3 || list[1].File != want[2] || list[1].SHA256 == "" || list[0].SHA256 != "" {
		t.Errorf("%+v, %v", list, err)
	}
}
