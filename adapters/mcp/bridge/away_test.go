package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/mcp/bridge"
	"aion/domain"
	"aion/test/mcp/fixture"
)

func newServer(t testing.TB, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// refusalOf reads a tool refusal: the sentence, and the same for programs.
func refusalOf(t testing.TB, answer map[string]any) (code, kind, message string) {
	t.Helper()
	result, _ := answer["result"].(map[string]any)
	blocks, _ := result["content"].([]any)
	if result["isError"] != true || len(blocks) != 2 {
		t.Fatalf("no refusal: %v", answer)
	}
	var words struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Type    string `json:"error_type"`
	}
	if err := json.Unmarshal([]byte(blocks[1].(map[string]any)["text"].(string)), &words); err != nil {
		t.Fatal(err)
	}
	if blocks[0].(map[string]any)["text"] != words.Message {
		t.Errorf("the blocks differ: %v", blocks)
	}
	return words.Code, words.Type, words.Message
}

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`

// server 3.5: the bridge starts without a server, shows the catalogue of its own, refuses calls with the URL and what to
// start, and serves as soon as there is a server; and so again when it has gone.
func TestTheServerComesAndGoes(t *testing.T) {
	t.Parallel()
	var at atomic.Value
	at.Store("http://127.0.0.1:1/mcp")
	s := open(t, options(func() string { return at.Load().(string) }))
	away := func() {
		t.Helper()
		code, kind, message := refusalOf(t, s.ask(call))
		if code != "unavailable" || kind != "ServerUnreachable" || !strings.Contains(message, at.Load().(string)) || !strings.Contains(message, "`aion server`") {
			t.Errorf("%s %s %s", code, kind, message)
		}
	}
	if r := s.ask(hello)["result"].(map[string]any); r["instructions"] != "Tools for tests." {
		t.Errorf("%v", r)
	}
	for _, list := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`} {
		r, _ := s.ask(list)["result"].(map[string]any)
		if tools, _ := r["tools"].([]any); len(tools) != len(fixture.Catalogue().Tools) {
			t.Errorf("%s: %v", list, r)
		}
	}
	if r := s.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)["result"].(map[string]any); r["ttlMs"] != 0.0 || r["resultType"] != "complete" {
		t.Errorf("%v", r)
	}
	away()
	if e := s.ask(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x",` + meta + `}}`)["error"].(map[string]any); e["code"] != -32603.0 ||
		e["data"].(map[string]any)["code"] != "unavailable" {
		t.Errorf("%v", e)
	}
	server := httptest.NewServer(product(t, &fixture.Service{}))
	at.Store(server.URL + "/mcp")
	if a := s.ask(call); a["result"].(map[string]any)["isError"] != false {
		t.Errorf("with a server: %v", a)
	}
	server.Close()
	if _, kind, _ := refusalOf(t, s.ask(call)); kind == "AnswerLost" { // the call was on its way when the old connection ended
		away()
	} else if kind != "ServerUnreachable" {
		t.Errorf("%s", kind)
	}
}

func TestALostAnswerIsNoReasonToRepeatBlindly(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{
		"", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n: hi\n\r\n0\r\n\r\n",
	} {
		s := serving(t, &recorder{t: t, answer: func(w http.ResponseWriter, _ *http.Request, _ string) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Write([]byte(begin))
			_ = conn.Close()
		}})
		if code, kind, message := refusalOf(t, s.ask(call)); code != "unavailable" || kind != "AnswerLost" || !strings.Contains(message, "look before you repeat") {
			t.Errorf("%q: %s %s %s", begin, code, kind, message)
		}
	}
}

// A server that hangs does not hang the client: neither before its answer begins nor within it.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, begin := range []bool{false, true} {
		server := newServer(t, &recorder{t: t, answer: func(w http.ResponseWriter, r *http.Request, _ string) {
			if begin {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte(": hello\n\n"))
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}})
		o := options(func() string { return server })
		o.Patience = 100 * time.Millisecond
		if code, kind, _ := refusalOf(t, open(t, o).ask(call)); code != "unavailable" || kind != "ServerSilent" {
			t.Errorf("%s %s", code, kind)
		}
	}
}

