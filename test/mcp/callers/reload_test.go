package callers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/bootstrap"
	"aion/domain"
	"aion/test/fake/issuer"
	"aion/test/mcp/wire"
)

const otherSecret = "another-secret-than-before"

// reload gives the server its own configuration with changes.
func (w *world) reload(change func(*bootstrap.Config)) (applied, pending []string) {
	w.t.Helper()
	c := w.app.Config
	change(&c)
	applied, pending, err := w.app.Reload(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return applied, pending
}

// fromPage is the status of a request that a page of an origin sends.
func (w *world) fromPage(origin string) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/mcp", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Origin", origin)
	res, err := w.HTTP.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func bearing(r wire.Request, secret string) wire.Request {
	return as(r, "ada", "*", "").With("Authorization", "Bearer "+secret)
}

var listing = wire.Tool("1", "list_documents", "{}")

// server 39
func TestReloadedKeysAreInForceFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	w := openToken(t, func(c *bootstrap.Config) { c.MCPRatePerSecond = 0 })
	w.remember(otherSecret)
	origin := "https://app.example"
	from := func(host string) int { return w.get(http.MethodGet, "/mcp", host).status }
	if got := w.fromPage(origin); got != http.StatusForbidden || from("aion.example") != http.StatusForbidden {
		t.Errorf("before: status %d", got)
	}
	applied, pending := w.reload(func(c *bootstrap.Config) {
		c.AuthToken, c.MCPAllowedOrigins, c.ServerAllowedHosts = otherSecret, []string{origin}, []string{"aion.example"}
		c.LimitMaxInFlight, c.LogLevel, c.DrainTimeout, c.MCPMaxWorkingTasks = 7, "warn", time.Minute, 3
	})
	wantApplied := []string{"server.allowed_hosts", "auth.token", "limits.max_in_flight_activities", "mcp.allowed_origins", "log.level"}
	if d := cmp.Diff([][]string{wantApplied, {"mcp.max_working_tasks", "drain.timeout"}}, [][]string{applied, pending}); d != "" {
		t.Error(d)
	}
	w.wantRefusal("the old secret", w.Send(t, bearing(listing, secret)), "unauthenticated", "InvalidCredential")
	w.wantSuccess("the new one, from a listed origin", w.Send(t, bearing(listing, otherSecret).With("Origin", origin)))
	if got := from("aion.example"); got != http.StatusMethodNotAllowed {
		t.Errorf("a listed host: status %d", got)
	}
	w.reload(func(c *bootstrap.Config) { c.MCPAllowedOrigins, c.ServerAllowedHosts = nil, nil })
	if got := w.fromPage(origin); got != http.StatusForbidden || from("aion.example") != http.StatusForbidden {
		t.Errorf("taken back: status %d", got)
	}
	w.reload(func(c *bootstrap.Config) { c.MCPRatePerSecond, c.MCPRateBurst = 1, 1 })
	w.wantSuccess("the burst", w.Send(t, bearing(listing, otherSecret)))
	w.wantRefusal("over it", w.Send(t, bearing(listing, otherSecret)), "resource_exhausted", "RateLimited")
	if applied, pending := w.reload(func(*bootstrap.Config) {}); len(applied)+len(pending) != 0 {
		t.Errorf("the same again: %v, %v", applied, pending)
	}
}

// server 39: what does not go together with the keys that stay changes nothing at all.
func TestReloadThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	for what, change := range map[string]func(*bootstrap.Config){
		"a short secret":    func(c *bootstrap.Config) { c.AuthToken = "short" },
		"another mode":      func(c *bootstrap.Config) { c.AuthMode, c.AuthToken = "off", "" },
		"no origin":         func(c *bootstrap.Config) { c.MCPAllowedOrigins = []string{"app.example/x"} },
		"null as an origin": func(c *bootstrap.Config) { c.MCPAllowedOrigins = []string{"null"} },
		"no certificate":    func(c *bootstrap.Config) { c.AuthJWKSCAFile = "/nowhere" },
	} {
		c := w.app.Config
		c.ServerAllowedHosts = []string{"aion.example"}
		change(&c)
		if _, _, err := w.app.Reload(c); domain.CodeOf(err) != domain.CodeInvalidInput || strings.Contains(err.Error(), "short\"") {
			t.Errorf("%s: %v", what, err)
		}
		if got := w.get(http.MethodGet, "/mcp", "aion.example").status; got != http.StatusForbidden {
			t.Errorf("%s: the host is allowed: %d", what, got)
		}
	}
	w.wantSuccess("the secret that stays", w.Send(t, bearing(listing, secret)))
}

// server 39
func TestReloadTakesAnotherIssuerOver(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	old := w.token(nil)
	send := func(token string) wire.Reply { return w.Send(t, listing.With("Authorization", "Bearer "+token)) }
	w.wantSuccess("before", send(old))
	w.issuer.Answer(http.NotFound) // keys that are held serve on, whatever else changes
	w.reload(func(c *bootstrap.Config) { c.AuthRequiredScopes = []string{"runs"} })
	if got := send(old).Status; got != http.StatusForbidden {
		t.Errorf("without the scope: status %d", got)
	}
	w.wantSuccess("with the scope", send(w.token(map[string]any{"scope": "runs"})))
	next := issuer.New(t)
	key := issuer.NewKey("k1", "EdDSA") // the kid says nothing about another issuer's key
	next.Publish(key)
	w.reload(func(c *bootstrap.Config) {
		c.AuthIssuer, c.AuthJWKSURL, c.AuthAudience, c.AuthRequiredScopes = next.URL(), next.KeysURL(), "other", nil
	})
	w.wantSuccess("the new issuer", send(w.remember(key.Token(next.Claims("other", time.Now(), nil), nil))))
	for what, token := range map[string]string{"the old issuer": old, "the old audience": w.remember(key.Token(next.Claims(audience, time.Now(), nil), nil))} {
		if got := send(token).Status; got != http.StatusUnauthorized {
			t.Errorf("%s: status %d", what, got)
		}
	}
	if got := w.get(http.MethodGet, "/.well-known/oauth-protected-resource", "").body["authorization_servers"]; !cmp.Equal(got, []any{next.URL()}) {
		t.Errorf("the metadata names %v", got)
	}
}
