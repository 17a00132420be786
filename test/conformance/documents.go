package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aion/domain"
	"aion/domain/document"
	"aion/ports"
)

// Files is a document store with the hand of someone who works on the same files.
type Files struct {
	ports.DocumentStore
	ports.RevisionStore
	// Put lays a plain file at a path relative to the workspace.
	Put func(name string, body []byte)
}

// DocumentStore runs the suite of ports.DocumentStore and ports.RevisionStore.
func DocumentStore(t *testing.T, open func(testing.TB) Files) {
	run(t, open, map[string]func(*testing.T, Files){
		"a fresh workspace is empty":                       emptyWorkspace,
		"bytes come back as they were saved":               bytesReturn,
		"documents are listed in byte order":               documentList,
		"files that are no documents are not listed":       otherFiles,
		"the present bytes decide whether a save may go":   expectedBytes,
		"a text knows who saved it":                        savedBy,
		"20 savers with one base: one wins":                oneSaverWins,
		"imports are read from the document's folder":      imports,
		"a removed document is gone, and its text is kept": removedDocument,
		"every replaced text is kept, newest first":        keptTexts,
		"a text that was never kept is not found":          noRevision,
		"readers see the old bytes or the new ones, whole": wholeReads,
	})
}

func write(t *testing.T, s Files, path document.Path, body string, wantCreated bool) {
	t.Helper()
	created, err := s.WriteDocument(t.Context(), path, []byte(body), "ada", nil)
	same(t, "created", must(t, created, err), wantCreated)
}

func read(t *testing.T, s Files, path document.Path) string {
	t.Helper()
	body, err := s.ReadDocument(t.Context(), path)
	return string(must(t, body, err))
}

func emptyWorkspace(t *testing.T, s Files) { // mcp 59
	list, err := s.Documents(t.Context())
	same(t, "documents", must(t, list, err), []document.Entry(nil))
	_, err = s.ReadDocument(t.Context(), "never.awl")
	wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
	if !strings.Contains(err.Error(), "never.awl") || !strings.Contains(err.Error(), "list_documents") {
		t.Errorf("the refusal %q does not name the path and list_documents", err)
	}
	_, err = s.ReadImport(t.Context(), "never.awl", "a.json")
	wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
}

func bytesReturn(t *testing.T, s Files) {
	for i, body := range []string{"workflow A\n", "", "no line end", "\xff\x00\r\n\t", strings.Repeat("x", document.MaxBytes)} {
		path := document.Path(fmt.Sprintf("dir/sub/d%d.awl", i))
		write(t, s, path, body, true)
		if got := read(t, s, path); got != body {
			t.Errorf("%s came back changed: %d bytes, were %d", path, len(got), len(body))
		}
		write(t, s, path, body+"", false) // the same once more
		write(t, s, path, "other", false)
		same(t, "after the second save", read(t, s, path), "other")
	}
}

func documentList(t *testing.T, s Files) {
	paths := []document.Path{"b.awl", "a/z.awl", "a.awl", "B.awl", "a-b.awl", "a/y/x.awl"}
	for i, p := range paths {
		write(t, s, p, strings.Repeat("x", i), true)
	}
	list, err := s.Documents(t.Context())
	must(t, list, err)
	for i := range list {
		if list[i].ModifiedAt.IsZero() || list[i].ContentHash != "" {
			t.Errorf("%s: modified at %v, content hash %q", list[i].Path, list[i].ModifiedAt, list[i].ContentHash)
		}
		if want := slices.Index(paths, list[i].Path); list[i].Bytes != int64(want) {
			t.Errorf("%s has %d bytes, want %d", list[i].Path, list[i].Bytes, want)
		}
	}
	got := make([]document.Path, len(list))
	for i, e := range list {
		got[i] = e.Path
	}
	slices.Sort(paths)
	same(t, "paths", got, paths)
}

func otherFiles(t *testing.T, s Files) {
	write(t, s, "a.awl", "x", true)
	write(t, s, "a.awl", "y", false) // leaves a revision
	s.Put("README.md", []byte("x"))
	s.Put("a.json", []byte("{}"))
	s.Put("sub/tool.AWL", []byte("x"))
	list, err := s.Documents(t.Context())
	same(t, "number of documents", len(must(t, list, err)), 1)
}

