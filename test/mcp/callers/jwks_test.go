package callers_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/bootstrap"
	"aion/test/fake/issuer"
	"aion/test/mcp/wire"
)

const metadata = `resource_metadata="` + publicURL + `/.well-known/oauth-protected-resource/mcp"`

func (w *world) wantChallenge(what string, reply wire.Reply, status int, challenge, code string) {
	w.t.Helper()
	if got := reply.Header.Get("WWW-Authenticate"); reply.Status != status || got != challenge {
		w.t.Errorf("%s: %d with\n%s\nwant %d with\n%s", what, reply.Status, got, status, challenge)
	}
	if reply.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(reply.Body), fmt.Sprintf(`"code":%q`, code)) {
		w.t.Errorf("%s: the body is no refusal with code %s: %s", what, code, reply.Body)
	}
}

func requests() []wire.Request {
	return []wire.Request{wire.RPC("1", "server/discover", ""), wire.RPC("1", "tools/list", ""), list(), wire.Raw("", "nonsense", "{").Wrong()}
}

// mcp 84
func TestEveryRequestNeedsATokenOfTheIssuer(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	for _, r := range requests() {
		w.wantChallenge("no token", w.Send(t, r), http.StatusUnauthorized, "Bearer "+metadata, "unauthenticated")
		w.wantChallenge("headers of mode token", w.Send(t, as(r, "root", "*", "true").With("Authorization")), http.StatusUnauthorized, "Bearer "+metadata, "unauthenticated")
	}
	now := time.Now()
	stranger := issuer.NewKey("k2", "ES256")
	der, err := x509.MarshalPKIXPublicKey(w.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	signed := func(claim string, value any) func(*world) string {
		return func(w *world) string { return w.token(map[string]any{claim: value}) }
	}
	made := func(sign func(claims map[string]any) string) func(*world) string {
		return func(w *world) string { return w.remember(sign(w.issuer.Claims(audience, now, nil))) }
	}
	const bad = "the signature of the token does not hold, or is of a kind that is not accepted"
	for what, c := range map[string]struct {
		token       func(*world) string
		description string
	}{
		"expired":        {signed("exp", now.Add(-time.Hour).Unix()), "the token has expired; fetch a new one"},
		"wrong issuer":   {signed("iss", "https://elsewhere.example"), "the token comes from another issuer than the one of this server"},
		"wrong audience": {signed("aud", "https://other.example"), "the token is meant for another audience; ask the issuer for one for " + audience},
		"unknown key":    {made(func(c map[string]any) string { return stranger.Token(c, nil) }), "the token is not signed by a present key of the issuer"},
		"alg none":       {made(func(c map[string]any) string { return issuer.Shared("none", nil, "k1", c) }), bad},
		"HS256":          {made(func(c map[string]any) string { return issuer.Shared("HS256", public, "k1", c) }), bad},
		"no sub":         {signed("sub", nil), "the token names nobody: sub must be a text of at most 255 characters"},
		"no token":       {func(*world) string { return "nonsense" }, "what was sent is no JSON Web Token"},
	} {
		other := openJWKS(t, nil) // each with a minute's failures of its own
		token, want := c.token(other), "Bearer "+metadata+`, error="invalid_token", error_description="`+c.description+`"`
		for _, r := range requests() {
			other.wantChallenge(what, other.Send(t, r.With("Authorization", "Bearer "+token)), http.StatusUnauthorized, want, "unauthenticated")
		}
		if log := other.logged(); what == "wrong audience" && (!strings.Contains(log, "https://other.example") || !strings.Contains(log, audience)) { // report 72
			t.Error("the log does not name the wanted and the given audience")
		}
	}
	good := w.token(nil)
	reply := w.Send(t, list().With("Authorization", "Bearer "+good, "Bearer "+good))
	if reply.Status != http.StatusUnauthorized || !strings.Contains(reply.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("twice: %d %q", reply.Status, reply.Header.Get("WWW-Authenticate"))
	}
	query := *w.Client
	query.URL += "?access_token=" + good
	w.wantChallenge("in the query", query.Send(t, list()), http.StatusUnauthorized, "Bearer "+metadata, "unauthenticated")
	w.wantSuccess("a good one", w.Send(t, list().With("Authorization", "Bearer "+good)))
	w.wantSuccess("the scheme in another case", w.Send(t, list().With("Authorization", "bEARER "+good)))
}

// mcp 84: what the client sends is not waited for.
func TestChallengeComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	never, end := io.Pipe()
	defer func() { _ = end.Close() }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, never)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = list().Header
	res, err := w.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", res.StatusCode)
	}
}

