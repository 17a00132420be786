package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"aion/adapters/httpapi"
	"aion/adapters/system"
)

// server 1.1: an encoded slash makes no two segments of one.
func TestAnEncodedSlashIsNoOtherRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	for _, path := range []string{
		"/api/v1/namespaces/default%2fruns", "/api/v1/namespaces/default%2Fruns", run + "%2fhistory",
	} {
		w.get(path).refused(404, "not_found", "RouteNotFound")
	}
}

// server 10; 0.4: a refusal does not wait for a body that it will not read.
func TestARefusalDoesNotWaitForTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := strings.TrimPrefix(w.url, "http://")
	for _, head := range []string{
		"POST /api/v1/namespaces/default/runs HTTP/1.1\r\nHost: evil.example\r\n",
		"POST /api/v1/namespaces/default/runs HTTP/1.1\r\nHost: " + address + "\r\nOrigin: http://evil.example\r\n",
		"POST /api/v1/nowhere HTTP/1.1\r\nHost: " + address + "\r\n",
		"PATCH /api/v1/whoami HTTP/1.1\r\nHost: " + address + "\r\n",
		"POST /api/v1/namespaces/default/runs HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: text/csv\r\n",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "%sContent-Length: 1000\r\n\r\nabc", head)
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // the body never comes; a server that waits for it waits for 30 s
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode < 400 || res.StatusCode >= 500 {
			t.Errorf("%q: %v, %v", head, res, err)
		} else {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		_ = conn.Close()
	}
}

// server 1.8: a text comes back byte for byte or is not taken.
func TestATextThatIsNotUTF8IsNotSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPut, "/api/v1/documents/a.awl", "//! \xff\n", "Content-Type", "text/plain").refused(400, "invalid_input", "SchemaViolation")
	w.get("/api/v1/documents/a.awl").refused(404, "not_found", "DocumentNotFound")
}

// server 22: who waits for an outcome is answered when the server stops.
func TestAServerThatStopsAnswersWhoWaitsForAnOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	api := w.mount(httpapi.Options{Runs: w.app.Runs, Callers: named{}, Clock: system.Clock{}})
	time.AfterFunc(50*time.Millisecond, api.Drain)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+run+"/outcome?wait_ms=30000", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Aion-Subject", "ada")
	res, err := (&http.Client{Transport: w.transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusAccepted {
		t.Errorf("answered with %d", res.StatusCode)
	}
}
