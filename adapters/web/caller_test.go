package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/web"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// scripted is an authenticator that gives one answer and keeps what it was asked.
type scripted struct {
	err  error
	sent *ports.Credentials
}

func (s scripted) Authenticate(_ context.Context, c ports.Credentials) (access.Caller, error) {
	*s.sent = c
	return access.Caller{Subject: "ada"}, s.err
}

func ask(t *testing.T, err error, resource *web.ProtectedResource, log *slog.Logger) (ports.Credentials, access.Caller, error) {
	t.Helper()
	var sent ports.Credentials
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp?access_token=x", strings.NewReader("body"))
	r.Header = http.Header{
		"Authorization": {"Bearer a", "Bearer b"}, "X-Aion-Subject": {"ada"}, "X-Aion-Namespaces": {"a", "b"}, "X-Aion-Deploy": {"true"}, "X-Request-Id": {"r1"},
	}
	who, fault := web.NewCallers(web.Door{Auth: scripted{err: err, sent: &sent}, Resource: resource, Log: log}).Caller(r)
	return sent, who, fault
}

func protected(t *testing.T) *web.ProtectedResource {
	t.Helper()
	p, err := web.NewProtectedResource(web.Resource{PublicURL: "https://aion.example", Path: "/mcp", Issuer: "https://login.example"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAuthenticatorSeesTheHeadersAsTheyWereSent(t *testing.T) {
	t.Parallel()
	sent, who, err := ask(t, nil, nil, slog.New(slog.DiscardHandler))
	want := ports.Credentials{Authorization: []string{"Bearer a", "Bearer b"}, Subject: []string{"ada"}, Namespaces: []string{"a", "b"}, Deploy: []string{"true"}}
	if d := cmp.Diff(want, sent); d != "" || err != nil || who.Subject != "ada" {
		t.Errorf("%+v, %v\n%s", who, err, d)
	}
}

// With a protected resource no error lets a request in, whatever it is; the caller reads nothing of a defect, the log does.
func TestEveryErrorIsAChallengeOfTheResource(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		err    error
		status int
	}{
		"no credential": {&domain.Error{Code: domain.CodeUnauthenticated, Type: "MissingCredential"}, http.StatusUnauthorized},
		"a bad one":     {&domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "a \"quoted\" \\ é\r\n text"}, http.StatusUnauthorized},
		"no scope":      {&domain.Error{Code: "insufficient_scope", Type: "ScopeMissing"}, http.StatusForbidden},
		"no keys":       {domain.Unavailable("KeysUnavailable", "later", nil), http.StatusServiceUnavailable},
		"a defect":      {errors.New("secret cause"), http.StatusInternalServerError},
	} {
		var log bytes.Buffer
		_, who, err := ask(t, c.err, protected(t), slog.New(slog.NewTextHandler(&log, nil)))
		var challenge *web.ChallengeError
		if !errors.As(err, &challenge) || challenge.Status != c.status || who.Subject != "" {
			t.Errorf("%s: %+v, %v", what, who, err)
			continue
		}
		answer := httptest.NewRecorder()
		challenge.Write(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader("body")))
		header := answer.Header().Get("WWW-Authenticate")
		if answer.Code != c.status || (header == "") != (c.status >= 500) || strings.ContainsAny(header, "\r\n\\é") || strings.Count(header, `"`)%2 != 0 {
			t.Errorf("%s: %d %q", what, answer.Code, header)
		}
		if strings.Contains(answer.Body.String(), "secret cause") || what == "a defect" && !strings.Contains(log.String(), "secret cause") {
			t.Errorf("%s: answered %s, logged %s", what, answer.Body, log.String())
		}
		if (log.Len() == 0) != (what == "no credential") {
			t.Errorf("%s: logged %q", what, log.String())
		}
	}
}

func TestRefusalsWithoutAResourceAreLeftToTheRoute(t *testing.T) {
	t.Parallel()
	refusal := &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "m"}
	_, who, err := ask(t, refusal, nil, slog.New(slog.DiscardHandler))
	var challenge *web.ChallengeError
	if errors.As(err, &challenge) || !errors.Is(err, refusal) || who.Subject != "" {
		t.Errorf("%+v, %v", who, err)
	}
}

func TestEvery401HasAChallenge(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	web.WriteProblem(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), http.StatusUnauthorized, &domain.Error{Code: domain.CodeUnauthenticated, Type: "MissingCredential"})
	if got := answer.Header().Get("WWW-Authenticate"); got != `Bearer realm="aion"` {
		t.Errorf("%q", got)
	}
}

