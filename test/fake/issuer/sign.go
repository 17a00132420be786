package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the algorithms
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// Key signs tokens under a kid with one algorithm.
type Key struct {
	Kid string
	Alg string // RS256 … EdDSA
	// Member changes the published form: nil removes a member.
	Member map[string]any

	private crypto.Signer
}

// NewKey makes a key that fits an algorithm.
func NewKey(kid, alg string) *Key {
	k := &Key{Kid: kid, Alg: alg}
	var err error
	switch alg {
	case "ES256":
		k.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		k.private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "EdDSA":
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	default:
		k.private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		panic(err)
	}
	return k
}

// NewRSAKey makes an RSA key of a size.
func NewRSAKey(kid, alg string, bits int) *Key {
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return &Key{Kid: kid, Alg: alg, private: private}
}

// Under is the same key under another kid or algorithm.
func (k *Key) Under(kid, alg string) *Key { return &Key{Kid: kid, Alg: alg, private: k.private} }

// Public is the public half.
func (k *Key) Public() crypto.PublicKey { return k.private.Public() }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// public is the published form.
func (k *Key) public() map[string]any {
	m := map[string]any{"kid": k.Kid, "alg": k.Alg, "use": "sig"}
	switch p := k.private.Public().(type) {
	case *rsa.PublicKey:
		m["kty"], m["n"], m["e"] = "RSA", encode(p.N.Bytes()), encode(big.NewInt(int64(p.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := p.Bytes()
		if err != nil {
			panic(err)
		}
		half := len(point) / 2 // behind one byte that names the form
		m["kty"], m["crv"], m["x"], m["y"] = "EC", p.Curve.Params().Name, encode(point[1:1+half]), encode(point[1+half:])
	case ed25519.PublicKey:
		m["kty"], m["crv"], m["x"] = "OKP", "Ed25519", encode(p)
	}
	for name, value := range k.Member {
		if m[name] = value; value == nil {
			delete(m, name)
		}
	}
	return m
}

// Token signs claims. header changes the header: nil removes a member.
func (k *Key) Token(claims, header map[string]any) string {
	h := map[string]any{"alg": k.Alg, "kid": k.Kid, "typ": "JWT"}
	for name, value := range header {
		if h[name] = value; value == nil {
			delete(h, name)
		}
	}
	text := segment(h) + "." + segment(claims)
	return text + "." + encode(k.sign(text))
}

// Shared signs claims with a secret that both sides know (HS256), or with nothing (none).
func Shared(alg string, secret []byte, kid string, claims map[string]any) string {
	text := segment(map[string]any{"alg": alg, "kid": kid, "typ": "JWT"}) + "." + segment(claims)
	if strings.EqualFold(alg, "none") {
		return text + "."
	}
	mac := hmac.New(crypto.SHA256.New, secret)
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

func segment(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return encode(text)
}

func (k *Key) sign(text string) []byte {
	hash := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[k.Alg[2:]]
	var digest []byte
	if hash != 0 {
		h := hash.New()
		h.Write([]byte(text))
		digest = h.Sum(nil)
	}
	var signature []byte
	var err error
	switch p := k.private.(type) {
	case *rsa.PrivateKey:
		if strings.HasPrefix(k.Alg, "PS") {
			signature, err = rsa.SignPSS(rand.Reader, p, hash, digest, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash})
			break
		}
		signature, err = rsa.SignPKCS1v15(rand.Reader, p, hash, digest)
	case *ecdsa.PrivateKey:
		var r, s *big.Int
		if r, s, err = ecdsa.Sign(rand.Reader, p, digest); err == nil {
			size := (p.Curve.Params().BitSize + 7) / 8
			signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
		}
	case ed25519.PrivateKey:
		signature = ed25519.Sign(p, []byte(text))
	default:
		err = fmt.Errorf("no signature with %T", p)
	}
	if err != nil {
		panic(err)
	}
	return signature
}
