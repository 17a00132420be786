package transport_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aion/adapters/system"
	"aion/adapters/web"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

// mcp 1
func TestDarkPathAnswersLikeAnyUnknownOne(t *testing.T) {
	t.Parallel()
	hosts, err := web.NewHosts("", nil)
	if err != nil {
		t.Fatal(err)
	}
	dark := web.New(web.Config{Hosts: hosts}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(dark)
	t.Cleanup(server.Close)
	for _, method := range []string{"POST", "GET", "OPTIONS", "DELETE", "HEAD", "FOO"} {
		var answers []wire.Reply
		for _, path := range []string{"/mcp", "/api/v1/unknown"} {
			c := wire.Client{URL: server.URL + path, HTTP: server.Client()}
			r := wire.RPC("1", "tools/list", "").With("X-Request-Id", "same").With("Mcp-Method").Wrong()
			r.Method = method
			answers = append(answers, c.Exchange(t, r))
		}
		dark, unknown := answers[0], answers[1]
		if dark.Status != http.StatusNotFound || dark.Status != unknown.Status || !bytes.Equal(dark.Body, unknown.Body) {
			t.Errorf("%s: %d %s, unknown path: %d %s", method, dark.Status, dark.Body, unknown.Status, unknown.Body)
		}
		if len(dark.Body) > 0 && !json.Valid(dark.Body) || dark.Header.Get("Allow") != "" || len(dark.Messages) > 0 {
			t.Errorf("%s: neither empty nor the API's JSON: %v %s", method, dark.Header, dark.Body)
		}
	}
}

// mcp 1: paths match exactly and never redirect.
func TestOnlyTheExactPathIsServed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, path := range []string{"/mcp/", "/MCP", "//mcp", "/mcp/x", "/"} {
		c := wire.Client{URL: s.server.URL + path, HTTP: s.server.Client()}
		if reply := c.Exchange(t, greet()); reply.Status != http.StatusNotFound || reply.Header.Get("Location") != "" {
			t.Errorf("%s: status %d", path, reply.Status)
		}
	}
}

// mcp 2
func TestOtherMethodsAreNotAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, method := range []string{"GET", "DELETE", "PUT", "HEAD", "PATCH", "TRACE", "OPTIONS", "FOO", "post"} {
		r := greet().Wrong()
		r.Method, r.ID = method, ""
		reply := s.Send(t, r)
		if reply.Status != http.StatusMethodNotAllowed || strings.Join(reply.Header.Values("Allow"), ",") != "POST" {
			t.Errorf("%s: status %d, Allow %q", method, reply.Status, reply.Header.Values("Allow"))
		}
		if method != "HEAD" && reply.Code(t) != -32600 {
			t.Errorf("%s: %s", method, reply.Body)
		}
	}
}

// mcp 3
func TestRetiredHeadersAreIgnored(t *testing.T) {
	t.Parallel()
	s := serve(t)
	wantServed(t, "retired headers", s.Send(t, greet().With("Mcp-Session-Id", "x").With("Last-Event-Id", "3").With("Mcp-Param-Name", "Bob")))
}

// mcp 4, report 65
func TestForeignOriginIsRefusedBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, sent := range [][]string{
		{"https://evil.example"},
		{"null"},
		{""},
		{"*"},
		{origin, origin},
		{origin + ":8443"},
		{"http://app.example"},
		{origin + "/"},
		{"https://app.example.evil"},
		{"https://user@app.example"},
		{"app.example"},
		{"https://"},
		{"http://localhost"},
		{"file://"},
	} {
		r := wire.Raw("", "tools/call", "{ this is no JSON").With("Origin", sent...).Wrong()
		reply := s.Send(t, r)
		wantCode(t, strings.Join(sent, " and "), reply, http.StatusForbidden, -32600)
		if reply.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v got CORS headers", sent)
		}
	}
	if s.reached() != 0 {
		t.Error("a tool ran for a foreign origin")
	}
	for _, sent := range []string{origin, "HTTPS://App.Example", "https://app.example:443", "http://localhost:3000"} {
		reply := s.Send(t, greet().With("Origin", sent))
		wantServed(t, sent, reply)
		if reply.Header.Get("Access-Control-Allow-Origin") != sent || reply.Header.Get("Vary") != "Origin" ||
			reply.Header.Get("Access-Control-Expose-Headers") != "WWW-Authenticate" {
			t.Errorf("%s: CORS headers %v", sent, reply.Header)
		}
	}
	reply := s.Send(t, greet())
	wantServed(t, "no origin", reply)
	if reply.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("an answer without Origin has CORS headers")
	}
}

// mcp 5
func TestForeignHostIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for host, status := range map[string]int{
		"evil.example": 403, "evil.example:80": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403,
		"localhost": 200, "LOCALHOST:1234": 200, "127.0.0.1": 200, "[::1]:8080": 200, "192.0.2.7:1": 200,
	} {
		r := greet()
		r.Host = host
		if status == 403 {
			r.ID = ""
		}
		if reply := s.Send(t, r); reply.Status != status {
			t.Errorf("Host %s: status %d, want %d", host, reply.Status, status)
		}
	}
}