// mcp 85
func TestMissingScopeIsForbiddenAndAMissingGrantARefusal(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, func(c *bootstrap.Config) { c.AuthRequiredScopes = []string{"aion:use", "aion:read"} })
	scopes := `scope="aion:use aion:read"`
	w.wantChallenge("no token", w.Send(t, list()), http.StatusUnauthorized, "Bearer "+metadata+", "+scopes, "unauthenticated")
	for _, r := range requests() {
		w.wantChallenge("one of two", w.Send(t, w.by(r, map[string]any{"scope": "aion:use aion:deploy"})), http.StatusForbidden,
			`Bearer error="insufficient_scope", `+scopes+", "+metadata, "insufficient_scope")
	}
	whole := map[string]any{"scope": "aion:use aion:read"}
	w.wantSuccess("both", w.Send(t, w.by(list(), whole)))
	save := wire.Tool("1", "save_document", arguments(t, "path", "gate.awl", "source", gateDoc))
	w.wantRefusal("without the deploy claim", w.Send(t, w.by(save, whole)), "deploy_denied", "DeployGrantMissing", "deploy grant", "x-aion-deploy", "deploy claim")
	w.wantRefusal("without the namespace", w.Send(t, w.by(runsOf("a"), whole)), "namespace_denied", "NamespaceNotGranted", `"a"`, "namespaces claim")
}

// mcp 86
func TestClaimsGrantAndHeadersDoNot(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	save := wire.Tool("1", "save_document", arguments(t, "path", "gate.awl", "source", gateDoc))
	header := func(r wire.Request, changes map[string]any) wire.Request {
		return as(r, "root", "*", "true").With("Authorization", "Bearer "+w.token(changes))
	}
	for _, claims := range []map[string]any{{"namespaces": []string{"a", "b"}}, {"namespaces": []string{"*"}}} {
		w.wantSuccess("granted", w.Send(t, header(runsOf("b"), claims)))
	}
	for _, claims := range []map[string]any{nil, {"namespaces": "b"}, {"namespaces": []any{"b", 1}}, {"namespaces": []string{"c"}}} {
		w.wantRefusal(fmt.Sprint(claims), w.Send(t, header(runsOf("b"), claims)), "namespace_denied", "NamespaceNotGranted")
	}
	for _, claims := range []map[string]any{{"deploy": true}, {"scope": "aion:deploy"}} {
		w.wantSuccess("granted", w.Send(t, header(save, claims)))
	}
	for _, claims := range []map[string]any{nil, {"deploy": "true"}, {"deploy": 1}} {
		w.wantRefusal(fmt.Sprint(claims), w.Send(t, header(save, claims)), "deploy_denied", "DeployGrantMissing")
	}
}

// server 9: what operators see of credentials and of the issuer's keys.
func TestRefusedCredentialsAreCounted(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, func(c *bootstrap.Config) { c.AuthRequiredScopes = []string{"runs"} })
	good := w.token(map[string]any{"scope": "runs"})
	w.wantSuccess("a good one", w.Send(t, list().With("Authorization", "Bearer "+good)))
	w.Send(t, list())
	w.Send(t, list().With("Authorization", "Bearer wrong"))
	w.Send(t, w.by(list(), nil))
	text := w.metrics("Bearer " + good)
	for _, want := range []string{
		`aion_auth_failures_total{reason="InvalidCredential"} 1`, `aion_auth_failures_total{reason="ScopeMissing"} 1`, `aion_jwks_fetch_total{result="ok"} 1`,
		"aion_jwks_age_seconds 0.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "MissingCredential") {
		t.Error("who sends no credential is counted as a failure")
	}
}

