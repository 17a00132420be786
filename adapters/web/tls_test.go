package web_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/web"
	"aion/domain"
	"aion/test/fake/authority"
)

func proof(t *testing.T, a *authority.Authority) *web.Certificate {
	t.Helper()
	c, err := web.ReadCertificate(a.Issue(time.Hour, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// over is a client that trusts the authority, with connections of its own.
func over(t *testing.T, a *authority.Authority, limit func(*tls.Config)) *http.Client {
	t.Helper()
	cfg := &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS10}
	if limit != nil {
		limit(cfg)
	}
	transport := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// fetch gives the response without its body, which is read.
func fetch(t *testing.T, c *http.Client, url string) (proto string, header http.Header, serial string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		return "", nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	if res.TLS != nil {
		serial = res.TLS.PeerCertificates[0].SerialNumber.String()
	}
	return res.Proto, res.Header, serial, nil
}

func secure(url string) string { return "https" + strings.TrimPrefix(url, "http") }

// server 6: TLS brings HTTP/2 and tells browsers to stay; plain HTTP says nothing of the kind.
func TestTLSBringsHTTP2AndStrictTransport(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	h := run(t, web.Config{Certificate: proof(t, a)}, web.NewHealth(), quiet(), nil)
	proto, header, _, err := fetch(t, over(t, a, nil), secure(h.url)+"/health/live")
	if err != nil || proto != "HTTP/2.0" || header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("%s %v %v", proto, header, err)
	}
	plain := run(t, web.Config{}, web.NewHealth(), quiet(), nil)
	if _, header, _, err := fetch(t, over(t, a, nil), plain.url+"/health/live"); err != nil || header.Get("Strict-Transport-Security") != "" {
		t.Errorf("%v %v", header, err)
	}
	if res, _ := do(t, http.MethodGet, h.url+"/health/live", nil); res.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP on a TLS listener: %d", res.StatusCode)
	}
}

// server 6: no version below 1.2, and none below the configured one.
func TestOldTLSVersionsAreNotSpoken(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	for _, c := range []struct {
		least, spoken uint16
		ok            bool
	}{
		{0, tls.VersionTLS11, false}, {0, tls.VersionTLS12, true}, {tls.VersionTLS13, tls.VersionTLS12, false}, {tls.VersionTLS13, tls.VersionTLS13, true},
	} {
		h := run(t, web.Config{Certificate: proof(t, a), LeastTLS: c.least}, web.NewHealth(), quiet(), nil)
		_, _, _, err := fetch(t, over(t, a, func(o *tls.Config) { o.MaxVersion = c.spoken }), secure(h.url)+"/health/live")
		if (err == nil) != c.ok {
			t.Errorf("least %x, spoken %x: %v", c.least, c.spoken, err)
		}
	}
}

// server 39: a renewed certificate is shown to who connects next; who is connected stays so.
func TestARenewedCertificateIsForNewConnections(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	shown, renewed := proof(t, a), proof(t, a)
	h := run(t, web.Config{Certificate: shown}, web.NewHealth(), quiet(), nil)
	open := over(t, a, nil)
	_, _, before, err := fetch(t, open, secure(h.url)+"/health/live")
	if err != nil {
		t.Fatal(err)
	}
	if shown.Same(renewed) {
		t.Error("two certificates are taken for one")
	}
	shown.Replace(renewed)
	if !shown.Same(renewed) {
		t.Error("one certificate is taken for two")
	}
	if _, _, still, err := fetch(t, open, secure(h.url)+"/health/live"); err != nil || still != before {
		t.Errorf("the open connection: %s, then %s, %v", before, still, err)
	}
	if _, _, after, err := fetch(t, over(t, a, nil), secure(h.url)+"/health/live"); err != nil || after == before {
		t.Errorf("a new connection: %s, then %s, %v", before, after, err)
	}
}

// server 17: a stream over HTTP/2 carries what is sent when it is sent, and its own origin counts as such.
func TestStreamsAndOwnOriginWorkOverTLS(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	more := make(chan struct{})
	h := run(t, web.Config{Certificate: proof(t, a)}, web.NewHealth(), quiet(), func(e *gin.Engine) {
		e.GET("/feed", web.Guard(web.Hosts{}, nil), func(c *gin.Context) {
			s := web.NewStream(c.Writer)
			defer s.Close()
			_ = s.Send("one", []byte("1"))
			<-more
			_ = s.Send("two", []byte("2"))
		})
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, secure(h.url)+"/feed", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", secure(h.url))
	res, err := over(t, a, nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	first := make([]byte, len("event: one\ndata: 1\n\n"))
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "event: one\ndata: 1\n\n" || res.ProtoMajor != 2 {
		t.Fatalf("%q %v, %s", first, err, res.Proto)
	}
	close(more)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "event: two\ndata: 2\n\n" {
		t.Errorf("%q %v", rest, err)
	}
}

// server 36: whatever stands in the two files is a certificate with its key, or a refusal that says which file is at fault.
func TestFilesThatProveNothingAreRefused(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	cert, key := a.Issue(time.Hour, "x")
	_, foreign := a.Issue(time.Hour, "x")
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("-----BEGIN nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cert, key, want, text string }{
		{"/nonexistent", key, "CertificateUnreadable", "the certificate /nonexistent cannot be read: no such file"},
		{cert, "/nonexistent", web.KeyUnreadable, "the private key /nonexistent cannot be read: no such file"},
		{t.TempDir(), key, "CertificateUnreadable", "is a directory"},
		{cert, foreign, "CertificateInvalid", "do"},
		{garbage, key, "CertificateInvalid", garbage},
		{cert, garbage, "CertificateInvalid", garbage},
		{"/dev/zero", key, "CertificateInvalid", "/dev/zero"},
		{key, cert, "CertificateInvalid", "prove nothing together"},
	} {
		_, err := web.ReadCertificate(c.cert, c.key)
		if domain.TypeOf(err) != c.want || domain.CodeOf(err) != domain.CodeInvalidInput || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s, %s: %v", c.cert, c.key, err)
		}
	}
}