func expectedBytes(t *testing.T, s Files) {
	no := &domain.Error{Code: domain.CodeInvalidInput, Type: "RevisionMismatch", Message: "no"}
	var seen []string
	save := func(body string, answer error) (bool, error) {
		return s.WriteDocument(t.Context(), "a.awl", []byte(body), "ada", func(present []byte) error {
			seen = append(seen, fmt.Sprintf("%v %s", present == nil, present))
			return answer
		})
	}
	_, err := save("one", no)
	wantCode(t, err, domain.CodeInvalidInput, "RevisionMismatch")
	_, err = s.ReadDocument(t.Context(), "a.awl")
	wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
	created, err := save("one", nil)
	same(t, "created", must(t, created, err), true)
	_, err = save("two", no)
	wantCode(t, err, domain.CodeInvalidInput, "RevisionMismatch")
	same(t, "after a refused save", read(t, s, "a.awl"), "one")
	created, err = save("", nil)
	same(t, "created", must(t, created, err), false)
	_, err = save("three", nil)
	must(t, 0, err)
	same(t, "present bytes", seen, []string{"true ", "true ", "false one", "false one", "false "})
}

func oneSaverWins(t *testing.T, s Files) {
	write(t, s, "a.awl", "base", true)
	stale := errors.New("stale")
	errs := together(20, func(n int) error {
		_, err := s.WriteDocument(t.Context(), "a.awl", fmt.Appendf(nil, "saver %d", n), "ada", func(present []byte) error {
			if !bytes.Equal(present, []byte("base")) {
				return stale
			}
			return nil
		})
		return err
	})
	won := 0
	for n, err := range errs {
		switch {
		case err == nil:
			won++
			same(t, "the winner's text", read(t, s, "a.awl"), fmt.Sprint("saver ", n))
		case !errors.Is(err, stale):
			t.Error(err)
		}
	}
	same(t, "savers that won", won, 1)
}

func imports(t *testing.T, s Files) {
	s.Put("team/schemas/ticket.json", []byte(`{"type":"object"}`))
	s.Put("big.json", bytes.Repeat([]byte("x"), document.MaxImportBytes+100))
	s.Put("secret.txt", []byte("x"))
	get := func(path document.Path, relative string) (string, error) {
		body, err := s.ReadImport(t.Context(), path, relative)
		return string(body), err
	}
	body, err := get("team/a.awl", "schemas/ticket.json")
	same(t, "import", must(t, body, err), `{"type":"object"}`)
	body, err = get("a.awl", "team/schemas/ticket.json")
	same(t, "import", must(t, body, err), `{"type":"object"}`)
	body, err = get("a.awl", "big.json")
	same(t, "bytes of a large import", len(must(t, body, err)), document.MaxImportBytes+1)
	for _, relative := range []string{
		"ticket.json", "../big.json", "/etc/hostname", "secret.txt", "schemas", "schemas/ticket.json/x.json", "", ".", "team/../big.json",
		"a\x00b.json", ".revisions/a.awl/x.json",
	} {
		_, err := get("team/a.awl", relative)
		wantCode(t, err, domain.CodeNotFound, "DocumentNotFound")
	}
}

func wholeReads(t *testing.T, s Files) {
	versions := []string{strings.Repeat("a", 300_000), strings.Repeat("b", 200_000)}
	write(t, s, "a.awl", versions[0], true)
	errs := together(4, func(n int) error {
		for i := range 10 {
			if n == 0 {
				if _, err := s.WriteDocument(t.Context(), "a.awl", []byte(versions[(i+1)%2]), "ada", nil); err != nil {
					return err
				}
				continue
			}
			body, err := s.ReadDocument(t.Context(), "a.awl")
			if err != nil {
				return err
			}
			if !slices.Contains(versions, string(body)) {
				return fmt.Errorf("a reader saw %d bytes of a text that nobody saved", len(body))
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func savedBy(t *testing.T, s Files) { // server 1.8
	by := func() []string {
		now, err := s.Saved(t.Context(), "x/a.awl")
		list := []string{must(t, now, err).SavedBy}
		kept, err := s.Revisions(t.Context(), "x/a.awl")
		for _, r := range must(t, kept, err) {
			list = append(list, r.SavedBy)
		}
		return list
	}
	var want []string
	for i, who := range []string{"ada", "bo", "", "é/../x"} {
		created, err := s.WriteDocument(t.Context(), "x/a.awl", fmt.Appendf(nil, "text %d", i%2), who, nil)
		same(t, "created", must(t, created, err), i == 0)
		want = append([]string{who}, want...)
		same(t, "saved by", by(), want)
	}
	created, err := s.WriteDocument(t.Context(), "x/a.awl", []byte("text 1"), "cy", nil)
	same(t, "a save that changes nothing", must(t, created, err), false)
	same(t, "saved by", by(), want)
	list, err := s.Documents(t.Context())
	same(t, "documents", len(must(t, list, err)), 1)
}
