package auth_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aion/adapters/auth"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
	"aion/test/fake"
	"aion/test/fake/issuer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const audience = "https://aion.example/mcp"

// realm is an authenticator that runs against an issuer of its own; its clock stands until it is moved.
type realm struct {
	*auth.JWKS
	t      *testing.T
	issuer *issuer.Issuer
	clock  *fake.Clock
	log    *fake.Log
	key    *issuer.Key // published, ES256
}

// fast are keys that cost little to make and to check.
var fast = sync.OnceValue(func() *issuer.Key { return issuer.NewKey("k1", "ES256") })

// found makes a realm whose first fetch is not made yet.
func found(t *testing.T, change func(*auth.JWKSOptions)) *realm {
	t.Helper()
	r := &realm{t: t, issuer: issuer.New(t), clock: fake.NewClock(time.Time{}), log: &fake.Log{}, key: fast()}
	r.issuer.Publish(r.key)
	o := auth.JWKSOptions{
		URL: r.issuer.KeysURL(), Refresh: 5 * time.Minute, MaxAge: 20 * time.Minute, Issuer: r.issuer.URL(), Audience: audience,
		Clock: r.clock, Log: slog.New(slog.NewTextHandler(r.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	j, err := auth.NewJWKS(o)
	if err != nil {
		t.Fatal(err)
	}
	r.JWKS = j
	return r
}

// open makes a realm that has fetched its keys.
func open(t *testing.T, change func(*auth.JWKSOptions)) *realm {
	t.Helper()
	r := found(t, change)
	r.run()
	r.settled()
	return r
}

// run keeps the keys fresh until the test ends.
func (r *realm) run() {
	ctx, stop := context.WithCancel(context.WithoutCancel(r.t.Context()))
	var done sync.WaitGroup
	done.Go(func() { _ = r.Run(ctx) })
	r.t.Cleanup(func() { stop(); done.Wait() })
}

// settled waits until a fetch has ended and the next one is planned.
func (r *realm) settled() {
	r.t.Helper()
	select {
	case <-r.clock.Asked():
	case <-time.After(30 * time.Second):
		r.t.Fatal("no fetch was made")
	}
}

// pass moves the clock over the next planned fetch.
func (r *realm) pass(d time.Duration) {
	r.t.Helper()
	r.clock.Advance(d)
	r.settled()
}

// claims are good ones with changes.
func (r *realm) claims(changes map[string]any) map[string]any {
	return r.issuer.Claims(audience, r.clock.Now(), changes)
}

// token is a good token of the realm's key, with changed claims.
func (r *realm) token(changes map[string]any) string { return r.key.Token(r.claims(changes), nil) }

func (r *realm) present(token string) (access.Caller, error) {
	return r.Authenticate(r.t.Context(), ports.Credentials{Authorization: []string{"Bearer " + token}})
}

func (r *realm) admitted(what, token string) access.Caller {
	r.t.Helper()
	who, err := r.present(token)
	if err != nil {
		r.t.Errorf("%s: refused: %v", what, err)
	}
	return who
}

func (r *realm) refused(what, token, errorType string) *domain.Error {
	r.t.Helper()
	who, err := r.present(token)
	return wantRefusal(r.t, what, who, err, errorType)
}

func wantRefusal(t *testing.T, what string, who access.Caller, err error, errorType string) *domain.Error {
	t.Helper()
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Type != errorType {
		t.Errorf("%s: got %+v, %v; want the refusal %s", what, who, err, errorType)
		return &domain.Error{}
	}
	if who.Subject != "" || who.Deploy || who.AllNamespaces || len(who.Namespaces) > 0 {
		t.Errorf("%s: the refused caller has grants: %+v", what, who)
	}
	return refusal
}
