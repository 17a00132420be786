package workspace_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/workspace"
	"aion/domain"
)

// server 45: a backup holds every document, what documents import, and earlier texts, and nothing else that lies there.
func TestFilesGoFromOneWorkspaceToAnother(t *testing.T) {
	t.Parallel()
	from, dir := open(t)
	save(t, from, "team/a.awl", "first")
	save(t, from, "team/a.awl", "second")
	save(t, from, "b.awl", "b")
	put(t, dir, "team/schema.json", []byte(`{}`))
	put(t, dir, "notes.txt", []byte("mine"))
	put(t, dir, ".git/config.awl", []byte("mine"))
	files := func(w *workspace.Workspace) map[string]string {
		got := map[string]string{}
		if err := w.Files(t.Context(), func(path string, body []byte) error { got[path] = string(body); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := files(from)
	if len(want) != 7 || want["team/a.awl"] != "second" || want["team/schema.json"] != "{}" || want["b.awl"] != "b" {
		t.Errorf("%v", want)
	}
	to, err := workspace.New(filepath.Join(t.TempDir(), "authoring"))
	if err != nil {
		t.Fatal(err)
	}
	for path, body := range want {
		if err := to.PutFile(t.Context(), path, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, files(to)); d != "" {
		t.Error(d)
	}
	texts, err := to.Revisions(t.Context(), "team/a.awl")
	if err != nil || len(texts) != 1 || texts[0].SavedBy != "ada" {
		t.Errorf("%v, %v", texts, err)
	}
	for _, path := range []string{"", "x", "../a.awl", "/a.awl", "a/../b.awl", ".hidden.awl", ".revisions/a.awl", ".revisions/../x-y", ".authors/a.awl", ".lock", "notes.txt", "a\x00.awl"} {
		var e *domain.Error
		if err := to.PutFile(t.Context(), path, nil); !errors.As(err, &e) || e.Type != "BackupBroken" {
			t.Errorf("%q: %v", path, err)
		}
	}
}
