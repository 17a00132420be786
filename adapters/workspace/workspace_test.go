package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aion/adapters/workspace"
	"aion/domain"
	"aion/domain/document"
	"aion/test/conformance"
)

// open gives a workspace that does not exist yet, and where it will be.
func open(t testing.TB) (*workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home", "authoring")
	w, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w, dir
}

func put(t testing.TB, dir, name string, body []byte) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	for _, d := range []string{dir, filepath.Dir(full)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(full, body, 0o600); err != nil {
		t.Fatal(err)
	}
}

func save(t testing.TB, w *workspace.Workspace, path document.Path, body string) {
	t.Helper()
	if _, err := w.WriteDocument(t.Context(), path, []byte(body), "ada", nil); err != nil {
		t.Fatal(err)
	}
}

func wantType(t testing.TB, err error, typ string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // a port gives the refusal itself
	if !ok || e.Type != typ {
		t.Errorf("got %v, want a refusal of type %s", err, typ)
	}
}

func TestWorkspaceKeepsThePortsPromise(t *testing.T) {
	t.Parallel()
	conformance.DocumentStore(t, func(tb testing.TB) conformance.Files {
		w, dir := open(tb)
		return conformance.Files{DocumentStore: w, RevisionStore: w, Put: func(name string, body []byte) { put(tb, dir, name, body) }}
	})
}

func TestWorkspaceWithoutADirectoryIsNotConfigured(t *testing.T) { // mcp 61
	t.Parallel()
	w, err := workspace.New("")
	if err != nil {
		t.Fatal(err)
	}
	_, list := w.Documents(t.Context())
	_, read := w.ReadDocument(t.Context(), "a.awl")
	_, imported := w.ReadImport(t.Context(), "a.awl", "a.json")
	_, written := w.WriteDocument(t.Context(), "a.awl", nil, "ada", nil)
	for _, err := range []error{list, read, imported, written} {
		wantType(t, err, "WorkspaceUnconfigured")
		if domain.CodeOf(err) != domain.CodeNotConfigured || !strings.Contains(err.Error(), "authoring.workspace_dir") {
			t.Errorf("refusal %v", err)
		}
	}
}

func TestWorkspaceIsPrivate(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	save(t, w, "team/a.awl", "one")
	save(t, w, "team/a.awl", "two")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = workspace.New(dir)
	wantType(t, err, "WorkspaceMisplaced")
	if !strings.Contains(err.Error(), "chmod 700 "+dir) {
		t.Errorf("refusal %v names no fix", err)
	}
	_, err = w.ReadDocument(t.Context(), "team/a.awl")
	wantType(t, err, "DocumentIoError")
}

func TestWorkspaceRefusesWhatIsNoDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "file", nil)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "file"), link} {
		_, err := workspace.New(path)
		wantType(t, err, "WorkspaceMisplaced")
	}
}

