package conformance

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"aion/domain"
	"aion/domain/document"
)

// texts are the kept texts of a document, newest first.
func texts(t *testing.T, s Files, path document.Path) []string {
	t.Helper()
	list, err := s.Revisions(t.Context(), path)
	var bodies []string
	for i, r := range must(t, list, err) {
		body, err := s.ReadRevision(t.Context(), path, r)
		must(t, body, err)
		if r.SHA256 != fmt.Sprintf("%x", sha256.Sum256(body)) || r.Bytes != int64(len(body)) || r.SavedAt.IsZero() {
			t.Errorf("%s of %s is %q", r.SHA256, path, body)
		}
		if i > 0 && r.SavedAt.After(list[i-1].SavedAt) {
			t.Errorf("revision %d of %s is newer than the one before it", i, path)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

func removedDocument(t *testing.T, s Files) { // server 14
	wantCode(t, s.DeleteDocument(t.Context(), "a/b.awl", nil), domain.CodeNotFound, "DocumentNotFound")
	write(t, s, "a/b.awl", "one", true)
	write(t, s, "a/c.awl", "other", true)
	no := errors.New("no")
	var seen []byte
	refuse := func(present []byte) error { seen = present; return no }
	if err := s.DeleteDocument(t.Context(), "a/b.awl", refuse); !errors.Is(err, no) || string(seen) != "one" {
		t.Errorf("%v after seeing %q", err, seen)
	}
	same(t, "after a refusal", read(t, s, "a/b.awl"), "one")
	if err := s.DeleteDocument(t.Context(), "a/b.awl", nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.ReadDocument(t.Context(), "a/b.awl")
	wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
	_, err = s.Saved(t.Context(), "a/b.awl")
	wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
	wantCode(t, s.DeleteDocument(t.Context(), "a/b.awl", nil), domain.CodeNotFound, "DocumentNotFound")
	same(t, "its text", texts(t, s, "a/b.awl"), []string{"one"})
	paths, err := s.Revised(t.Context())
	same(t, "revised", must(t, paths, err), []document.Path{"a/b.awl"})
	same(t, "the other", read(t, s, "a/c.awl"), "other")
	write(t, s, "a/b.awl", "two", true)
	same(t, "its earlier text", texts(t, s, "a/b.awl"), []string{"one"})
}

func keptTexts(t *testing.T, s Files) {
	none, err := s.Revised(t.Context())
	same(t, "of a fresh workspace", len(must(t, none, err)), 0)
	for i, body := range []string{"1", "", "3\xff\x00", "3\xff\x00"} { // the last one changes nothing
		write(t, s, "x/y/z.awl", body, i == 0)
	}
	write(t, s, "b.awl", "only one", true)
	now, err := s.Saved(t.Context(), "x/y/z.awl")
	must(t, now, err)
	same(t, "the present text", now.SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte("3\xff\x00"))))
	same(t, "its size", now.Bytes, int64(3))
	list, err := s.Documents(t.Context())
	same(t, "when it was saved", now.SavedAt, must(t, list, err)[1].ModifiedAt)
	if got := texts(t, s, "x/y/z.awl"); len(got) != 2 || got[0]+got[1] != "1" {
		t.Errorf("%q", got)
	}
	same(t, "of one that was never replaced", len(texts(t, s, "b.awl")), 0)
	paths, err := s.Revised(t.Context())
	same(t, "revised", must(t, paths, err), []document.Path{"x/y/z.awl"})
}

func noRevision(t *testing.T, s Files) {
	same(t, "of no document", len(texts(t, s, "never.awl")), 0)
	write(t, s, "a.awl", "1", true)
	write(t, s, "a.awl", "2", false)
	list, err := s.Revisions(t.Context(), "a.awl")
	must(t, list, err)
	other := list[0]
	other.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte("never")))
	for path, r := range map[document.Path]document.Revision{"a.awl": other, "never.awl": list[0]} {
		_, err := s.ReadRevision(t.Context(), path, r)
		wantCode(t, err, domain.CodeNotFound, "RevisionNotFound")
	}
}
