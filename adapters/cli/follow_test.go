package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cutting streams a history and cuts the connection behind every record; the end it announces.
type cutting struct {
	events []string

	mu    sync.Mutex
	begun []int // the first record of each connection
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/default/runs"); path {
	case "": // a start
		_, _ = fmt.Fprintf(w, `{"workflow_id":%q,"run_id":"r","status":"Running","started_at":"2026-01-02T03:04:05.000000Z"}`, idOne)
	case "/" + idOne + "/outcome":
		_, _ = fmt.Fprint(w, `{"status":"Completed","outcome":"done"}`)
	case "/" + idOne + "/history/stream":
		from, _ := strconv.Atoi(r.URL.Query().Get("from_seq"))
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			from, _ = strconv.Atoi(last)
			from++
		}
		c.mu.Lock()
		c.begun = append(c.begun, from)
		c.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "retry: 2000\n\n")
		if from > len(c.events) {
			_, _ = fmt.Fprint(w, "event: close\ndata: {\"reason\":\"ended\",\"status\":null}\n\n")
			return
		}
		_, _ = fmt.Fprintf(w, "id: %d\nevent: history\ndata: %s\n\n: cut\nid: 9", from, c.events[from-1])
	default:
		_, _ = fmt.Fprint(w, `{"waiting_on":[],"unserved":[]}`)
	}
}

func newCutting() *cutting {
	c := &cutting{}
	for i, data := range []string{
		`"WorkflowStarted","data":{"workflow_type":"hello","package_version":"p","plan_format":1,"input":{}}`,
		`"ActivityScheduled","data":{"activity_id":0,"activity_type":"greet","task_queue":"shell","step":"say","scope":"","input":{},"attempt":1}`,
		`"ActivityStarted","data":{"activity_id":0,"attempt":1,"executor":"declared"}`,
		`"ActivityCompleted","data":{"activity_id":0,"attempt":1,"result":null}`,
		`"WorkflowCompleted","data":{"outcome":"done","result":{}}`,
	} {
		c.events = append(c.events, fmt.Sprintf(`{"seq":%d,"type":%s,"recorded_at":"2026-01-02T03:04:0%d.000000Z","run_id":%q}`, i+1, data, i+5, idTwo))
	}
	return c
}

// server 17: a stream that is cut behind every record gives each once and in order.
func TestACutStreamShowsEachRecordOnce(t *testing.T) {
	t.Parallel()
	c := newCutting()
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	d := newDesk(t)
	d.env["AION_SERVER"] = s.URL
	out := d.must("history", idOne, "--follow", "-o", "jsonl")
	if diff := cmp.Diff(strings.Join(c.events, "\n")+"\n", out); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6}, c.begun); diff != "" {
		t.Error(diff)
	}
	if out := d.must("history", idOne, "--follow", "-o", "id", "--type", "ActivityStarted", "--from", "2"); out != "3\n" {
		t.Errorf("%s", out)
	}
}

// server 3.3: so does the view of a run that a server carries.
func TestAFollowedRunShowsEachLineOnce(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(newCutting())
	t.Cleanup(s.Close)
	d := newDesk(t)
	d.env["AION_SERVER"] = s.URL
	out, errs, code := d.run("start", "hello", "--follow", "steps")
	want := "  2.00s  say            started\n  3.00s  say            done in 1s\n  4.00s  outcome        done (success)\n"
	if code != 0 || out != "{\"status\":\"Completed\",\"outcome\":\"done\"}\n" || errs != want {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// server 24: what waits for a run ends with 4 when --timeout has passed, and says that the run goes on.
func TestWaitingHasABound(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			_, _ = fmt.Fprintf(w, `{"workflow_id":%q,"started_at":"2026-01-02T03:04:05.000000Z"}`, idOne)
		case strings.HasSuffix(r.URL.Path, "/stream"):
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-let
		case strings.HasSuffix(r.URL.Path, "/outcome"):
			<-let
		default:
			_, _ = fmt.Fprint(w, `{"waiting_on":[],"unserved":[],"transcripts":[{"activity_id":0,"attempt":1}]}`)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(let) })
	for _, args := range []string{
		"start hello --wait", "start hello --follow steps", "outcome " + idOne + " --wait", "history " + idOne + " --follow", "transcript " + idOne + " --follow",
	} {
		d := newDesk(t)
		d.env["AION_SERVER"] = s.URL
		out, errs, code := d.run(append(strings.Fields(args), "--timeout", "100ms")...)
		if code != 4 || out != "" || errs != "stopped waiting after 100ms; the run goes on\n" {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
}
