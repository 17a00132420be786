package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script answers requests in turn: with JSON, or with a stream where a line begins with `event:`.
type script struct {
	mu    sync.Mutex
	asked []string
	next  map[string][]string // by method and path
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	s.asked = append(s.asked, strings.TrimSpace(path+" "+r.URL.RawQuery+" "+r.Header.Get("Last-Event-ID")))
	answers := s.next[path]
	if len(answers) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.next[path] = answers[1:]
	if strings.Contains(answers[0], "event:") {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = io.WriteString(w, answers[0])
}

const refusedStream = "event: error\ndata: {\"code\":\"unauthenticated\",\"error_type\":\"InvalidCredential\",\"message\":\"the token has expired\",\"status\":401}\n\n"

// server 3.4, server 18: a list that is watched goes on where it was read, and is read anew when that place is lost.
func TestAListIsWatched(t *testing.T) {
	t.Parallel()
	const runs = "/namespaces/default/runs"
	row := func(id, status string) string {
		return fmt.Sprintf(`{"workflow_id":%q,"workflow_type":"hello","status":%q,"started_at":"2026-01-02T03:04:05.000000Z"}`, id, status)
	}
	s := &script{next: map[string][]string{
		runs: {
			`{"runs":[` + row(idOne, "Running") + `],"next_cursor":"more","changes":"0-5"}`,
			`{"runs":[` + row(idTwo, "Running") + `],"next_cursor":null,"changes":"0-9"}`,
		},
		runs + "/stream": {
			"id: 0-6\nevent: run\ndata: " + row(idOne, "Failed") + "\n\nevent: close\ndata: {\"reason\":\"max_age\"}\n\n",
			"event: resync\ndata: {\"reason\":\"x\"}\n\n",
			refusedStream,
		},
	}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := newDesk(t)
	d.env["AION_SERVER"] = server.URL
	out, errs, code := d.run("list", "--type", "hello", "--order", "started_asc", "--watch", "-o", "jsonl")
	if code != 2 || !strings.Contains(errs, "the token has expired") {
		t.Errorf("exit %d: %s", code, errs)
	}
	want := row(idOne, "Running") + "\n" + row(idOne, "Failed") + "\n" + row(idTwo, "Running") + "\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	list, stream := runs+" limit=50&order=started_asc&workflow_type=hello", runs+"/stream workflow_type=hello "
	if diff := cmp.Diff([]string{list, stream + "0-5", stream + "0-6", list, stream + "0-9"}, s.asked); diff != "" {
		t.Error(diff)
	}
	if _, errs, code := d.run("list", "--watch", "-o", "json"); code != 2 || !strings.Contains(errs, "jsonl") {
		t.Errorf("one document without an end: exit %d: %s", code, errs)
	}
}

// server 3.4
func TestARunIsWatchedToItsEnd(t *testing.T) {
	t.Parallel()
	const run = "/namespaces/default/runs/" + idOne
	at := func(status string, head int) string {
		return fmt.Sprintf(`{"workflow_id":%q,"status":%q,"history_head_seq":%d}`, idOne, status, head)
	}
	s := &script{next: map[string][]string{
		run:                     {at("Running", 3), at("Running", 5), at("Failed", 6)},
		run + "/history/stream": {"id: 4\nevent: history\ndata: {\"seq\":4}\n\n", "id: 6\nevent: history\ndata: {\"seq\":6}\n\n"},
	}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := newDesk(t)
	d.env["AION_SERVER"] = server.URL
	out, errs, code := d.run("describe", idOne, "--watch", "-o", "jsonl")
	if want := at("Running", 3) + "\n" + at("Running", 5) + "\n" + at("Failed", 6) + "\n"; code != 0 || out != want {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if want := []string{run, run + "/history/stream from_seq=4", run, run + "/history/stream from_seq=6", run}; cmp.Diff(want, s.asked) != "" {
		t.Errorf("%q", s.asked)
	}
}