func TestHTTPRefusalsAreTranslated(t *testing.T) {
	t.Parallel()
	const problem = `{"code":"insufficient_scope","error_type":"ScopeMissing","message":"the token lacks aion:run"}`
	for name, c := range map[string]struct {
		status            int
		media, body       string
		code, kind, words string
	}{
		"401":               {401, "application/problem+json", `{"code":"unauthenticated","message":"expired"}`, "unauthenticated", "InvalidCredential", "expired"},
		"401 of a proxy":    {401, "text/html", `<h1>`, "unauthenticated", "InvalidCredential", "AION_TOKEN"},
		"403":               {403, "application/problem+json", problem, "insufficient_scope", "ScopeMissing", "lacks aion:run"},
		"404":               {404, "application/json", `{}`, "unavailable", "NoMCPServer", "404"},
		"302":               {302, "text/plain", ``, "unavailable", "NoMCPServer", "redirects"},
		"429":               {429, "text/plain", `slow`, "resource_exhausted", "RateLimited", "429"},
		"503":               {503, "text/html", `<html>`, "unavailable", "ServerFault", "503"},
		"200 and a page":    {200, "text/html", `<html>`, "unavailable", "NoMCPServer", "200"},
		"200 and other":     {200, "application/json", `{"ok":true}`, "unavailable", "NoMCPServer", "200"},
		"200 and no JSON":   {200, "application/json", `{"jsonrpc":"2.0","result":`, "unavailable", "NoMCPServer", "200"},
		"202":               {202, "application/json", ``, "unavailable", "NoMCPServer", "202"},
		"a result of 7":     {200, "application/json", `{"jsonrpc":"2.0","id":1,"result":7}`, "unavailable", "NoMCPServer", "200"},
		"a deeply nested 1": {200, "application/json", strings.Repeat("[", 100000), "unavailable", "NoMCPServer", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serving(t, &recorder{t: t, answer: says(c.status, c.media, c.body)})
			if code, kind, message := refusalOf(t, s.ask(call)); code != c.code || kind != c.kind || !strings.Contains(message, c.words) {
				t.Errorf("%s %s %s", code, kind, message)
			}
		})
	}
	s := serving(t, &recorder{t: t, answer: says(413, "application/json", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"too large"}}`)})
	if got := s.ask(call); got["id"] != 1.0 || got["error"].(map[string]any)["code"] != -32600.0 {
		t.Errorf("an error without id: %v", got)
	}
}

// A credential goes to the server that is located, and not after a redirect.
func TestACredentialFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	other := &recorder{t: t, answer: says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`)}
	elsewhere := newServer(t, other)
	server := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	}))
	o := options(nil)
	o.Locate = func(context.Context) (bridge.Target, error) {
		return bridge.Target{URL: server, Header: http.Header{"Authorization": {"Bearer secret"}}, Credential: "AION_TOKEN"}, nil
	}
	if _, kind, message := refusalOf(t, open(t, o).ask(call)); kind != "NoMCPServer" || strings.Contains(message, "secret") {
		t.Errorf("%s %s", kind, message)
	}
	if other.count() != 0 {
		t.Error("the redirect was followed")
	}
}

func TestARefusalToLocateIsTheAnswer(t *testing.T) {
	t.Parallel()
	o := options(nil)
	o.Locate = func(context.Context) (bridge.Target, error) {
		return bridge.Target{}, &domain.Error{Code: domain.CodeUnavailable, Type: "StoreOwned", Message: "process 7 has the store"}
	}
	if code, kind, message := refusalOf(t, open(t, o).ask(call)); code != "unavailable" || kind != "StoreOwned" || message != "process 7 has the store" {
		t.Errorf("%s %s %s", code, kind, message)
	}
}

func TestASocketIsAServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s o:ck")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, answer: func(w http.ResponseWriter, r *http.Request, raw string) {
		if r.Host != "localhost" || r.URL.Path != "/mcp" {
			t.Errorf("%s%s", r.Host, r.URL.Path)
		}
		says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)(w, r, raw)
	}}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}}
	server.Start()
	t.Cleanup(server.Close)
	if a := open(t, options(func() string { return "unix:" + path })).ask(call); a["result"] == nil {
		t.Errorf("%v", a)
	}
}

func TestToolsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	server := newServer(t, product(t, &fixture.Service{}))
	b, err := bridge.New(options(func() string { return server }))
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.Tools(t.Context())
	var tools []any
	if err != nil || json.Unmarshal(list, &tools) != nil || len(tools) != len(fixture.Catalogue().Tools) {
		t.Errorf("%v: %.200s", err, list)
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, `{"jsonrpc":"2.0","id":1,"result":[]}`} {
		other := newServer(t, &recorder{t: t, answer: says(200, "application/json", body)})
		if b, err = bridge.New(options(func() string { return other })); err != nil {
			t.Fatal(err)
		}
		if list, err := b.Tools(t.Context()); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("%s: %s, %v", body, list, err)
		}
	}
}

func TestEndpointsAreNamedAsPeopleDo(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://127.0.0.1:8080": "http://127.0.0.1:8080/mcp", "https://a.example/": "https://a.example/mcp", "https://a.example/x/mcp": "https://a.example/x/mcp",
		"http://0.0.0.0:7": "http://127.0.0.1:7/mcp", "http://[::]:7/": "http://[::1]:7/mcp", "unix:/a b": "unix:/a b",
		"127.0.0.1:8080": "", "ftp://x": "", "http://": "", "http://u:p@x": "", "http://x/?a=1": "", "http://x/#f": "", "unix:rel": "", "": "", "http://a b": "", "http://x:y": "",
	} {
		got, err := bridge.Endpoint(raw)
		if got != want || (err == nil) != (want != "") || err != nil && domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	for endpoint, want := range map[string]bool{
		"http://127.0.0.1:1/mcp": true, "http://[::1]/mcp": true, "http://localhost/mcp": true, "https://a.example/mcp": true, "unix:/a b": true,
		"http://a.example/mcp": false, "http://10.0.0.1/mcp": false, "http://localhost.example/mcp": false,
	} {
		if got := bridge.Private(endpoint); got != want {
			t.Errorf("%s: %v", endpoint, got)
		}
	}
}

// FuzzLines: whatever a client writes, the bridge ends with its input, and every line it writes is JSON.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{hello, call, "[]", "{", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":[]}}}`, "\x00\n\n" + hello + "\n" + call} {
		f.Add(seed)
	}
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }))
	f.Cleanup(e.Close)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := bridge.New(options(func() string { return e.URL + "/mcp" }))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := b.Run(t.Context(), strings.NewReader(text), &out); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); {
			if !json.Valid(lines.Bytes()) {
				t.Fatalf("no JSON: %s", lines.Text())
			}
		}
	})
}
