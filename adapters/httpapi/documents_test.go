package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"aion/bootstrap"
)

const docs = "/api/v1/documents/"

// hello is a small document; its action has a body.
const hello = `//! Greet one name.
workflow hello
  input name: String
  outcome greeted: type String, route success

worker shell
  action greet(name: String) -> String
    run "echo hello {{name}}" capture text

step say
  name |> greet |> route greeted
`

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// save writes a document as text.
func (w *world) save(path, source string, headers ...string) reply {
	w.t.Helper()
	if source == "" {
		return w.do(http.MethodPut, docs+path, `{"source":""}`, headers...)
	}
	return w.do(http.MethodPut, docs+path, source, append([]string{"Content-Type", "text/plain; charset=utf-8"}, headers...)...)
}

// hash is the content hash of an answer, which is its ETag.
func (r reply) hash() string {
	r.t.Helper()
	hash := r.text("content_hash")
	if r.header.Get("ETag") != `"`+hash+`"` {
		r.t.Errorf("ETag %s, want that of %s", r.header.Get("ETag"), hash)
	}
	return hash
}

// server 14: every row of the table of preconditions.
func TestSaveIsJudgedByItsPrecondition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	never := `"` + strings.Repeat("0", 64) + `"`
	w.save("new.awl", "1", "If-Match", never).refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
	w.save("new.awl", "1", "If-Match", "*").refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
	w.get(docs+"new.awl").refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	first := w.save("new.awl", "1", "If-None-Match", "*").ok(http.StatusCreated)
	if m := first.object(); m["created"] != true || m["changed"] != true || m["previous"] != nil || m["name"] != "new" {
		t.Errorf("%v", m)
	}
	w.save("other.awl", "1").ok(http.StatusCreated)
	one := first.hash()
	w.save("new.awl", "2").refused(http.StatusPreconditionRequired, "invalid_input", "PreconditionRequired")
	for _, precondition := range [][]string{{"If-Match", never}, {"If-None-Match", "*"}} {
		got := w.save("new.awl", "2", precondition...).refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
		details, _ := got.object()["details"].(map[string]any)
		if message := got.text("message"); details["current_content_hash"] != one || !strings.Contains(message, "does not match the saved document") ||
			!strings.Contains(message, "Re-read") {
			t.Errorf("%v: %s", precondition, got.body)
		}
	}
	second := w.save("new.awl", "2", "If-Match", `"`+one+`"`).ok(http.StatusOK)
	if m := second.object(); m["created"] != false || m["changed"] != true || m["previous"] != one {
		t.Errorf("%v", m)
	}
	same := w.save("new.awl", "2", "If-Match", "*").ok(http.StatusOK)
	if m := same.object(); m["changed"] != false || m["previous"] != second.hash() || same.hash() != second.hash() {
		t.Errorf("%v", m)
	}
	if n := len(w.get("/api/v1/revisions?path=new.awl").object()["revisions"].([]any)); n != 2 {
		t.Errorf("%d revisions, want 2: bytes that were there already are none", n)
	}
	for what, headers := range map[string][]string{
		"both": {"If-Match", "*", "If-None-Match", "*"}, "a tag that must be absent": {"If-None-Match", never}, "no quotes": {"If-Match", "abc"},
		"a list": {"If-Match", never + ", " + never},
	} {
		if got := w.save("new.awl", "3", headers...); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := w.get(docs + "new.awl").text("source"); got != "2" {
		t.Errorf("the text is %q", got)
	}
}