// counted keeps the reasons of failures.
type counted struct{ reasons []string }

func (c *counted) AuthFailure(reason string)               { c.reasons = append(c.reasons, reason) }
func (*counted) MCPRequest(string, string)                 {}
func (*counted) MCPToolCall(string, string, time.Duration) {}
func (*counted) KeysFetched(bool)                          {}

// server 9: who sends wrong credentials is told so 20 times a minute and address; a good one always works.
func TestTwentyFirstWrongCredentialIsToldToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wrong := &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "m"}
		var sent ports.Credentials
		answer, meter := &scripted{sent: &sent}, &counted{}
		for what, door := range map[string]web.Door{"token": {Auth: answer, Meter: meter}, "jwks": {Auth: answer, Resource: protected(t), Meter: meter}} {
			callers := web.NewCallers(door)
			try := func(from string, err error) (status int, retry string) {
				answer.err = err
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
				r.RemoteAddr = from
				_, refused := callers.Caller(r)
				if refused == nil {
					return http.StatusOK, ""
				}
				w := httptest.NewRecorder()
				web.Refuse(w, r, refused)
				return w.Code, w.Header().Get("Retry-After")
			}
			want := func(from string, err error, status int, retry string) {
				t.Helper()
				if got, wait := try(from, err); got != status || wait != retry {
					t.Errorf("%s from %s: %d, wait %q; want %d, %q", what, from, got, wait, status, retry)
				}
			}
			missing := &domain.Error{Code: domain.CodeUnauthenticated, Type: "MissingCredential", Message: "m"}
			for n := range 20 {
				want(fmt.Sprintf("192.0.2.1:%d", 1000+n), wrong, http.StatusUnauthorized, "")
				want(fmt.Sprintf("[2001:db8::%x]:1", n+1), wrong, http.StatusUnauthorized, "")
				want("192.0.2.1:1", missing, http.StatusUnauthorized, "") // no credential is no wrong one
			}
			time.Sleep(30 * time.Second)
			want("192.0.2.1:9", wrong, http.StatusTooManyRequests, "30")
			want("[::ffff:192.0.2.1]:9", wrong, http.StatusTooManyRequests, "30")
			want("[2001:db8::ffff:1]:9", wrong, http.StatusTooManyRequests, "30")
			want("[2001:db8:0:1::1]:9", wrong, http.StatusUnauthorized, "")
			want("192.0.2.2:9", wrong, http.StatusUnauthorized, "")
			want("@", wrong, http.StatusUnauthorized, "")
			want("192.0.2.1:9", missing, http.StatusUnauthorized, "")
			want("192.0.2.1:9", nil, http.StatusOK, "")
			time.Sleep(30 * time.Second)
			want("192.0.2.1:9", wrong, http.StatusUnauthorized, "")
		}
		if n := len(meter.reasons); n != 2*(40+6+1) {
			t.Errorf("%d failures are counted: %v", n, meter.reasons)
		}
	})
}

// server 9: a flood from everywhere takes bounded memory and keeps no good credential out.
func TestWrongCredentialsFromEverywhereShareOneBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent ports.Credentials
		answer := &scripted{sent: &sent, err: &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "m"}}
		callers := web.NewCallers(web.Door{Auth: answer})
		told := 0
		for n := range 12_000 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", n/250, n%250)
			if _, err := callers.Caller(r); domain.CodeOf(err) == domain.CodeUnauthenticated {
				told++
			}
		}
		if told != 10_000+20 {
			t.Errorf("%d are told what is wrong", told)
		}
		time.Sleep(time.Minute)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if _, err := callers.Caller(r); domain.CodeOf(err) != domain.CodeUnauthenticated {
			t.Errorf("after the minute: %v", err)
		}
	})
}

// A stream that looks again at the credential of its reader makes nobody wait, and leaves no trace of an attempt.
func TestLookingAgainIsNoFailedSignIn(t *testing.T) {
	t.Parallel()
	refusal := &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "expired"}
	var log bytes.Buffer
	var sent ports.Credentials
	callers := web.NewCallers(web.Door{
		Auth: scripted{err: refusal, sent: &sent}, Resource: protected(t), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Audit: func(context.Context, domain.AuditRecord) { t.Error("a look was recorded") },
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer a")
	for range 50 {
		if _, err := web.Again(callers, r); !errors.Is(err, refusal) || domain.CodeOf(err) != domain.CodeUnauthenticated {
			t.Fatal(err)
		}
	}
	if log.Len() > 0 || len(sent.Authorization) != 1 {
		t.Errorf("%s, sent %v", log.String(), sent)
	}
}
