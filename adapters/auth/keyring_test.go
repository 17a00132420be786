package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"aion/adapters/auth"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
	"aion/test/fake/issuer"
)

// mcp 87, report 73
func TestNewKeyWorksAfterOneFetch(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	next := issuer.NewKey("k2", "EdDSA")
	r.issuer.Publish(next)
	r.admitted("the new key", next.Token(r.claims(nil), nil))
	r.settled()
	r.admitted("the new key again", next.Token(r.claims(nil), nil))
	r.admitted("the old key", r.token(nil))
	if n := r.issuer.Fetches(); n != 2 {
		t.Errorf("%d fetches, want the first and one for the new key", n)
	}
}

// mcp 87, report 73
func TestRemovedKeyDiesWithinTheRefreshPeriod(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	next := issuer.NewKey("k2", "ES256")
	r.issuer.Publish(next)
	r.issuer.Remove(r.key)
	r.clock.Advance(5*time.Minute - time.Second)
	r.admitted("before the refresh", r.token(nil))
	r.pass(time.Second)
	r.refused("after the refresh", r.token(nil), "InvalidCredential")
	r.settled() // its kid is not in the set any more, so it was asked for
	r.admitted("the new key", next.Token(r.claims(nil), nil))
	r.issuer.Remove(next)
	r.pass(5 * time.Minute)
	r.refused("an empty set revokes everything", next.Token(r.claims(nil), nil), "InvalidCredential")
}

// An issuer that publishes a key before it signs with it, and removes one after it has stopped, never has a good token
// refused, whoever asks meanwhile.
func TestNoGoodTokenFailsWhileKeysRotate(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	var mu sync.RWMutex // held for reading while a token is on its way
	signing := r.key
	// The clock leaps while tokens are on their way, so these live longer.
	use := func() (access.Caller, error) {
		mu.RLock()
		defer mu.RUnlock()
		return r.present(signing.Token(r.claims(map[string]any{"exp": r.clock.Now().Add(24 * time.Hour).Unix()}), nil))
	}
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for n := range 8 {
		stranger := issuer.NewKey("", "EdDSA")
		callers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if who, err := use(); err != nil || who.Subject != "ada" {
					t.Errorf("a good token is refused: %+v, %v", who, err)
					return
				}
				if _, err := r.present(stranger.Under(fmt.Sprint("made up ", n, i), "EdDSA").Token(r.claims(nil), nil)); err == nil {
					t.Error("a made-up key is good")
					return
				}
			}
		})
	}
	for n := range 12 {
		next := issuer.NewKey(fmt.Sprint("next ", n), "ES256")
		r.issuer.Publish(next)
		r.refreshed()
		mu.Lock()
		old := signing
		signing = next
		mu.Unlock()
		r.issuer.Remove(old)
		r.refreshed()
	}
	stop()
	callers.Wait()
}

// refreshed lets refresh periods pass until a fetch has begun and ended. Made-up kids cause fetches too, so that it is not
// known which one a signal belongs to.
func (r *realm) refreshed() {
	r.t.Helper()
	for known := r.issuer.Fetches(); r.issuer.Fetches() < known+2; {
		r.clock.Advance(5 * time.Minute)
		r.settled()
	}
}

// mcp 87
func TestMadeUpKidsCauseOneFetchIn30Seconds(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	stranger, claims, good := issuer.NewKey("", "EdDSA"), r.claims(nil), r.token(nil)
	flood := func(round string) {
		var callers sync.WaitGroup
		for n := range 50 {
			callers.Go(func() {
				for i := range 67 {
					kid := fmt.Sprint(round, " ", n, " ", i)
					if who, err := r.present(stranger.Under(kid, "EdDSA").Token(claims, nil)); err == nil {
						t.Errorf("%s: admitted %+v", kid, who)
					}
				}
				r.admitted("a good token in the flood", good)
			})
		}
		callers.Wait()
	}
	want := func(fetches int) {
		t.Helper()
		if n := r.issuer.Fetches(); n != fetches {
			t.Errorf("%d fetches, want %d", n, fetches)
		}
	}
	flood("at once") // 3,350 kids each
	r.settled()
	want(2)
	r.clock.Advance(30*time.Second - time.Nanosecond)
	flood("within 30 s")
	want(2)
	r.clock.Advance(time.Nanosecond)
	flood("after 30 s")
	r.settled()
	want(3)
}