// mcp 5
func TestOriginListIsExactAndEmptyByDefault(t *testing.T) {
	t.Parallel()
	fixed, err := fixture.New(fixture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fixed.Host)
	t.Cleanup(server.Close)
	c := wire.Client{URL: server.URL + "/mcp", HTTP: server.Client()}
	r := greet().With("Origin", strings.Replace(server.URL, "127.0.0.1", "localhost", 1))
	r.ID = ""
	wantCode(t, "own origin with an empty list", c.Send(t, r), http.StatusForbidden, -32600)
	for _, entry := range []string{"*", "null", "app.example", "https://app.example/", "https://app.example/path", "https://", "https://*.example", "https://a.example:0", "https://a.example:99999", "", "https://u:p@a.example", "https://a.example?x", "https://a.example:"} {
		if _, err := fixture.New(fixture.Options{Origins: []string{entry}}); err == nil {
			t.Errorf("origin %q did not stop the start", entry)
		}
	}
}

// mcp 6, report 67
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := wire.Request{Method: http.MethodOptions, Header: http.Header{}}.With("Origin", origin).With("Access-Control-Request-Method", "POST")
	reply := s.Send(t, r)
	if reply.Status != http.StatusNoContent || len(reply.Body) != 0 {
		t.Errorf("status %d, body %q", reply.Status, reply.Body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "POST", "Access-Control-Max-Age": "600", "Vary": "Origin",
	} {
		if got := reply.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for _, name := range []string{"Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Authorization", "Content-Type"} {
		if !strings.Contains(reply.Header.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("%s is not among the allowed headers", name)
		}
	}
	wantCode(t, "foreign", s.Send(t, r.With("Origin", "https://evil.example")), http.StatusForbidden, -32600)
	wantCode(t, "no preflight", s.Send(t, r.With("Access-Control-Request-Method")), http.StatusMethodNotAllowed, -32600)
}

// mcp 7
func TestContentType(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, sent := range []string{"application/json", "application/json; charset=utf-8", "APPLICATION/JSON;charset=UTF-8", `application/json; charset="utf-8"; x=y`} {
		wantServed(t, sent, s.Send(t, greet().With("Content-Type", sent)))
	}
	refused := func(what string, r wire.Request) {
		r.ID = ""
		wantCode(t, what, s.Send(t, r), http.StatusUnsupportedMediaType, -32600)
	}
	for _, sent := range []string{"text/plain", "application/json; charset=latin1", "application/jsonp", "", "application/json, text/plain"} {
		refused(sent, greet().With("Content-Type", sent))
	}
	refused("none", greet().With("Content-Type"))
	refused("twice", greet().With("Content-Type", "application/json", "application/json"))
	refused("gzip", greet().With("Content-Encoding", "gzip"))
	wantServed(t, "identity", s.Send(t, greet().With("Content-Encoding", "identity")))
}

// mcp 8, report 71: who takes JSON gets plain JSON, not a stream.
func TestAccept(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, sent := range []string{"", "*/*", "application/json", "application/*", "application/json, text/event-stream", "text/event-stream;q=0.9, application/json;q=0.1", "text/html, */*;q=0.1"} {
		reply := s.Send(t, greet().With("Accept", sent))
		wantServed(t, sent, reply)
		if reply.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Accept %q: %s", sent, reply.Header.Get("Content-Type"))
		}
	}
	wantServed(t, "absent", s.Send(t, greet().With("Accept")))
	for _, sent := range []string{"text/event-stream", "text/*", "application/json;q=0, text/event-stream", "*/*, application/json;q=0"} {
		reply := s.Send(t, greet().With("Accept", sent))
		wantServed(t, sent, reply)
		if reply.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("Accept %q: %s", sent, reply.Header.Get("Content-Type"))
		}
	}
	for _, sent := range []string{"text/html", "application/xml, text/html", "*/*;q=0", "application/json;q=0", "json"} {
		r := greet().With("Accept", sent)
		r.ID = ""
		wantCode(t, sent, s.Send(t, r), http.StatusNotAcceptable, -32600)
	}
}

// mcp 9
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const limit = 4 << 20
	r := greet()
	r.Body = append(r.Body, bytes.Repeat([]byte(" "), limit-len(r.Body))...)
	wantServed(t, "at the limit", s.Send(t, r))
	wantServed(t, "at the limit in chunks", s.Send(t, r.With("Content-Length", "unknown")))
	r.Body = append(r.Body, ' ')
	r.ID = ""
	wantCode(t, "one more", s.Send(t, r), http.StatusRequestEntityTooLarge, -32600)
	wantCode(t, "one more in chunks", s.Send(t, r.With("Content-Length", "unknown")), http.StatusRequestEntityTooLarge, -32600)
}

// mcp 89: a session's bearer opens no other route, in mode off either.
func TestSessionBearerIsAStranger(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, sent := range []string{"Bearer aion_as_x", "bearer  aion_as_x"} {
		reply := s.Exchange(t, greet().With("Authorization", sent))
		if reply.Status != http.StatusUnauthorized || reply.Header.Get("Www-Authenticate") != `Bearer realm="aion"` || !strings.Contains(string(reply.Body), `"unauthenticated"`) {
			t.Errorf("%s: %d %s", sent, reply.Status, reply.Body)
		}
	}
	wantServed(t, "any other credential in mode off", s.Send(t, greet().With("Authorization", "Bearer whatever").With("X-Aion-Namespaces", "none")))
}

// A body that ends before its announced length is answered, and nothing waits for the rest.
func TestBodyThatDoesNotArriveWhole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const request = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\""
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) || !bytes.Contains(answer, []byte("-32700")) {
		t.Errorf("%v: %s", err, answer)
	}
}
