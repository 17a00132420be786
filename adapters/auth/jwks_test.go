package auth_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/auth"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
	"aion/test/fake/issuer"
)

// mcp 84
func TestTokensThatAreNotAcceptable(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	stranger := issuer.NewKey("k1", "ES256")
	pemKey := publicPEM(t, r.key)
	now := r.clock.Now()
	good := r.claims(nil)
	for what, token := range map[string]string{
		"expired":                  r.token(map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}),
		"without exp":              r.token(map[string]any{"exp": nil}),
		"exp of another type":      r.token(map[string]any{"exp": "tomorrow"}),
		"exp beyond all time":      r.token(map[string]any{"exp": -1e300}),
		"not yet":                  r.token(map[string]any{"nbf": now.Add(2 * time.Minute).Unix()}),
		"issued in the future":     r.token(map[string]any{"iat": now.Add(2 * time.Minute).Unix()}),
		"wrong issuer":             r.token(map[string]any{"iss": "https://elsewhere.example"}),
		"issuer with a slash":      r.token(map[string]any{"iss": r.issuer.URL() + "/"}),
		"without issuer":           r.token(map[string]any{"iss": nil}),
		"issuer of another type":   r.token(map[string]any{"iss": []string{r.issuer.URL()}}),
		"member in another case":   r.token(map[string]any{"iss": nil, "ISS": r.issuer.URL()}),
		"wrong audience":           r.token(map[string]any{"aud": "https://other.example/mcp"}),
		"audience of a prefix":     r.token(map[string]any{"aud": audience + "/"}),
		"wrong audiences":          r.token(map[string]any{"aud": []string{"a", "b"}}),
		"no audiences":             r.token(map[string]any{"aud": []string{}}),
		"without audience":         r.token(map[string]any{"aud": nil}),
		"audience of another type": r.token(map[string]any{"aud": map[string]any{audience: true}}),
		"without sub":              r.token(map[string]any{"sub": nil}),
		"empty sub":                r.token(map[string]any{"sub": ""}),
		"sub of another type":      r.token(map[string]any{"sub": 7}),
		"sub with a line break":    r.token(map[string]any{"sub": "ada\nroot"}),
		"endless sub":              r.token(map[string]any{"sub": strings.Repeat("a", 256)}),
		"unknown key":              stranger.Under("k2", "ES256").Token(good, nil),
		"another key of that kid":  stranger.Token(good, nil),
		"without kid":              r.key.Token(good, map[string]any{"kid": nil}),
		"kid of another type":      r.key.Token(good, map[string]any{"kid": []string{"k1"}}),
		"kid that is a path":       r.key.Token(good, map[string]any{"kid": "../../k1"}),
		"kid that is a query":      r.key.Token(good, map[string]any{"kid": "k1' OR '1'='1"}),
		"endless kid":              r.key.Token(good, map[string]any{"kid": strings.Repeat("k", 5_000)}),
		"critical extension":       r.key.Token(good, map[string]any{"crit": []string{"b64"}, "b64": false}),
		"alg none":                 issuer.Shared("none", nil, "k1", good),
		"alg None":                 issuer.Shared("None", nil, "k1", good),
		"the public key as secret": issuer.Shared("HS256", pemKey, "k1", good),
		"the key set as secret":    issuer.Shared("HS256", r.issuer.KeySet(), "k1", good),
		"alg of another curve":     r.key.Token(good, map[string]any{"alg": "ES384"}),
		"alg of another type":      r.key.Token(good, map[string]any{"alg": "RS256"}),
		"alg that is no text":      r.key.Token(good, map[string]any{"alg": 256}),
		"without alg":              r.key.Token(good, map[string]any{"alg": nil}),
		"signature cut":            cut(r.token(nil)),
		"signature of zeros":       forged(r.token(nil), make([]byte, 64)),
		"no signature":             forged(r.token(nil), nil),
		"another payload":          spliced(r.token(nil), r.token(map[string]any{"sub": "root"})),
		"two segments":             "a.b",
		"four segments":            r.token(nil) + ".x",
		"no JSON":                  "YQ.YQ.YQ",
		"padding":                  r.token(nil) + "==",
		"encrypted form":           "a.b.c.d.e",
		"huge":                     strings.Repeat("a", 20_000),
		"many dots":                strings.Repeat(".", 10_000),
		"with a space":             r.token(nil) + " x",
		"header of a list":         base64.RawURLEncoding.EncodeToString([]byte(`[]`)) + ".e30.",
		"header of null":           base64.RawURLEncoding.EncodeToString([]byte(`null`)) + ".bnVsbA.",
	} {
		refusal := r.refused(what, token, "InvalidCredential")
		if refusal.Code != domain.CodeUnauthenticated {
			t.Errorf("%s: %v", what, refusal)
		}
	}
	r.admitted("the good one", r.token(nil))
	r.admitted("one of several audiences", r.token(map[string]any{"aud": []string{"x", audience}}))
	r.admitted("without nbf and iat", r.token(map[string]any{"nbf": nil, "iat": nil}))
	if n := r.issuer.Fetches(); n > 2 {
		t.Errorf("%d fetches; the kids that are not in the set cause one", n)
	}
}

