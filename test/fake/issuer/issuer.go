// Package issuer is a token issuer on the loopback: it signs tokens with keys that can be rotated, publishes them as a
// key set, and counts who asks. It signs with the standard library alone, so that a verifier is never tested against
// itself.
package issuer

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Issuer is safe for concurrent use.
type Issuer struct {
	server *httptest.Server

	mu      sync.Mutex
	keys    []*Key
	fetches int
	answer  http.HandlerFunc // instead of the key set; nil: the key set
}

// New starts an issuer without keys; it ends with the test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{}
	i.server = httptest.NewServer(i)
	tb.Cleanup(i.server.Close)
	return i
}

// URL is the issuer's own name: iss.
func (i *Issuer) URL() string { return i.server.URL }

// KeysURL is where the key set is published.
func (i *Issuer) KeysURL() string { return i.server.URL + "/keys" }

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches++
	answer := i.answer
	set := i.keySet()
	i.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	_, _ = w.Write(set)
}

// keySet is the published text.
func (i *Issuer) keySet() []byte {
	public := make([]map[string]any, 0, len(i.keys))
	for _, k := range i.keys {
		public = append(public, k.public())
	}
	text, err := json.Marshal(map[string]any{"keys": public})
	if err != nil {
		panic(err)
	}
	return text
}

// KeySet is the text of the key set as it is published now.
func (i *Issuer) KeySet() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keySet()
}

// Fetches is how often the key set was asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Answer replaces the key set by another answer; nil: the key set again.
func (i *Issuer) Answer(with http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = with
}

// Publish adds keys to the set.
func (i *Issuer) Publish(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, keys...)
}

// Remove takes a key out of the set.
func (i *Issuer) Remove(key *Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = slices.DeleteFunc(i.keys, func(k *Key) bool { return k == key })
}

// Claims are those of a good token for an audience, valid for ten minutes around now, with changes: a nil value removes a
// claim.
func (i *Issuer) Claims(audience string, now time.Time, changes map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.URL(), "aud": audience, "sub": "ada", "iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}