func TestLinksAreNeitherFollowedNorWritten(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	outside := t.TempDir()
	put(t, outside, "secret.awl", []byte("secret"))
	put(t, outside, "secret.json", []byte("{}"))
	put(t, dir, "real/a.awl", []byte("mine"))
	put(t, dir, "real/a.json", []byte("{}"))
	for link, target := range map[string]string{
		"leaf.awl": filepath.Join(outside, "secret.awl"), "leaf.json": filepath.Join(outside, "secret.json"), "folder": outside,
		"inner.awl": "real/a.awl", "inner": "real", "inner.json": "real/a.json", "dangling.awl": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := w.Documents(t.Context())
	if err != nil || len(list) != 1 || list[0].Path != "real/a.awl" {
		t.Errorf("list %v, %v", list, err)
	}
	for _, p := range []document.Path{"leaf.awl", "folder/secret.awl", "inner.awl", "inner/a.awl", "dangling.awl"} {
		_, err := w.ReadDocument(t.Context(), p)
		wantType(t, err, "DocumentNotFound")
		_, err = w.WriteDocument(t.Context(), p, []byte("overwritten"), "ada", nil)
		wantType(t, err, "DocumentPathInvalid")
	}
	for _, relative := range []string{"leaf.json", "inner.json", "folder/secret.json", "inner/a.json"} {
		_, err := w.ReadImport(t.Context(), "x.awl", relative)
		wantType(t, err, "DocumentNotFound")
	}
	for name, want := range map[string]string{"secret.awl": "secret"} {
		if got, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(got) != want {
			t.Errorf("%s outside the workspace is now %q, %v", name, got, err)
		}
	}
}

func TestWhatIsNoPlainFileIsNoDocument(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	put(t, dir, "folder.awl/a.awl", []byte("x"))
	put(t, dir, "file.awl", []byte("x"))
	if err := unix.Mkfifo(filepath.Join(dir, "pipe.awl"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []document.Path{"folder.awl", "pipe.awl", "file.awl/b.awl"} {
		_, err := w.ReadDocument(t.Context(), p) // a pipe does not block
		wantType(t, err, "DocumentNotFound")
		_, err = w.WriteDocument(t.Context(), p, []byte("y"), "ada", nil)
		wantType(t, err, "DocumentPathInvalid")
	}
	put(t, dir, "huge.awl", make([]byte, document.MaxBytes+1))
	_, err := w.ReadDocument(t.Context(), "huge.awl")
	wantType(t, err, "DocumentIoError")
}

func TestEveryReplacedTextStaysAsARevision(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	for _, body := range []string{"one", "two", "two", "three"} { // the second "two" changes nothing
		save(t, w, "team/a.awl", body)
	}
	kept, err := filepath.Glob(filepath.Join(dir, ".revisions", "team", "a.awl", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, name := range kept {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	slices.Sort(bodies)
	if !slices.Equal(bodies, []string{"one", "two"}) {
		t.Errorf("revisions %q in %q", bodies, kept)
	}
}

func TestAHalfWrittenTextOfADeadProcessIsReplaced(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	save(t, w, "a.awl", "one")
	put(t, dir, ".a.awl.new", []byte("half"))
	save(t, w, "a.awl", "two")
	if body, err := w.ReadDocument(t.Context(), "a.awl"); err != nil || string(body) != "two" {
		t.Errorf("read %q, %v", body, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".a.awl.new")); !os.IsNotExist(err) {
		t.Errorf("the half-written text is still there: %v", err)
	}
}

func TestAPathThatIsNoneLeadsNowhere(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	save(t, w, "a.awl", "one")
	put(t, filepath.Dir(dir), "out.awl", []byte("outside"))
	for _, p := range []document.Path{"../out.awl", "x/../../out.awl", "//out.awl", ""} {
		if body, err := w.ReadDocument(t.Context(), p); err == nil {
			t.Errorf("%q gave %q", p, body)
		}
		if _, err := w.WriteDocument(t.Context(), p, []byte("x"), "ada", nil); err == nil {
			t.Errorf("%q was written", p)
		}
	}
	if body, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "out.awl")); string(body) != "outside" {
		t.Errorf("the file outside is now %q", body)
	}
}

// FuzzPathsStayInside shows that no text, valid path or not, reaches a file outside the workspace.
func FuzzPathsStayInside(f *testing.F) {
	for _, p := range []string{"a.awl", "../outside.awl", "x/../../outside.awl", "/outside.awl", ".", "..", "", "a/..", "link/outside.awl", "a\x00b.awl", ".lock", ".revisions/a.awl"} {
		f.Add(p)
	}
	base := f.TempDir()
	dir := filepath.Join(base, "inside")
	put(f, base, "outside.awl", []byte("outside"))
	put(f, dir, "a.awl", []byte("inside"))
	if err := os.Symlink(base, filepath.Join(dir, "link")); err != nil {
		f.Fatal(err)
	}
	w, err := workspace.New(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if body, err := w.ReadDocument(t.Context(), document.Path(p)); err == nil && string(body) == "outside" {
			t.Errorf("%q reads outside", p)
		}
		if body, err := w.ReadImport(t.Context(), document.Path(p), p); err == nil && string(body) == "outside" {
			t.Errorf("%q imports from outside", p)
		}
		if _, err := document.ParsePath(p); err != nil { // what no door lets in may fail, but must stay inside as well
			_, _ = w.WriteDocument(t.Context(), document.Path(p), []byte("inside"), "ada", nil)
			if body, err := os.ReadFile(filepath.Join(base, "outside.awl")); err != nil || string(body) != "outside" {
				t.Fatalf("%q writes outside: %q, %v", p, body, err)
			}
		}
	})
}