func publicPEM(t *testing.T, k *issuer.Key) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Public().(*ecdsa.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func cut(token string) string { return token[:len(token)-4] }

func forged(token string, signature []byte) string {
	return token[:strings.LastIndex(token, ".")+1] + base64.RawURLEncoding.EncodeToString(signature)
}

func spliced(token, payload string) string {
	a, b := strings.Split(token, "."), strings.Split(payload, ".")
	return a[0] + "." + b[1] + "." + a[2]
}

func TestCredentialIsOneBearer(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	good := r.token(nil)
	for what, c := range map[string]struct {
		authorization []string
		errorType     string
	}{
		"none":           {nil, "MissingCredential"},
		"another scheme": {[]string{"DPoP " + good}, "MissingCredential"},
		"twice":          {[]string{"Bearer " + good, "Bearer " + good}, "InvalidCredential"},
		"behind Basic":   {[]string{"Basic eA==", "Bearer " + good}, "InvalidCredential"},
		"joined":         {[]string{"Bearer " + good + ", Bearer " + good}, "InvalidCredential"},
	} {
		who, err := r.Authenticate(t.Context(), ports.Credentials{Authorization: c.authorization})
		wantRefusal(t, what, who, err, c.errorType)
	}
	if _, err := r.Authenticate(t.Context(), ports.Credentials{Authorization: []string{"bearer  " + good}}); err != nil {
		t.Error(err)
	}
}

// report 75
func TestClocksMayDifferByOneMinute(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	r.clock.Advance(437 * time.Millisecond) // tokens are whole seconds, clocks are not
	now := r.clock.Now().Truncate(time.Second)
	for _, claim := range []string{"nbf", "iat"} {
		r.admitted(claim+" 60 s ahead", r.token(map[string]any{claim: now.Add(time.Minute).Unix()}))
		r.refused(claim+" 61 s ahead", r.token(map[string]any{claim: now.Add(61 * time.Second).Unix()}), "InvalidCredential")
	}
	r.admitted("exp 60 s ago", r.token(map[string]any{"exp": now.Add(-time.Minute).Unix()}))
	r.refused("exp 61 s ago", r.token(map[string]any{"exp": now.Add(-61 * time.Second).Unix()}), "InvalidCredential")
}

// report 72
func TestRefusalTellsTheWantedAndTheLogTheGivenAudience(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	refusal := r.refused("wrong audience", r.token(map[string]any{"aud": "https://other.example/mcp"}), "InvalidCredential")
	if !strings.Contains(refusal.Message, audience) || strings.Contains(refusal.Message, "other.example") {
		t.Errorf("the caller reads %q", refusal.Message)
	}
	if cause := refusal.Err.Error(); !strings.Contains(cause, audience) || !strings.Contains(cause, "https://other.example/mcp") {
		t.Errorf("the log reads %q", cause)
	}
	refusal = r.refused("wrong issuer", r.token(map[string]any{"iss": "https://login.elsewhere"}), "InvalidCredential")
	if cause := refusal.Err.Error(); !strings.Contains(cause, r.issuer.URL()) || !strings.Contains(cause, "https://login.elsewhere") {
		t.Errorf("the log reads %q", cause)
	}
}

func TestEveryAlgorithmFitsItsKeyAlone(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	rsaKey := issuer.NewKey("rsa", "RS256")
	rsaKey.Member = map[string]any{"alg": nil} // the set does not say: every RSA signature is good
	p384, ed := issuer.NewKey("p384", "ES384"), issuer.NewKey("ed", "EdDSA")
	bound := issuer.NewKey("bound", "PS256") // the set says PS256
	r.issuer.Publish(rsaKey, p384, ed, bound)
	r.pass(5 * time.Minute)
	good := r.claims(nil)
	for _, alg := range []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"} {
		r.admitted(alg, rsaKey.Under("rsa", alg).Token(good, nil))
		token := bound.Under("bound", alg).Token(good, nil)
		if alg == "PS256" {
			r.admitted("the bound key with "+alg, token)
		} else {
			r.refused("the bound key with "+alg, token, "InvalidCredential")
		}
	}
	r.admitted("ES256", r.key.Token(good, nil))
	r.admitted("ES384", p384.Token(good, nil))
	r.admitted("EdDSA", ed.Token(good, nil))
	r.refused("ES384 with the kid of the P-256 key", p384.Token(good, map[string]any{"kid": "k1"}), "InvalidCredential")
	r.refused("EdDSA with the kid of the RSA key", ed.Token(good, map[string]any{"kid": "rsa"}), "InvalidCredential")
}

