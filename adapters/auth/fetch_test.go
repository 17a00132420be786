package auth_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aion/adapters/auth"
	"aion/test/fake/issuer"
)

// Whatever the address of the keys answers, the keys that are held go on serving, and the log tells what was wrong.
func TestBadAnswersOfTheIssuerChangeNothing(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys":[]}`))
	}))
	t.Cleanup(elsewhere.Close)
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		log    string
	}{
		"an error":          {failing, "status 500"},
		"nothing":           {func(http.ResponseWriter, *http.Request) {}, "no JSON"},
		"no content":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "status 204"},
		"a page":            {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) }, "no JSON"},
		"another document":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"issuer":"x"}`)) }, "keys is missing"},
		"keys that are one": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":{}}`)) }, "no JSON"},
		"too many keys": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[` + strings.Repeat("{},", 1000) + `{}]}`))
		}, "1001 keys"},
		"too much": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
			_, _ = w.Write([]byte(`{"keys":[]}`))
		}, "more than 1048576 bytes"},
		"a broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"another host": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
			"redirects to another host",
		},
		"another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "redirects to another host"},
		"a circle": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) }, "more than 3 times"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := open(t, nil)
			r.issuer.Answer(c.answer)
			r.pass(5 * time.Minute)
			r.admitted("meanwhile", r.token(nil))
			if !strings.Contains(r.log.String(), c.log) {
				t.Errorf("%q is not in the log:\n%s", c.log, r.log)
			}
			r.issuer.Answer(nil)
			r.pass(30 * time.Second)
			r.admitted("afterwards", r.token(nil))
		})
	}
}

func TestRedirectWithinTheHostIsFollowed(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	set := r.issuer.KeySet()
	r.issuer.Answer(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/keys" {
			http.Redirect(w, req, "/v2/keys", http.StatusFound)
			return
		}
		_, _ = w.Write(set)
	})
	r.run()
	r.settled()
	r.admitted("behind the redirect", r.token(nil))
}

func TestFetchThatHangsEnds(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	r.issuer.Answer(func(w http.ResponseWriter, req *http.Request) {
		for req.Context().Err() == nil { // a byte now and then keeps no fetch alive
			_, _ = fmt.Fprint(w, " ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-req.Context().Done():
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	r.pass(5 * time.Minute)
	r.admitted("meanwhile", r.token(nil))
}

func TestPrivateAuthorityIsTrustedWhenItIsNamed(t *testing.T) {
	t.Parallel()
	r := found(t, nil)
	set := r.issuer.KeySet()
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) }))
	private.Config.ErrorLog = log.New(io.Discard, "", 0) // who does not trust it hangs up
	private.StartTLS()
	t.Cleanup(private.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: private.Certificate().Raw})
	for _, named := range []bool{true, false} {
		q := found(t, func(o *auth.JWKSOptions) {
			o.URL, o.Issuer = private.URL, r.issuer.URL()
			if named {
				o.CA = authority
			}
		})
		q.run()
		q.settled()
		who, err := q.present(r.token(nil))
		if named && err != nil {
			t.Error(err)
		}
		if !named {
			wantRefusal(t, "an unknown authority", who, err, "KeysUnavailable")
		}
	}
}

func FuzzKeySet(f *testing.F) {
	i := issuer.New(f)
	i.Publish(fast(), issuer.NewKey("rsa", "RS256"), issuer.NewKey("ed", "EdDSA"), issuer.NewKey("p384", "ES384"))
	f.Add(i.KeySet())
	f.Add([]byte(`{"keys":[]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","kid":"a","n":"AQ","e":"AQABAAAAAAAAAAE"},{"kty":"EC","kid":"b","crv":"P-256","x":"AA","y":"AA"},{"kty":"OKP","kid":"c","crv":"X25519","x":"AA"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","kid":"b","crv":"P-256","x":"AA","y":"AA","x5u":"http://127.0.0.1/","x5c":["AA"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if used, err := auth.ParseKeySet(text); err != nil && used > 0 {
			t.Errorf("%d keys of a set that is refused: %v", used, err)
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add("a.b.c")
	f.Add(issuer.Shared("none", nil, "k1", map[string]any{"sub": "ada"}))
	f.Add(fast().Token(map[string]any{"sub": "ada", "exp": 1e300, "aud": []any{1}}, map[string]any{"crit": 1}))
	f.Fuzz(func(t *testing.T, token string) {
		r := open(t, nil)
		if who, err := r.present(token); err == nil {
			t.Errorf("%q is admitted as %+v", token, who)
		}
	})
}