// mcp 87: with the real clock; what takes minutes is shown with a clock that can be moved, in adapters/auth.
func TestKeysRotateUnderTraffic(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := openJWKS(t, nil)
	w.wantSuccess("the first key", w.Send(t, w.by(list(), nil)))
	next := issuer.NewKey("k2", "EdDSA")
	w.issuer.Publish(next)
	fresh := func() string { return w.remember(next.Token(w.issuer.Claims(audience, time.Now(), nil), nil)) }
	w.wantSuccess("a new key works at once", w.Send(t, list().With("Authorization", "Bearer "+fresh())))
	w.issuer.Answer(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "down", http.StatusBadGateway) })
	stranger := issuer.NewKey("", "EdDSA")
	var unauthorized atomic.Int64
	var callers sync.WaitGroup
	for n := range 10 {
		callers.Go(func() {
			for i := range 10 {
				made := stranger.Under(fmt.Sprint("made up ", n, i), "EdDSA").Token(w.issuer.Claims(audience, time.Now(), nil), nil)
				switch reply := w.Send(t, list().With("Authorization", "Bearer "+made)); reply.Status {
				case http.StatusUnauthorized:
					unauthorized.Add(1)
				case http.StatusTooManyRequests: // server 9
					if reply.Header.Get("Retry-After") == "" || !strings.Contains(string(reply.Body), `"error_type":"RateLimited"`) {
						t.Errorf("told to wait: %v %s", reply.Header, reply.Body)
					}
				default:
					t.Errorf("a made-up kid: %d", reply.Status)
				}
			}
		})
	}
	callers.Wait()
	if n, most := int(unauthorized.Load()), 20*(1+int(time.Since(began)/time.Minute)); n < 20 || n > most {
		t.Errorf("%d of 100 are told what is wrong", n)
	}
	w.wantSuccess("the issuer is down", w.Send(t, w.by(list(), nil)))
	w.wantSuccess("the issuer is down", w.Send(t, list().With("Authorization", "Bearer "+fresh())))
	if n, most := w.issuer.Fetches(), 2+int(time.Since(began)/(30*time.Second)); n > most {
		t.Errorf("%d fetches, at most %d are allowed", n, most)
	}
}

// While nothing can be judged nobody is let in, and nobody is told that a good token is bad.
func TestWithoutAnyKeyTheServerIsUnavailable(t *testing.T) {
	t.Parallel()
	away := issuer.New(t)
	away.Answer(http.NotFound)
	w := openJWKS(t, func(c *bootstrap.Config) { c.AuthJWKSURL = away.KeysURL() })
	reply := w.Send(t, w.by(list(), nil))
	if reply.Status != http.StatusServiceUnavailable || reply.Header.Get("Retry-After") == "" || reply.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %v", reply.Status, reply.Header)
	}
	if !strings.Contains(string(reply.Body), `"code":"unavailable"`) || !strings.Contains(string(reply.Body), "KeysUnavailable") {
		t.Errorf("%s", reply.Body)
	}
	w.wantChallenge("no token is still no token", w.Send(t, list()), http.StatusUnauthorized, "Bearer "+metadata, "unauthenticated")
}

// mcp 88
func TestMetadataOfTheProtectedResource(t *testing.T) {
	t.Parallel()
	paths := []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"}
	w := openJWKS(t, func(c *bootstrap.Config) { c.AuthRequiredScopes = []string{"aion:use"} })
	want := map[string]any{
		"resource": audience, "authorization_servers": []any{w.issuer.URL()}, "bearer_methods_supported": []any{"header"},
		"scopes_supported": []any{"aion:use", "aion:deploy"}, "resource_name": "aion",
	}
	for _, path := range paths {
		for _, host := range []string{"", "evil.example", "aion.example:1"} {
			got := w.get(http.MethodGet, path, host)
			if d := cmp.Diff(want, got.body); d != "" || got.status != http.StatusOK {
				t.Errorf("%s at %q: %d\n%s", path, host, got.status, d)
			}
			h := got.header
			if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cache-Control") != "max-age=3600" || h.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", path, h)
			}
		}
		if got := w.get(http.MethodHead, path, ""); got.status != http.StatusOK || got.header.Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d", path, got.status)
		}
		if got := w.get(http.MethodOptions, path, ""); got.status != http.StatusNoContent || !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "MCP-Protocol-Version") {
			t.Errorf("OPTIONS %s: %d %v", path, got.status, got.header)
		}
		if got := w.get(http.MethodPost, path, ""); got.status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, got.status)
		}
		if got := w.get(http.MethodGet, path+"/", ""); got.status != http.StatusNotFound {
			t.Errorf("GET %s/: %d", path, got.status)
		}
	}
	for mode, other := range map[string]*world{"off": openOff(t), "token": openToken(t, nil)} {
		for _, path := range paths {
			if got := other.get(http.MethodGet, path, ""); got.status != http.StatusNotFound || got.body["error_type"] != "RouteNotFound" {
				t.Errorf("mode %s: %s: %d %v", mode, path, got.status, got.body)
			}
		}
	}
	bare := openJWKS(t, nil).get(http.MethodGet, paths[0], "")
	if d := cmp.Diff([]any{"aion:deploy"}, bare.body["scopes_supported"]); d != "" {
		t.Error(d)
	}
}

