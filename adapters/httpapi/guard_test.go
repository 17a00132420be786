package httpapi_test

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/adapters/httpapi"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/bootstrap"
	"aion/domain"
	"aion/domain/access"
	"aion/test/fake"
)

// server 8
func TestAForeignRunIsLikeAMissingOne(t *testing.T) {
	t.Parallel()
	const token = "a-secret-of-the-test-0123456789"
	w := newWorld(t, func(c *bootstrap.Config) { c.AuthMode, c.AuthToken = "token", bootstrap.Secret(token) })
	as := func(namespaces string) []string {
		return []string{"Authorization", "Bearer " + token, "X-Aion-Subject", "ada", "X-Aion-Namespaces", namespaces, "X-Aion-Deploy", "true"}
	}
	w.do(http.MethodPost, "/api/v1/deployments", `{"source":`+quoted(gate)+`}`, as("*")...).ok(201)
	foreign := w.do(http.MethodPost, "/api/v1/namespaces/theirs/runs", `{"workflow_type":"gate","input":{"n":1}}`, as("*")...).ok(201).text("workflow_id")
	w.do(http.MethodPost, "/api/v1/namespaces/mine/runs", `{"workflow_type":"gate","input":{"n":1}}`, as("*")...).ok(201)
	const missing = "0198d6d2-5a0e-7c3f-8f1e-0a2b4c6d8e0f"
	request := regexp.MustCompile(`urn:aion:request:[^"]+`)
	for _, c := range [][2]string{
		{"GET", ""},
		{"GET", "/generations"},
		{"GET", "/outcome"},
		{"GET", "/history"},
		{"GET", "/history/1"},
		{"GET", "/history/stream"},
		{"GET", "/activities"},
		{"GET", "/activities/0"},
		{"GET", "/transcripts"},
		{"GET", "/transcript?run_id=" + missing + "&activity_id=0&attempt=1"},
		{"GET", "/transcript/stream?run_id=" + missing + "&activity_id=0&attempt=1"},
		{"POST", "/cancel"},
		{"POST", "/pause"},
		{"POST", "/reopen"},
		{"POST", "/resume"},
		{"POST", "/signals"},
		{"POST", "/queries"},
	} {
		body := ""
		if c[1] == "/signals" {
			body = `{"signal_name":"go"}`
		}
		if c[1] == "/reopen" {
			body = `{"reason":"x"}`
		}
		if c[1] == "/queries" {
			body = `{"query_name":"state"}`
		}
		answer := func(id string) string {
			r := w.do(c[0], "/api/v1/namespaces/mine/runs/"+id+c[1], body, as("mine")...).refused(404, "not_found", "WorkflowNotFound")
			return request.ReplaceAllString(strings.ReplaceAll(string(r.body), id, "ID"), "")
		}
		if d := cmp.Diff(answer(missing), answer(foreign)); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
}

func quoted(text string) string {
	token, err := domain.Encode(text)
	if err != nil {
		panic(err)
	}
	return string(token)
}

// fickle admits everyone until it does not.
type fickle struct{ refusing atomic.Bool }

// Caller implements web.Callers.
func (f *fickle) Caller(*http.Request) (access.Caller, error) {
	if f.refusing.Load() {
		return access.Caller{}, &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "the token has expired; get another one"}
	}
	return access.Operator(""), nil
}

// server 19
func TestAStreamEndsWithTheCredentialOfItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	callers, clock := &fickle{}, fake.NewClock(time.Now())
	api := httpapi.New(httpapi.Options{Runs: w.app.Runs, Callers: callers, Clock: clock})
	host := web.New(web.Config{}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	api.Mount(host.Router())
	w.url = w.serve(host)
	stream := w.live(t.Context(), run+"/history/stream")
	w.next(stream)
	callers.refusing.Store(true)
	<-clock.Asked()
	clock.Advance(time.Minute)
	e := w.next(stream)
	for e.name == "history" {
		e = w.next(stream)
	}
	if e.name != "error" || !strings.Contains(e.data, `"code":"unauthenticated"`) || e.id != "" {
		t.Errorf("it ends with %v", e)
	}
}

// server 18
func TestASilentStreamIsKeptOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	api := httpapi.New(httpapi.Options{Runs: w.app.Runs, Callers: &fickle{}, Clock: system.Clock{}, Limits: httpapi.Limits{Heartbeat: time.Millisecond}})
	host := web.New(web.Config{}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	api.Mount(host.Router())
	w.url = w.serve(host)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+run+"/history/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var text strings.Builder
	for buffer := make([]byte, 1024); !strings.Contains(text.String(), "\n\n: 0\n\n"); {
		n, err := res.Body.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			t.Fatal(errors.Join(err, errors.New(text.String())))
		}
	}
	api.Drain()
}

// Whatever is sent is accepted or refused: it never fails the server.
func TestNoBodyFailsTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	member := rapid.SampledFrom([]string{"workflow_type", "input", "labels", "signal", "signal_name", "payload", "reason", "run_id", "query_name", "x", "\x00"})
	value := rapid.SampledFrom([]string{
		`null`, `1`, `-1e400`, `"x"`, `""`, `{}`, `[]`, `{"a":[1,{"b":null}]}`, `"\ud800"`, `9223372036854775808`, `true`, `"gate"`, `{"signal_name":"go"}`, `{`, `"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("{")
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(quoted(member.Draw(t, "name")) + ":" + value.Draw(t, "value"))
		}
		body := b.String() + rapid.SampledFrom([]string{"}", "", "}}", "} "}).Draw(t, "end")
		path := rapid.SampledFrom([]string{runsOf, run + "/signals", run + "/queries", run + "/pause"}).Draw(t, "path")
		if r := w.post(path, body); r.status >= 500 || r.status < 200 {
			t.Fatalf("%s %s: %d %s", path, body, r.status, r.body)
		}
	})
}

// server 47
func TestEachChangeOfARunHasOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	for _, c := range [][2]string{{"/pause", ""}, {"/pause", ""}, {"/resume", ""}, {"/signals", `{"signal_name":"og"}`}, {"/cancel", ""}} {
		w.post(run+c[0], c[1], "Idempotency-Key", "k", "X-Request-Id", "r-"+c[0][1:])
	}
	w.post(run+"/cancel", "", "Idempotency-Key", "k").ok(200)
	records := map[string]int{}
	for _, r := range w.get("/api/v1/audit?limit=100").ok(200).object()["records"].([]any) {
		record := r.(map[string]any)
		if action := record["action"].(string); strings.HasPrefix(action, "run.") {
			records[action+" "+record["outcome"].(string)]++
			if record["surface"] != "http" || record["request_id"] == "" || record["target"] == "" {
				t.Errorf("record %v", record)
			}
		}
	}
	want := map[string]int{"run.start ok": 1, "run.pause ok": 1, "run.resume ok": 1, "run.signal refused": 1, "run.cancel ok": 1}
	if d := cmp.Diff(want, records); d != "" {
		t.Error(d)
	}
}

func TestASlowRequestIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	api := httpapi.New(httpapi.Options{Runs: w.app.Runs, Callers: &fickle{}, Clock: system.Clock{}, Limits: httpapi.Limits{RequestTimeout: 1}})
	host := web.New(web.Config{}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	api.Mount(host.Router())
	w.url = w.serve(host)
	r := w.post(run+"/pause", "").refused(503, "unavailable", "DeadlineExceeded")
	if r.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}
