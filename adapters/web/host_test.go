package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"aion/adapters/system"
	"aion/adapters/web"
	"aion/domain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a host on a free port.
type running struct {
	url  string
	stop func() error
}

func run(t *testing.T, cfg web.Config, health *web.Health, log *slog.Logger, routes func(*gin.Engine)) running {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	host := web.New(cfg, health, system.IDs{}, log)
	if routes != nil {
		routes(host.Router())
	}
	address, err := host.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx) }()
	var stopped atomic.Bool
	stop := func() error {
		if stopped.Swap(true) {
			return nil
		}
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return running{url: "http://" + address.String(), stop: stop}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// answer is what came back.
type answer struct {
	StatusCode int
	Header     http.Header
}

func do(t *testing.T, method, url string, header http.Header) (answer, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	if header != nil {
		req.Header = header
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header}, string(body)
}

func problemOf(t *testing.T, res answer, body string) (code, errorType string) {
	t.Helper()
	var p struct {
		Type, Title, Detail, Instance, Code, Message string
		ErrorType                                    string `json:"error_type"`
		Status                                       int
		Details                                      map[string]any
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if p.Status != res.StatusCode || p.Message == "" || p.Message != p.Detail || p.Title == "" || p.Details == nil || p.Type != "urn:aion:problem:"+p.Code ||
		p.Instance != "urn:aion:request:"+res.Header.Get("X-Request-Id") || res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("no problem document: %s %s", res.Header.Get("Content-Type"), body)
	}
	return p.Code, p.ErrorType
}

func TestUnknownPathsAndMethodsAreProblems(t *testing.T) {
	t.Parallel()
	h := run(t, web.Config{Build: "1.0 abc"}, web.NewHealth(), quiet(), func(e *gin.Engine) { e.POST("/thing", func(*gin.Context) {}) })
	for _, c := range []struct {
		method, path string
		status       int
		errorType    string
	}{
		{"GET", "/nothing", 404, "RouteNotFound"},
		{"GET", "/thing/", 404, "RouteNotFound"},
		{"GET", "/thing", 405, "MethodNotAllowed"},
		{"GET", "/" + strings.Repeat("x", 9000), 414, "URLTooLong"},
	} {
		res, body := do(t, c.method, h.url+c.path, nil)
		_, errorType := problemOf(t, res, body)
		if res.StatusCode != c.status || errorType != c.errorType {
			t.Errorf("%s %.20s: %d %s", c.method, c.path, res.StatusCode, errorType)
		}
		if c.status == 405 && res.Header.Get("Allow") != "POST" {
			t.Errorf("Allow is %q", res.Header.Get("Allow"))
		}
		if res.Header.Get("X-Aion-Build") != "1.0 abc" || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("headers %v", res.Header)
		}
	}
}

func TestRequestIDIsTakenOverOnlyWhenWellFormed(t *testing.T) {
	t.Parallel()
	h := run(t, web.Config{}, web.NewHealth(), quiet(), func(e *gin.Engine) {
		e.GET("/id", func(c *gin.Context) { c.String(http.StatusOK, web.RequestID(c.Request)) })
	})
	for sent, taken := range map[string]bool{"abc-1._X": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "": false} {
		res, body := do(t, "GET", h.url+"/id", http.Header{"X-Request-Id": {sent}})
		if (body == sent) != taken || body == "" || res.Header.Get("X-Request-Id") != body {
			t.Errorf("%q became %q, header %q", sent, body, res.Header.Get("X-Request-Id"))
		}
	}
	if res, body := do(t, "GET", h.url+"/id", http.Header{"X-Request-Id": {"a", "b"}}); len(body) != 36 || res.Header.Get("X-Request-Id") != body {
		t.Errorf("a repeated header became %q", body)
	}
}

func TestPanicIsAnInternalErrorWithAReference(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := run(t, web.Config{}, web.NewHealth(), slog.New(slog.NewTextHandler(&log, nil)), func(e *gin.Engine) {
		e.GET("/panic", func(*gin.Context) { panic("secret") })
	})
	res, body := do(t, "GET", h.url+"/panic?token=hidden", http.Header{"X-Request-Id": {"ref-1"}})
	code, errorType := problemOf(t, res, body)
	if res.StatusCode != http.StatusInternalServerError || code != "backend" || errorType != "Internal" || strings.Contains(body, "secret") || !strings.Contains(body, "ref-1") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "ref-1") || !strings.Contains(text, "secret") || !strings.Contains(text, "stack=") || strings.Contains(text, "hidden") {
		t.Errorf("log: %s", text)
	}
}