// unread is a request that is refused before its id is read.
func unread(r wire.Request) wire.Request {
	r.ID = ""
	return r.Wrong()
}

// The public name of the server is admitted as Host, and origin and method are judged before the credential.
func TestOrderOfChecksBeforeTheCredential(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, func(c *bootstrap.Config) { c.MCPAllowedOrigins = []string{"https://app.example"} })
	request := w.by(list(), nil)
	request.Host = "aion.example"
	w.wantSuccess("the public name", w.Send(t, request))
	request.Host = "evil.example"
	if reply := w.Send(t, unread(request)); reply.Status != http.StatusForbidden || reply.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("a foreign host: %d", reply.Status)
	}
	if reply := w.Send(t, unread(list().With("Origin", "https://evil.example"))); reply.Status != http.StatusForbidden || reply.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("a foreign origin: %d", reply.Status)
	}
	reply := w.Send(t, list().With("Origin", "https://app.example"))
	if reply.Status != http.StatusUnauthorized || reply.Header.Get("Access-Control-Expose-Headers") != "WWW-Authenticate" {
		t.Errorf("a listed origin: %d %v", reply.Status, reply.Header)
	}
	get := list()
	get.Method = http.MethodGet
	if reply := w.Send(t, unread(get)); reply.Status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", reply.Status)
	}
	preflight := list().With("Origin", "https://app.example").With("Access-Control-Request-Method", "POST")
	preflight.Method = http.MethodOptions
	if reply := w.Send(t, unread(preflight)); reply.Status != http.StatusNoContent || !strings.Contains(reply.Header.Get("Access-Control-Allow-Headers"), "Authorization") { // report 67
		t.Errorf("a preflight without credential: %d %v", reply.Status, reply.Header)
	}
	if reply := w.Send(t, unread(w.by(list(), nil).With("Content-Type", "text/plain"))); reply.Status != http.StatusUnsupportedMediaType {
		t.Errorf("the media type comes behind the credential: %d", reply.Status)
	}
}

// mcp 74: a task of another subject is unknown, byte for byte, though both come from one issuer.
func TestTaskOfAnotherSubjectIsUnknown(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	all := map[string]any{"namespaces": []string{"*"}, "deploy": true}
	bob := map[string]any{"namespaces": []string{"*"}, "deploy": true, "sub": "bob"}
	w.deployed(func(r wire.Request) wire.Request { return w.by(r, all) })
	w.foreignTasksAreUnknown(
		func(r wire.Request) wire.Request { return w.by(r, all) },
		map[string]func(wire.Request) wire.Request{"bob": func(r wire.Request) wire.Request { return w.by(r, bob) }},
	)
	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		w.wantChallenge("no token", w.Send(t, wire.TaskMethod(method, "task-1", "")), http.StatusUnauthorized, "Bearer "+metadata, "unauthenticated")
	}
}

// mcp 74 rests on it: the names of two issuers' callers, and of callers of two modes, never meet.
func TestSubjectsAreTheirOwn(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	all := map[string]any{"namespaces": []string{"*"}, "deploy": true}
	w.deployed(func(r wire.Request) wire.Request { return w.by(r, all) })
	start := wire.Tool("1", "start_run", arguments(t, "namespace", "a", "workflow_type", "gate", "idempotency_key", "once"))
	bob := map[string]any{"namespaces": []string{"*"}, "sub": "bob"}
	first := text(t, w.wantSuccess("ada", w.Send(t, w.by(start, all))), "workflow_id")
	again := text(t, w.wantSuccess("ada again", w.Send(t, w.by(start, all))), "workflow_id")
	other := text(t, w.wantSuccess("bob", w.Send(t, w.by(start, bob))), "workflow_id")
	if first != again || first == other {
		t.Errorf("ada started %s, again %s; bob %s", first, again, other)
	}
}