func TestOneKidMayStandForKeysOfSeveralTypes(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	ed, second := issuer.NewKey("k1", "EdDSA"), issuer.NewKey("k1", "ES256")
	r.issuer.Publish(ed, second)
	r.pass(5 * time.Minute)
	for _, key := range []*issuer.Key{r.key, ed, second} {
		r.admitted(key.Alg, key.Token(r.claims(nil), nil))
	}
}

func TestKeysThatCannotVerifyAreLeftOut(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	changed := func(kid string, member map[string]any) *issuer.Key {
		k := issuer.NewKey(kid, "ES256")
		k.Member = member
		return k
	}
	keys := []*issuer.Key{
		changed("for encryption", map[string]any{"use": "enc"}),
		changed("for other operations", map[string]any{"key_ops": []string{"encrypt"}}),
		changed("of an unknown type", map[string]any{"kty": "DNA"}),
		changed("of a secret", map[string]any{"kty": "oct", "k": "c2VjcmV0"}),
		changed("of another algorithm", map[string]any{"alg": "RS256"}),
		changed("off the curve", map[string]any{"x": "AAAA"}),
		changed("broken", map[string]any{"x": 7}),
		changed("without value", map[string]any{"y": nil}),
		issuer.NewRSAKey("weak", "RS256", 1024),
	}
	r.issuer.Publish(keys...)
	r.pass(5 * time.Minute)
	for _, key := range keys {
		r.refused(key.Kid, key.Token(r.claims(nil), nil), "InvalidCredential")
	}
	r.admitted("the key beside them", r.token(nil))
	operations := changed("with operations", map[string]any{"key_ops": []string{"sign", "verify"}, "use": nil})
	r.issuer.Publish(operations)
	r.pass(5 * time.Minute)
	r.admitted(operations.Kid, operations.Token(r.claims(nil), nil))
}