func TestGuardRefusesForeignHostsAndOrigins(t *testing.T) {
	t.Parallel()
	hosts, err := web.NewHosts("Aion.Example", []string{"other.example"})
	if err != nil {
		t.Fatal(err)
	}
	origins, err := web.NewOrigins("server.cors_allowed_origins", []string{"https://app.example"})
	if err != nil {
		t.Fatal(err)
	}
	h := run(t, web.Config{Hosts: hosts, Origins: origins}, web.NewHealth(), quiet(), func(e *gin.Engine) {
		e.GET("/guarded", web.Guard(hosts, origins), func(c *gin.Context) { c.String(http.StatusOK, "in") })
	})
	for _, c := range []struct {
		host, origin, errorType string
	}{
		{"", "", ""},
		{"aion.example", "", ""},
		{"OTHER.example:443", "", ""},
		{"evil.example", "", "HostNotAllowed"},
		{"", "https://app.example", ""},
		{"", "https://evil.example", "OriginNotAllowed"},
		{"", "null", "OriginNotAllowed"},
		{"aion.example", "http://aion.example", ""},
		{"aion.example:8080", "http://aion.example:8080", ""},
		{"aion.example", "https://aion.example", "OriginNotAllowed"},
		{"aion.example", "http://aion.example:81", "OriginNotAllowed"},
		{"evil.example", "http://evil.example", "HostNotAllowed"},
	} {
		header := http.Header{}
		if c.host != "" {
			header.Set("Host", c.host)
		}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		for path, status := range map[string]int{"/guarded": 200, "/unknown": 404} {
			res, body := do(t, "GET", h.url+path, header)
			if c.errorType == "" {
				if res.StatusCode != status {
					t.Errorf("%+v %s: %d %s", c, path, res.StatusCode, body)
				}
				continue
			}
			if code, errorType := problemOf(t, res, body); res.StatusCode != http.StatusForbidden || code != "origin_denied" || errorType != c.errorType {
				t.Errorf("%+v %s: %d %s", c, path, res.StatusCode, body)
			}
		}
	}
	for _, name := range []string{"http://x", "x:80", "*", "", "a b"} {
		if _, err := web.NewHosts("", []string{name}); err == nil {
			t.Errorf("host name %q was accepted", name)
		}
	}
}

func TestProbesAnswerFromWhatWasSeenLast(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	health := web.NewHealth(web.Check{Name: "store", Probe: func(context.Context) error {
		if broken.Load() {
			return errors.New("does not answer")
		}
		return nil
	}})
	h := run(t, web.Config{}, health, quiet(), nil)
	res, body := do(t, "GET", h.url+"/health/live", http.Header{"Host": {"evil.example"}})
	if res.StatusCode != http.StatusOK || body != `{"status":"pass","checks":[]}` {
		t.Errorf("live: %d %s", res.StatusCode, body)
	}
	await(t, func() bool {
		_, body := do(t, "GET", h.url+"/health/ready", nil)
		return strings.Contains(body, "does not answer")
	})
	for _, path := range []string{"/health/ready", "/health/startup"} {
		if res, _ := do(t, "GET", h.url+path, nil); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	broken.Store(false)
	await(t, func() bool { return health.Ready() })
	for _, path := range []string{"/health/ready", "/health/startup"} {
		if res, _ := do(t, "HEAD", h.url+path, nil); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	broken.Store(true)
	await(t, func() bool { return !health.Ready() })
	if res, _ := do(t, "GET", h.url+"/health/startup", nil); res.StatusCode != http.StatusOK {
		t.Error("what has started is starting again")
	}
}

// server 5.6: where callers need a credential, one without is told the status alone; the cause of a refusal is told nobody.
func TestProbesTellStrangersTheStatusAlone(t *testing.T) {
	t.Parallel()
	health := web.NewHealth(web.Check{Name: "store", Probe: func(context.Context) error {
		return domain.Unavailable("StoreUnavailable", "the database does not answer", errors.New("user=ada host=secret.example"))
	}})
	details := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer known" }
	h := run(t, web.Config{Details: details}, health, quiet(), nil)
	known := http.Header{"Authorization": {"Bearer known"}}
	await(t, func() bool {
		_, body := do(t, "GET", h.url+"/health/ready", known)
		return body == `{"status":"fail","checks":[{"name":"store","status":"fail","detail":"the database does not answer"}]}`
	})
	for _, path := range []string{"/health/ready", "/health/startup", "/health/live"} {
		if _, body := do(t, "GET", h.url+path, http.Header{"Authorization": {"Bearer other"}}); strings.Contains(body, "checks") || !strings.HasPrefix(body, `{"status":`) {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func await(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come true")
		case <-tick.C:
		}
	}
}

func TestStopLetsOpenRequestsFinish(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	h := run(t, web.Config{}, web.NewHealth(), quiet(), func(e *gin.Engine) {
		e.GET("/slow", func(c *gin.Context) {
			close(entered)
			<-leave
			c.String(http.StatusOK, "whole")
		})
	})
	answer := make(chan string, 1)
	go func() {
		res, err := http.Get(h.url + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		answer <- string(body)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- h.stop() }()
	address := strings.TrimPrefix(h.url, "http://")
	await(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(leave)
	if got := <-answer; got != "whole" {
		t.Errorf("the open request got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	h := run(t, web.Config{MaxConnections: 2}, web.NewHealth(), quiet(), nil)
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	ask := func(conn net.Conn) {
		if _, err := fmt.Fprintf(conn, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(conn net.Conn, within time.Duration) bool {
		_ = conn.SetReadDeadline(time.Now().Add(within))
		n, _ := conn.Read(make([]byte, 1))
		return n == 1
	}
	first, second, third := dial(), dial(), dial()
	ask(first)
	ask(second)
	if !answered(first, time.Minute) || !answered(second, time.Minute) {
		t.Fatal("connections within the bound are not served")
	}
	ask(third)
	if answered(third, 200*time.Millisecond) {
		t.Error("a connection over the bound was served")
	}
	_ = first.Close()
	if !answered(third, time.Minute) {
		t.Error("the waiting connection was not served after another had left")
	}
}

func TestSocketIsPrivate(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "web") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	run(t, web.Config{Listen: "unix:" + path}, web.NewHealth(), quiet(), nil)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	res, err := client.Get("http://localhost/health/live")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestListenSaysWhereItFailed(t *testing.T) {
	t.Parallel()
	h := run(t, web.Config{}, web.NewHealth(), quiet(), nil)
	taken := strings.TrimPrefix(h.url, "http://")
	if err := web.New(web.Config{Listen: taken}, web.NewHealth(), system.IDs{}, quiet()).Run(t.Context()); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("%v", err)
	}
}
