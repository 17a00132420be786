package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/cli/client"
	"aion/domain"
)

func open(t *testing.T, target client.Target) *client.Client {
	t.Helper()
	if target.Patience == 0 {
		target.Patience = time.Minute
	}
	c, err := client.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// server 31: a token goes to its origin only: not after a redirect, whoever it leads to.
func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reached := 0
	other := serve(t, func(http.ResponseWriter, *http.Request) { mu.Lock(); reached++; mu.Unlock() })
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret-token" {
				t.Errorf("%q", r.Header)
			}
			http.Redirect(w, r, other+"/api/v1/server", status)
		})
		c := open(t, client.Target{URL: url, Token: "secret-token", Credential: "AION_TOKEN"})
		_, err := c.Do(t.Context(), client.Request{Path: "/server"})
		if domain.TypeOf(err) != "NoAionServer" || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %v", status, err)
		}
		if _, err := c.Stream(t.Context(), client.Request{Path: "/server"}, "", nil); domain.TypeOf(err) != "NoAionServer" {
			t.Errorf("%d: a stream: %v", status, err)
		}
	}
	if reached != 0 {
		t.Errorf("the other server was asked %d times", reached)
	}
}

// server 31: nor over plain HTTP to another machine, nor to one that proves nothing, nor in a text.
func TestATokenIsNotShownToOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url  string
		skip bool
		want string
	}{
		{"http://aion.example.org", false, "TokenExposed"},
		{"http://10.1.2.3:8080", false, "TokenExposed"},
		{"https://aion.example.org", true, "TokenExposed"},
		{"https://aion.example.org", false, ""},
		{"https://127.0.0.1:1", true, ""},
		{"http://127.0.0.1:8080", false, ""},
		{"http://[::1]:8080", false, ""},
		{"http://localhost:8080/", false, ""},
		{"http://0.0.0.0:8080", false, ""},
		{"unix:/run/engine.sock", false, ""},
		{"http://localhost.example.org", false, "TokenExposed"},
		{"http://127.0.0.1.example.org", false, "TokenExposed"},
	} {
		_, err := client.New(client.Target{URL: c.url, SkipVerify: c.skip, Token: "secret-token", Credential: "--token", Patience: time.Second})
		if domain.TypeOf(err) != c.want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestWhatIsNoServerIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "127.0.0.1:8080", "ftp://x", "http://", "http://user:pw@x", "http://x/api", "http://x?a=b", "http://x#f", "unix:relative", "http://x y", "http://\x7f",
	} {
		if _, err := client.New(client.Target{URL: url}); domain.TypeOf(err) != "URLInvalid" || domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, target := range []client.Target{
		{URL: "http://127.0.0.1:1", Token: "a\nb"}, {URL: "http://127.0.0.1:1", Header: map[string]string{"X-Aion-Subject": "é"}},
	} {
		if _, err := client.New(target); domain.TypeOf(err) != "HeaderInvalid" || strings.Contains(fmt.Sprint(err), "a\nb") {
			t.Errorf("%+v: %v", target, err)
		}
	}
}

// server 2: a refusal keeps its code, type, text, details and reference; what is none is not taken for one.
func TestRefusalsAreReadAndStrangersAreNamed(t *testing.T) {
	t.Parallel()
	const refused = `{"type":"urn:aion:problem:not_found","title":"t","status":404,"detail":"d","instance":"urn:aion:request:r1","code":"not_found",` +
		`"error_type":"WorkflowNotFound","message":"no such run","details":{"n":9007199254740993}}`
	for _, c := range []struct {
		status            int
		media, body, want string
	}{
		{404, "application/problem+json", refused, "WorkflowNotFound"},
		{404, "application/problem+json; charset=utf-8", refused, "WorkflowNotFound"},
		{404, "application/json", refused, "NoAionServer"},
		{502, "text/html", "<html>", "NoAionServer"},
		{500, "application/problem+json", "{", "NoAionServer"},
		{500, "application/problem+json", `{"title":"x"}`, "NoAionServer"},
		{200, "application/json", "{}", ""},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.media)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := open(t, client.Target{URL: url}).Do(t.Context(), client.Request{Path: "/x"})
		if domain.TypeOf(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
		var answered *client.RefusedError
		if c.want == "WorkflowNotFound" && (!errors.As(err, &answered) || answered.Status != 404 || answered.RequestID != "r1" ||
			fmt.Sprint(answered.Refusal.Details["n"]) != "9007199254740993" || answered.Refusal.Message != "no such run") {
			t.Errorf("%+v", answered)
		}
	}
}

func TestAServerThatIsNotThereOrSilent(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + listener.Addr().String()
	_ = listener.Close()
	for _, url := range []string{gone, "unix:" + filepath.Join(t.TempDir(), "no.sock")} {
		if _, err := open(t, client.Target{URL: url}).Do(t.Context(), client.Request{Path: "/x"}); domain.TypeOf(err) != "NoServer" {
			t.Errorf("%s: %v", url, err)
		}
	}
	let := make(chan struct{})
	silent := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/begins" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
		}
		<-let
	})
	defer close(let)
	for _, path := range []string{"/never", "/begins"} {
		_, err := open(t, client.Target{URL: silent, Patience: 50 * time.Millisecond}).Do(t.Context(), client.Request{Path: path})
		if domain.TypeOf(err) != "ServerAway" || !strings.Contains(err.Error(), "said nothing for too long") {
			t.Errorf("%s: %v", path, err)
		}
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := open(t, client.Target{URL: silent}).Do(ctx, client.Request{Path: "/never"}); !errors.Is(err, why) {
		t.Errorf("the cause of the caller is lost: %v", err)
	}
}

func TestASocketIsAServer(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "aion-client-") //nolint:usetesting // a socket has to have a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "a b%.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+r.URL.String()) })}
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(func() { _ = s.Close() })
	c := open(t, client.Target{URL: "unix:" + path, Token: "x"})
	answer, err := c.Do(t.Context(), client.Request{Path: "/namespaces/a%2Fb/runs", Query: map[string][]string{"q": {"x y"}}})
	if err != nil || string(answer.Body) != "localhost/api/v1/namespaces/a%2Fb/runs?q=x+y" {
		t.Errorf("%s, %v", answer.Body, err)
	}
}

// server 31: what --verbose shows holds no credential.
func TestATraceHoldsNoCredential(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "r7")
		w.WriteHeader(http.StatusNoContent)
	})
	var seen []client.Exchange
	c := open(t, client.Target{URL: url, Token: "secret-token", Trace: func(e client.Exchange) { seen = append(seen, e) }})
	if _, err := c.Do(t.Context(), client.Request{Method: "DELETE", Path: "/documents/a.awl", Query: map[string][]string{"a": {"b"}}}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Method != http.MethodDelete || seen[0].Path != "/api/v1/documents/a.awl?a=b" || seen[0].Status != 204 || seen[0].RequestID != "r7" ||
		strings.Contains(fmt.Sprintf("%+v", seen), "secret") {
		t.Errorf("%+v", seen)
	}
}

func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = nil
	if _, err := open(t, client.Target{URL: s.URL}).Do(t.Context(), client.Request{Path: "/x"}); domain.TypeOf(err) != "CertificateRefused" {
		t.Errorf("an unknown authority: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	for _, target := range []client.Target{{URL: s.URL, RootCAs: pool, Token: "x"}, {URL: s.URL, SkipVerify: true}} {
		if _, err := open(t, target).Do(t.Context(), client.Request{Path: "/x"}); err != nil {
			t.Errorf("%+v: %v", target, err)
		}
	}
}
