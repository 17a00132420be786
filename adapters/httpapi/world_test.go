package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/httpapi"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/bootstrap"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/ports"
	"aion/test/contract"
	"aion/test/fake"
)

// world is a whole server over a store in memory, asked over a socket by a client that holds every exchange against the
// document.
type world struct {
	t      *testing.T
	url    string
	client *http.Client
	app    *bootstrap.App
	host   *web.Host
	log    *fake.Log
	hands  *hands

	transport *http.Transport
}

// hands is the executor: it shows a line for each attempt and completes with what its test says.
type hands struct {
	mu     sync.Mutex
	answer func(ctx context.Context, e ports.Execution) action.Verdict
	show   func(ports.TranscriptWriter) // set before the first run
}

// Execute implements ports.Executor.
func (h *hands) Execute(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	h.mu.Lock()
	answer := h.answer
	h.mu.Unlock()
	if h.show != nil {
		h.show(out)
	}
	if answer == nil {
		return action.Completed{Result: json.RawMessage(`"ok"`)}
	}
	return answer(ctx, e)
}

func (h *hands) say(answer func(ctx context.Context, e ports.Execution) action.Verdict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

// newWorld starts a server; tune changes its configuration.
func newWorld(t *testing.T, tune ...func(*bootstrap.Config)) *world {
	t.Helper()
	c, err := bootstrap.Defaults(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	c.StoreBackend = "memory"
	for _, f := range tune {
		f(&c)
	}
	w := &world{t: t, log: &fake.Log{}, hands: &hands{}, transport: &http.Transport{}}
	if w.app, err = bootstrap.New(t.Context(), c, bootstrap.Parts{Executor: w.hands, Log: slog.New(slog.NewTextHandler(w.log, nil))}); err != nil {
		t.Fatal(err)
	}
	if w.host, err = w.app.Host(); err != nil {
		t.Fatal(err)
	}
	if err := w.app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.app.Close(context.WithoutCancel(t.Context()), 0); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	w.url = w.serve(w.host)
	w.client = &http.Client{Transport: contract.New(t, w.url, w.transport)}
	return w
}

// mount serves another API than that of the server from here on.
func (w *world) mount(o httpapi.Options) *httpapi.API {
	w.t.Helper()
	api := httpapi.New(o)
	host := web.New(web.Config{}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	api.Mount(host.Router())
	w.url = w.serve(host)
	return api
}

// named admits whoever says who they are.
type named struct{}

// Caller implements web.Callers.
func (named) Caller(r *http.Request) (access.Caller, error) {
	return access.Caller{Subject: r.Header.Get("X-Aion-Subject"), AllNamespaces: true, Deploy: true, Mode: "token"}, nil
}

// serve serves a handler until the end of the test.
func (w *world) serve(h http.Handler) (url string) {
	w.t.Helper()
	server := httptest.NewServer(h)
	w.t.Cleanup(func() {
		w.transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// routes are what gin serves under the API, as `METHOD path`.
func (w *world) routes() gin.RoutesInfo { return w.host.Router().Routes() }

// reply is what came back.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do sends a request; body is JSON text or empty, and headers are name and value in turn.
func (w *world) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	var send io.Reader = http.NoBody
	if body != "" {
		send = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, send)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{t: w.t, status: res.StatusCode, header: res.Header, body: text}
}

func (w *world) get(path string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodGet, path, "", headers...)
}

func (w *world) post(path, body string, headers ...string) reply {
	w.t.Helper()
	return w.do(http.MethodPost, path, body, headers...)
}

// ok refuses any other status.
func (r reply) ok(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %.1000s", r.status, status, r.body)
	}
	return r
}

// refused is a problem with this status, code and type.
func (r reply) refused(status int, code, errorType string) reply {
	r.t.Helper()
	var p struct {
		Status    int
		Code      string
		ErrorType string `json:"error_type"`
		Message   string
		Detail    string
		Details   struct {
			Errors []struct{ Pointer, Message *string }
		}
	}
	if err := json.Unmarshal(r.body, &p); err != nil {
		r.t.Fatalf("no problem: %d %.500s", r.status, r.body)
	}
	if r.status != status || p.Status != status || p.Code != code || p.ErrorType != errorType || p.Message == "" || p.Message != p.Detail {
		r.t.Fatalf("got %d %s/%s, want %d %s/%s: %.1000s", r.status, p.Code, p.ErrorType, status, code, errorType, r.body)
	}
	placed := []string{ // server 2: what is wrong with a request itself has a place
		"JSONInvalid", "UnknownMember", "DuplicateMember", "SchemaViolation", "UnknownParameter", "CursorInvalid", "CursorAheadOfHistory",
	}
	found := p.Details.Errors
	if slices.Contains(placed, errorType) && (len(found) == 0 || len(found) > 10 || found[0].Pointer == nil || found[0].Message == nil || *found[0].Message == "") {
		r.t.Fatalf("a refusal does not say what is wrong where: %.1000s", r.body)
	}
	if media := r.header.Get("Content-Type"); media != "application/problem+json" {
		r.t.Fatalf("a refusal came as %q", media)
	}
	return r
}

// into reads the body with its numbers as they are.
func (r reply) into(v any) reply {
	r.t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		r.t.Fatalf("%v: %.1000s", err, r.body)
	}
	return r
}

// object reads the body as an object.
func (r reply) object() map[string]any {
	r.t.Helper()
	var m map[string]any
	r.into(&m)
	return m
}

func (r reply) text(member string) string {
	r.t.Helper()
	s, ok := r.object()[member].(string)
	if !ok {
		r.t.Fatalf("no text %s in %.1000s", member, r.body)
	}
	return s
}

// deploy deploys a text; its type is what the text says.
func (w *world) deploy(source string) reply {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"source": source})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.post("/api/v1/deployments", string(body)).ok(http.StatusCreated)
}

const runsOf = "/api/v1/namespaces/default/runs"

// start starts a run and gives its path.
func (w *world) start(workflowType, input string) string {
	w.t.Helper()
	r := w.post(runsOf, `{"workflow_type":"`+workflowType+`","input":`+input+`}`).ok(http.StatusCreated)
	return runsOf + "/" + r.text("workflow_id")
}

// ended waits for the end of a run and gives its outcome.
func (w *world) ended(run string) reply {
	w.t.Helper()
	return w.get(run + "/outcome?wait_ms=30000").ok(http.StatusOK)
}

// stream reads a stream to its end.
func (w *world) stream(path string, headers ...string) string {
	w.t.Helper()
	return string(w.get(path, append([]string{"Accept", "text/event-stream"}, headers...)...).ok(http.StatusOK).body)
}

// codes are the codes of refusals.
func codes() []domain.Code {
	return []domain.Code{
		domain.CodeUnauthenticated, domain.CodeNamespaceDenied, domain.CodeDeployDenied, domain.CodeWorkerDenied, domain.CodeOriginDenied, domain.CodeInsufficientScope,
		domain.CodeNotFound, domain.CodeInvalidInput, domain.CodeInvalidState, domain.CodeNotRunning, domain.CodeUnknownQuery, domain.CodeQueryTimeout,
		domain.CodeQueryFailed, domain.CodeRunFailed, domain.CodeIdempotencyConflict, domain.CodeVersionPinned, domain.CodeSequenceConflict,
		domain.CodeNotConfigured, domain.CodeResourceExhausted, domain.CodeUnavailable, domain.CodeStoreLocked, domain.CodeBackend,
	}
}