// mcp 85
func TestEveryTokenNeedsTheRequiredScopes(t *testing.T) {
	t.Parallel()
	r := open(t, func(o *auth.JWKSOptions) { o.RequiredScopes = []string{"aion:use", "aion:read"} })
	for what, changes := range map[string]map[string]any{
		"none": nil, "one": {"scope": "aion:use"}, "a part": {"scope": "aion:use aion:rea"}, "another type": {"scope": []string{"aion:use", "aion:read"}},
		"a mixed list": {"scp": []any{"aion:use", "aion:read", 1}},
	} {
		refusal := r.refused(what, r.token(changes), "ScopeMissing")
		if refusal.Code != "insufficient_scope" || !strings.Contains(refusal.Message, "aion:use aion:read") {
			t.Errorf("%s: %v", what, refusal)
		}
	}
	r.admitted("as text", r.token(map[string]any{"scope": "x aion:read  aion:use"}))
	r.admitted("as list", r.token(map[string]any{"scp": []string{"aion:use", "aion:read"}}))
	r.admitted("as both", r.token(map[string]any{"scp": []string{"aion:use"}, "scope": "aion:read"}))
	r.refused("expired and without scope", r.token(map[string]any{"exp": 1}), "InvalidCredential")
}

// mcp 86
func TestClaimsBecomeGrants(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	type names = []domain.Namespace
	expires := time.Now().Add(5 * time.Minute).Truncate(time.Second).UTC()
	for what, c := range map[string]struct {
		claims map[string]any
		all    bool
		list   names
		deploy bool
	}{
		"nothing":                 {nil, false, nil, false},
		"a list":                  {map[string]any{"namespaces": []string{"a", "b"}}, false, names{"a", "b"}, false},
		"all":                     {map[string]any{"namespaces": []string{"a", "*"}}, true, nil, false},
		"empty":                   {map[string]any{"namespaces": []string{}}, false, nil, false},
		"a text":                  {map[string]any{"namespaces": "*"}, false, nil, false},
		"an object":               {map[string]any{"namespaces": map[string]any{"*": true}}, false, nil, false},
		"a mixed list":            {map[string]any{"namespaces": []any{"*", 7}}, false, nil, false},
		"with spaces":             {map[string]any{"namespaces": []string{" * "}}, false, names{" * "}, false},
		"another case":            {map[string]any{"Namespaces": []string{"*"}}, false, nil, false},
		"deploy true":             {map[string]any{"deploy": true}, false, nil, true},
		"deploy text":             {map[string]any{"deploy": "true"}, false, nil, false},
		"deploy 1":                {map[string]any{"deploy": 1}, false, nil, false},
		"deploy false with scope": {map[string]any{"deploy": false, "scope": "aion:deploy"}, false, nil, true},
		"scope":                   {map[string]any{"scope": "openid aion:deploy"}, false, nil, true},
		"scope of a prefix":       {map[string]any{"scope": "aion:deployer"}, false, nil, false},
		"scp":                     {map[string]any{"scp": []string{"aion:deploy"}}, false, nil, true},
	} {
		claims := map[string]any{"exp": expires.Unix()}
		maps.Copy(claims, c.claims)
		who, err := r.Authenticate(t.Context(), ports.Credentials{
			Authorization: []string{"Bearer " + r.token(claims)}, Subject: []string{"root"}, Namespaces: []string{"*"}, Deploy: []string{"true"},
		})
		want := access.Caller{Subject: "ada", Issuer: r.issuer.URL(), AllNamespaces: c.all, Namespaces: c.list, Deploy: c.deploy, Source: "claim", Mode: "jwks", Expires: expires}
		if d := cmp.Diff(want, who); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", what, err, d)
		}
	}
}

// mcp 90
func TestNeitherRefusalNorLogHoldsTheToken(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	tokens := []string{r.token(map[string]any{"aud": "x"}), r.token(map[string]any{"exp": 1}), cut(r.token(nil)), issuer.NewKey("k9", "EdDSA").Token(r.claims(nil), nil)}
	for _, token := range tokens {
		refusal := r.refused("a bad token", token, "InvalidCredential")
		text, err := json.Marshal(refusal)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(token, ".") {
			if all := refusal.Error() + string(text) + r.log.String(); strings.Contains(all, part) {
				t.Errorf("a part of the token shows: %s", all)
			}
		}
	}
}