// server 14: of many savers with one base exactly one wins, and a document is read back byte for byte.
func TestOfManySaversOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base := w.save("x.awl", "base").ok(http.StatusCreated).hash()
	var group sync.WaitGroup
	var mu sync.Mutex
	won := map[string]int{}
	for n := range 12 {
		group.Go(func() {
			text := fmt.Sprintf("saver %d", n)
			got := w.save("x.awl", text, "If-Match", `"`+base+`"`)
			mu.Lock()
			defer mu.Unlock()
			if got.status == http.StatusOK {
				won[text]++
				return
			}
			if got.status != http.StatusPreconditionFailed {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	group.Wait()
	read := w.get(docs+"x.awl", "Accept", "text/plain").ok(http.StatusOK)
	if len(won) != 1 || won[string(read.body)] != 1 {
		t.Errorf("%v won, %q is there", won, read.body)
	}
	odd := "é\r\n\t\u2028 no line end"
	w.save("dir/sub/odd.awl", odd).ok(http.StatusCreated)
	if got := w.get(docs+"dir/sub/odd.awl", "Accept", "text/plain").body; string(got) != odd {
		t.Errorf("%q came back", got)
	}
	if got := w.get(docs + "dir%2Fsub%2Fodd.awl").ok(http.StatusOK).text("source"); got != odd {
		t.Errorf("%q came back by an encoded path", got)
	}
}

func TestDocumentIsReadOnceAndThenOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash := w.save("a.awl", "1").hash()
	tag := `"` + hash + `"`
	if got := w.get(docs+"a.awl", "If-None-Match", tag); got.status != http.StatusNotModified || len(got.body) > 0 || got.header.Get("ETag") != tag {
		t.Errorf("%d %q", got.status, got.body)
	}
	w.get(docs+"a.awl", "If-None-Match", `"other"`).ok(http.StatusOK)
	head := w.do(http.MethodHead, docs+"a.awl", "").ok(http.StatusOK)
	if len(head.body) > 0 || head.header.Get("ETag") != tag {
		t.Errorf("%v %q", head.header, head.body)
	}
	w.get(docs+"a.awl", "Accept", "image/png").refused(http.StatusNotAcceptable, "invalid_input", "NotAcceptable")
	text := w.get("/api/v1/revisions/" + hash).ok(http.StatusOK)
	if text.text("source") != "1" || !strings.Contains(text.header.Get("Cache-Control"), "immutable") {
		t.Errorf("%v %s", text.header, text.body)
	}
	w.get("/api/v1/revisions/"+strings.Repeat("0", 64)).refused(http.StatusNotFound, "not_found", "RevisionNotFound")
}

func TestRemovedDocumentLeavesItsRevisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodDelete, docs+"a.awl", "", "If-Match", "*").refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	w.do(http.MethodDelete, docs+"a.awl", "").refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	w.get("/api/v1/revisions?path=a.awl").refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	one := w.save("a.awl", "1").hash()
	two := w.save("a.awl", "2", "If-Match", "*").hash()
	w.do(http.MethodDelete, docs+"a.awl", "").refused(http.StatusPreconditionRequired, "invalid_input", "PreconditionRequired")
	w.do(http.MethodDelete, docs+"a.awl", "", "If-Match", `"`+one+`"`).refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
	w.do(http.MethodDelete, docs+"a.awl", "", "If-Match", `"`+two+`"`).ok(http.StatusNoContent)
	w.get(docs+"a.awl").refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	var seen []string
	for cursor := ""; ; {
		var page struct {
			Revisions []struct {
				ContentHash string `json:"content_hash"`
			}
			NextCursor *string `json:"next_cursor"`
		}
		w.get("/api/v1/revisions?limit=1&path=a.awl" + cursor).ok(http.StatusOK).into(&page)
		for _, r := range page.Revisions {
			seen = append(seen, r.ContentHash)
			w.get("/api/v1/revisions/" + r.ContentHash).ok(http.StatusOK)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(seen) != 2 || seen[0] != two || seen[1] != one {
		t.Errorf("revisions %v, want %s, then %s", seen, two, one)
	}
	w.save("a.awl", "3").ok(http.StatusCreated)
}

// server 6: a page never shifts, and a cursor of other filters is refused.
func TestDocumentsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 7 {
		w.save(fmt.Sprintf("team/d%d.awl", n), fmt.Sprintf("workflow W%d // %s", n, strings.Repeat("x", n))).ok(http.StatusCreated)
	}
	w.save("z.awl", "needle").ok(http.StatusCreated)
	type page struct {
		Documents []struct {
			Path string
		}
		Count      int
		NextCursor *string `json:"next_cursor"`
	}
	walk := func(query string) (paths []string, count int) {
		for cursor := ""; ; {
			var p page
			w.get("/api/v1/documents?limit=2" + query + cursor).ok(http.StatusOK).into(&p)
			count = p.Count
			for _, d := range p.Documents {
				paths = append(paths, d.Path)
			}
			if p.NextCursor == nil {
				return paths, count
			}
			cursor = "&cursor=" + *p.NextCursor
		}
	}
	for query, want := range map[string]int{"": 8, "&prefix=team/": 7, "&q=NEEDLE": 1, "&q=w3": 1, "&prefix=team/&q=d": 7, "&q=nowhere": 0} {
		if paths, count := walk(query); len(paths) != want || count != want {
			t.Errorf("%s: %v of %d, want %d", query, paths, count, want)
		}
	}
	var p page
	w.get("/api/v1/documents?limit=2").into(&p)
	w.get("/api/v1/documents?limit=2&prefix=t&cursor="+*p.NextCursor).refused(http.StatusBadRequest, "invalid_input", "CursorInvalid")
	w.get("/api/v1/documents?pref=t").refused(http.StatusBadRequest, "invalid_input", "UnknownParameter")
	w.get("/api/v1/documents/").refused(http.StatusNotFound, "not_found", "RouteNotFound")
	w.get("/api/v1/revisions").refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
}

func TestDocumentRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save("no-document.txt", "x").refused(http.StatusBadRequest, "invalid_input", "DocumentPathInvalid")
	w.get(docs+"a/../b.awl").refused(http.StatusBadRequest, "invalid_input", "DocumentPathInvalid")
	w.save("a.awl", strings.Repeat("x", 1<<20+1)).refused(http.StatusRequestEntityTooLarge, "invalid_input", "DocumentTooLarge")
	w.save("a.awl", "x", "Content-Type", "application/xml").refused(http.StatusUnsupportedMediaType, "invalid_input", "MediaTypeUnsupported")
	w.do(http.MethodPut, docs+"a.awl", `{"source":"x","sauce":1}`).refused(http.StatusBadRequest, "invalid_input", "UnknownMember")
	w.post(docs+"a.awl", `{}`).refused(http.StatusMethodNotAllowed, "invalid_input", "MethodNotAllowed")
	none := newWorld(t, func(c *bootstrap.Config) { c.WorkspaceDir = "" })
	for _, got := range []reply{
		none.get("/api/v1/documents"), none.get(docs + "a.awl"), none.save("a.awl", "x"), none.do(http.MethodDelete, docs+"a.awl", "", "If-Match", "*"),
		none.get("/api/v1/revisions?path=a.awl"),
	} {
		got.refused(http.StatusServiceUnavailable, "not_configured", "WorkspaceUnconfigured")
		if got.header.Get("Retry-After") != "" {
			t.Error("a server that is not configured is to be asked again")
		}
	}
	none.get("/api/v1/revisions/"+strings.Repeat("0", 64)).refused(http.StatusNotFound, "not_found", "RevisionNotFound")
	none.post("/api/v1/awl/check", encode(t, map[string]string{"source": hello})).ok(http.StatusOK)
}
