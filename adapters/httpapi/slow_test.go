package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/httpapi"
	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/application/audit"
	"aion/application/deployments"
	"aion/domain"
	"aion/domain/access"
	"aion/test/fake"
)

// pipe is a listener of one connection without a network, which a bubble can wait for.
type pipe struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error { close(p.done); return nil }

func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// server 20: a request that takes long by right gets its answer, whatever the server's own deadlines are; one that takes
// longer than that is told so.
func TestALongRequestOutlivesTheDeadlinesOfTheServer(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		path, accept, op string
		took, bound      time.Duration // of the store, and api.request_timeout
		status           int
	}{
		"a read within its bound":    {"/api/v1/workflow-types/x/versions/y", "*/*", "Version", 3 * time.Minute, 5 * time.Minute, 404},
		"a read beyond its bound":    {"/api/v1/workflow-types/x/versions/y", "*/*", "Version", 6 * time.Minute, 5 * time.Minute, 503},
		"the check of the audit log": {"/api/v1/audit/verify", "*/*", "AuditRecords", 9 * time.Minute, 30 * time.Second, 200},
		"an export":                  {"/api/v1/audit", "application/x-ndjson", "AuditRecords", 9 * time.Minute, 30 * time.Second, 200},
		"an export beyond its bound": {"/api/v1/audit", "application/x-ndjson", "AuditRecords", 11 * time.Minute, 30 * time.Second, 503},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				store := fake.NewStore(memory.New(system.Clock{}))
				store.Script(fake.Fault{Op: c.op, Call: 1, Hold: release})
				host := web.New(web.Config{}, web.NewHealth(), fake.NewIDs(), slog.New(slog.DiscardHandler))
				httpapi.New(httpapi.Options{
					Deployments: deployments.New(deployments.Deps{Store: store, Routes: store, Index: store, Clock: system.Clock{}}),
					Trail:       audit.New(audit.Deps{Log: store, Clock: system.Clock{}}), Callers: named{}, Clock: system.Clock{}, Limits: httpapi.Limits{RequestTimeout: c.bound},
				}).Mount(host.Router())
				server := &http.Server{Handler: host, ReadTimeout: 40 * time.Second, WriteTimeout: time.Minute}
				listener := &pipe{conns: make(chan net.Conn, 1), done: make(chan struct{})}
				ended := make(chan error, 1)
				go func() { ended <- server.Serve(listener) }()
				client, conn := net.Pipe()
				listener.conns <- conn
				defer time.AfterFunc(c.took, func() { close(release) }).Stop()
				if _, err := io.WriteString(client, "GET "+c.path+" HTTP/1.1\r\nHost: localhost\r\nAccept: "+c.accept+"\r\nX-Aion-Subject: ada\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != c.status {
					t.Errorf("%d, want %d: %v", res.StatusCode, c.status, err)
				}
				_ = res.Body.Close()
				_ = client.Close()
				_ = server.Close()
				if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}

// gone is a reader whose connection takes no more bytes.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, errors.New("the reader has left") }

func (g gone) WriteString(string) (int, error) { return g.Write(nil) }

// server 18: a reader who has left or does not read is nothing that an operator must look at.
func TestAReaderWhoLeavesIsNoFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown(w)
	w.deploy(one)
	run := w.start("one", `{"n":1}`)
	w.ended(run)
	handle := "?activity_id=0&attempt=1&run_id=" + w.get(run).text("run_id")
	for path, media := range map[string]string{
		run + "/history": "application/x-ndjson", run + "/history/stream": "text/event-stream", run + "/transcript" + handle: "text/plain",
		run + "/transcript/stream" + handle: "text/event-stream", "/api/v1/audit": "application/x-ndjson",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Host = "localhost"
		r.Header.Set("Accept", media)
		func() {
			defer func() {
				if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // as net/http does
					t.Errorf("%s: %v", path, cause)
				}
			}()
			w.host.ServeHTTP(gone{httptest.NewRecorder()}, r)
		}()
	}
	if text := w.log.String(); strings.Contains(text, "level=ERROR") {
		t.Error(text)
	}
}

// An export counts as a stream while it is written.
func TestExportsAreBoundedLikeStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	api := w.mount(httpapi.Options{Runs: w.app.Runs, Callers: named{}, Clock: system.Clock{}, Limits: httpapi.Limits{StreamsPerSubject: 1}})
	stream := w.live(t.Context(), run+"/history/stream")
	w.next(stream)
	w.get(run+"/history", "Accept", "application/x-ndjson").refused(429, "resource_exhausted", "TooManyStreams")
	w.get(run+"/history", "Accept", "application/x-ndjson", "X-Aion-Subject", "bob").ok(http.StatusOK)
	w.get(run + "/history").ok(http.StatusOK)
	api.Drain()
	for range stream { // to its end
	}
	if n := api.Readers(); n > 1 {
		t.Errorf("%d readers", n)
	}
}

// expiring admits with a credential that ends, and counts how often it is asked.
type expiring struct{ ends time.Time }

// Caller implements web.Callers.
func (e expiring) Caller(*http.Request) (access.Caller, error) {
	who := access.Operator("")
	who.Expires = e.ends
	return who, nil
}

// server 19: the end of a credential ends the stream, by the clock.
func TestAStreamEndsWhenItsCredentialDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	clock := fake.NewClock(time.Now())
	w.mount(httpapi.Options{Runs: w.app.Runs, Callers: expiring{clock.Now().Add(90 * time.Second)}, Clock: clock})
	stream := w.live(t.Context(), run+"/history/stream")
	w.next(stream)
	<-clock.Asked()
	clock.Advance(time.Minute)
	<-clock.Asked()
	clock.Advance(30 * time.Second)
	e := w.next(stream)
	for e.name == "history" {
		e = w.next(stream)
	}
	if e.name != "error" || !strings.Contains(e.data, `"code":"unauthenticated"`) {
		t.Errorf("it ends with %v", e)
	}
}

// server 47: a change that the server could not make, or may have made, is not recorded as refused, and a refused one
// says what it was about.
func TestOnlyARefusalIsRecordedAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	var records []domain.AuditRecord
	keep := func(_ context.Context, r domain.AuditRecord) { records = append(records, r) }
	w.mount(httpapi.Options{Runs: w.app.Runs, Callers: named{}, Clock: system.Clock{}, Audit: keep, Limits: httpapi.Limits{RequestTimeout: 1}})
	w.post(run+"/pause", "").refused(503, "unavailable", "DeadlineExceeded")
	if len(records) > 0 {
		t.Errorf("recorded %v", records)
	}
	w.mount(httpapi.Options{
		Runs: w.app.Runs, Authoring: w.app.Authoring, Namespaces: w.app.Namespaces, Callers: named{}, Clock: system.Clock{}, Audit: keep,
	})
	w.post("/api/v1/deployments", `{"path":"team/a.awl","content_hash":"1"}`).refused(404, "not_found", "DocumentNotFound")
	w.post("/api/v1/deployments", `{"source":"nonsense","name":"mine"}`).refused(422, "invalid_input", "CheckRefused")
	w.post("/api/v1/namespaces", `{"name":"default"}`)
	var about []string
	for _, r := range records {
		about = append(about, r.Action+" "+r.Target)
	}
	if d := cmp.Diff([]string{"deploy.load team/a.awl", "deploy.load mine", "namespace.create default"}, about); d != "" {
		t.Error(d)
	}
}
