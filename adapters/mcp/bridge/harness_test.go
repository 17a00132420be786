package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aion/adapters/mcp"
	"aion/adapters/mcp/bridge"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/domain/access"
	"aion/test/mcp/fixture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a client on a bridge.
type session struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	stop context.CancelCauseFunc
}

func options(target func() string) bridge.Options {
	return bridge.Options{
		Locate: func(context.Context) (bridge.Target, error) {
			return bridge.Target{URL: target(), Header: http.Header{"X-Aion-Subject": {"ada"}}}, nil
		},
		Fallback: catalogue(), Patience: 30 * time.Second, Grace: 30 * time.Second, Log: slog.New(slog.DiscardHandler),
	}
}

func open(t testing.TB, o bridge.Options) *session {
	t.Helper()
	b, err := bridge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ctx, stop := context.WithCancelCause(context.Background())
	s := &session{t: t, in: in, out: bufio.NewReader(out), done: make(chan error, 1), stop: stop}
	go func() {
		s.done <- b.Run(ctx, inRead, outWrite)
		_ = outWrite.Close()
		_ = inRead.Close()
	}()
	t.Cleanup(func() {
		stop(nil)
		_ = in.Close()
		_, _ = io.Copy(io.Discard, s.out)
	})
	return s
}

// serving is a bridge on a handler.
func serving(t testing.TB, h http.Handler) *session {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return open(t, options(func() string { return server.URL + "/mcp" }))
}

// catalogue is that of the fixture, without tasks.
func catalogue() mcp.Catalogue {
	c := fixture.Catalogue()
	for i, t := range c.Tools {
		c.Tools[i] = mcp.Tool{Descriptor: t.Descriptor, Progress: t.Progress}
	}
	return c
}

// product is the real transport over the catalogue of the fixture.
func product(t testing.TB, s *fixture.Service) http.Handler {
	t.Helper()
	e, err := mcp.NewEndpoint(catalogue(), s, mcp.Options{
		Callers: operator{}, CallTimeout: time.Minute, IDs: system.IDs{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

type operator struct{}

func (operator) Caller(*http.Request) (access.Caller, error) { return access.Operator(""), nil }

var _ web.Callers = operator{}

func (s *session) send(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(s.in, line+"\n"); err != nil {
			s.t.Fatalf("send: %v", err)
		}
	}
}

// next is the next message.
func (s *session) next() map[string]any {
	s.t.Helper()
	return decode(s.t, s.line())
}

func (s *session) line() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("no message comes: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (s *session) ask(line string) map[string]any {
	s.t.Helper()
	s.send(line)
	return s.next()
}

// end closes the input and waits for the end of the bridge. What comes meanwhile is collected.
func (s *session) end() (rest []string, err error) {
	s.t.Helper()
	_ = s.in.Close()
	for {
		line, readErr := s.out.ReadString('\n')
		if readErr != nil {
			return rest, <-s.done
		}
		rest = append(rest, strings.TrimSuffix(line, "\n"))
	}
}

func decode(t testing.TB, line string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	return m
}

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	meta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

// seen is one request as a server gets it.
type seen struct {
	header http.Header
	body   map[string]any
	raw    string
}

// recorder keeps requests and answers each with the same body.
type recorder struct {
	t      testing.TB
	answer func(w http.ResponseWriter, r *http.Request, raw string)

	mu   sync.Mutex
	seen []seen
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	r.mu.Lock()
	r.seen = append(r.seen, seen{header: req.Header.Clone(), body: body, raw: string(raw)})
	r.mu.Unlock()
	r.answer(w, req, string(raw))
}

func (r *recorder) last() seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[len(r.seen)-1]
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// says answers every request with a status, a media type and a body.
func says(status int, media, body string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