// Tokens that could not be good whatever the key says cause no fetch.
func TestTokensOfOthersCauseNoFetch(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	stranger := issuer.NewKey("new", "EdDSA")
	for what, changes := range map[string]map[string]any{
		"expired": {"exp": 1}, "another issuer": {"iss": "x"}, "another audience": {"aud": "x"}, "nobody": {"sub": ""},
	} {
		r.refused(what, stranger.Token(r.claims(changes), nil), "InvalidCredential")
	}
	if n := r.issuer.Fetches(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func failing(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "out of order", http.StatusInternalServerError)
}

// mcp 87
func TestLastKeysServeWhileTheIssuerIsDownUntilTheyAreTooOld(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	r.issuer.Answer(failing)
	r.pass(5 * time.Minute)
	r.admitted("the issuer is down", r.token(nil))
	stranger := issuer.NewKey("new", "EdDSA")
	r.refused("a new key cannot be known", stranger.Token(r.claims(nil), nil), "InvalidCredential")
	r.settled()
	for range 30 { // repeated every 30 s: 20 minutes of age
		r.pass(30 * time.Second)
	}
	r.admitted("as old as they may be", r.token(nil))
	r.pass(30 * time.Second)
	if refusal := r.refused("too old", r.token(nil), "KeysUnavailable"); refusal.Code != domain.CodeUnavailable {
		t.Errorf("%v", refusal)
	}
	r.issuer.Answer(nil)
	r.pass(30 * time.Second)
	r.admitted("the issuer is back", r.token(nil))
}

func TestServerStartsWithoutItsIssuer(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	r.issuer.Answer(failing)
	r.run()
	r.settled()
	r.refused("no keys yet", r.token(nil), "KeysUnavailable")
	r.issuer.Answer(nil)
	r.pass(5 * time.Second)
	r.admitted("the issuer came up", r.token(nil))
}

func TestRequestsWaitForTheFirstKeys(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	hold, asked := make(chan struct{}), make(chan struct{}, 10)
	set := r.issuer.KeySet()
	r.issuer.Answer(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-hold
		_, _ = w.Write(set)
	})
	r.run()
	<-asked
	ctx, leave := context.WithCancelCause(t.Context())
	left := errors.New("the client left")
	leave(left)
	good := ports.Credentials{Authorization: []string{"Bearer " + r.token(nil)}}
	if who, err := r.Authenticate(ctx, good); !errors.Is(err, left) || who.Subject != "" {
		t.Errorf("a client that left: %+v, %v", who, err)
	}
	answers := make(chan error, 1)
	var caller sync.WaitGroup
	caller.Go(func() {
		who, err := r.Authenticate(t.Context(), good)
		if err == nil && who.Subject != "ada" {
			err = errors.New("nobody")
		}
		answers <- err
	})
	close(hold)
	if err := <-answers; err != nil {
		t.Error(err)
	}
	caller.Wait()
}

func TestRequestsEndWithTheServer(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	if who, err := r.present(r.token(nil)); err == nil || who.Subject != "" {
		t.Errorf("admitted without keys: %+v", who)
	}
}

func TestOptionsWithoutCertificateAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := auth.NewJWKS(auth.JWKSOptions{URL: "https://login.example/keys", CA: []byte("no PEM")}); domain.CodeOf(err) != domain.CodeInvalidInput || err == nil {
		t.Errorf("got %v", err)
	}
}

// A fetch that is under way when the place of the keys changes says nothing about the new place.
func TestKeysFromAPlaceThatWasLeftAreDropped(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	asked, answer := make(chan struct{}), make(chan struct{})
	set := r.issuer.KeySet()
	r.issuer.Answer(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		_, _ = w.Write(set)
	})
	r.run()
	<-asked
	next := issuer.New(t)
	key := issuer.NewKey("k1", "EdDSA")
	next.Publish(key)
	change := auth.JWKSOptions{URL: next.KeysURL(), Refresh: 5 * time.Minute, MaxAge: 20 * time.Minute, Issuer: r.issuer.URL(), Audience: audience}
	if err := r.Change(change); err != nil {
		t.Fatal(err)
	}
	close(answer)
	r.admitted("a key of the new place", key.Token(r.claims(nil), nil))
	r.refused("one of the old place", r.token(nil), "InvalidCredential")
	change.CA = []byte("no PEM")
	if err := r.Change(change); domain.CodeOf(err) != domain.CodeInvalidInput {
		t.Errorf("a broken certificate: %v", err)
	}
	r.admitted("after the refusal", key.Token(r.claims(nil), nil))
}
