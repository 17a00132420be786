package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
)

// algorithms are the signatures that are accepted (mcp 8.4): never none, never one with a shared secret.
func algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"}
}

// publicKey is one key of an issuer and the algorithms that it may verify.
type publicKey struct {
	key        any
	algorithms []string
}

// keySet is an issuer's keys by kid. A kid may stand for several keys, one per type.
type keySet map[string][]publicKey

// The bounds of a key set: far more than any issuer publishes.
const (
	maxKeys   = 1_000
	maxPerKid = 4
	maxKid    = 256 // bytes
)

// parseKeySet reads a JSON Web Key Set. Keys that cannot verify a signature here (another use, an unknown type, a weak or
// broken value, no kid) are left out; a text that is no key set is an error. An empty set is a set: it revokes every key.
func parseKeySet(text []byte) (keySet, error) {
	var wire struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if wire.Keys == nil {
		return nil, errors.New("no key set: the member keys is missing")
	}
	if n := len(*wire.Keys); n > maxKeys {
		return nil, fmt.Errorf("%d keys; at most %d are read", n, maxKeys)
	}
	set := keySet{}
	for _, raw := range *wire.Keys {
		kid, key, ok := parseKey(raw)
		if ok && len(set[kid]) < maxPerKid {
			set[kid] = append(set[kid], key)
		}
	}
	return set, nil
}

func parseKey(raw json.RawMessage) (kid string, key publicKey, ok bool) {
	var m jwkset.JWKMarshal
	if json.Unmarshal(raw, &m) != nil || m.KID == "" || len(m.KID) > maxKid || m.USE != "" && m.USE != jwkset.UseSig {
		return "", publicKey{}, false
	}
	if len(m.KEYOPS) > 0 && !slices.Contains(m.KEYOPS, jwkset.KeyOpsVerify) {
		return "", publicKey{}, false
	}
	// Certificates are not looked at, so a key cannot make the server fetch one. Private halves are not read.
	bare := jwkset.JWKMarshal{KTY: m.KTY, CRV: m.CRV, X: m.X, Y: m.Y, N: m.N, E: m.E}
	jwk, err := jwkset.NewJWKFromMarshal(bare, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil || len(m.E) > 6 { // an exponent of over 32 bits is cut by the library
		return "", publicKey{}, false
	}
	key = publicKey{key: jwk.Key(), algorithms: fitting(jwk.Key())}
	if m.ALG != "" {
		key.algorithms = slices.DeleteFunc(key.algorithms, func(alg string) bool { return alg != string(m.ALG) })
	}
	return m.KID, key, len(key.algorithms) > 0
}

// The sizes of RSA keys: a shorter one is weak, a longer one makes every request slow.
const (
	minRSABits = 2_048
	maxRSABits = 8_192
)

// fitting gives the algorithms that belong to a key's type; none for a key that is not used.
func fitting(key any) []string {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSABits || bits > maxRSABits || k.E < 3 || k.E%2 == 0 {
			return nil
		}
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return []string{"ES256"}
		case elliptic.P384():
			return []string{"ES384"}
		}
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}
