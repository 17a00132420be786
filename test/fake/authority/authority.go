// Package authority signs certificates for tests: the files that a server proves itself with, and the one that its clients
// trust.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is one that nobody trusts but who is told of its file.
type Authority struct {
	File string // its certificate in PEM

	tb   testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority of its own for one test.
func New(tb testing.TB) *Authority {
	tb.Helper()
	a := &Authority{tb: tb, File: filepath.Join(tb.TempDir(), "authority.pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, key := a.sign(template, nil, nil)
	a.key = key
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		tb.Fatal(err)
	}
	a.write(a.File, "CERTIFICATE", der)
	return a
}

// Pool trusts this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Issue writes a certificate that is valid for the time and the names (host names or addresses), and its private key.
func (a *Authority) Issue(valid time.Duration, names ...string) (certFile, keyFile string) {
	a.tb.Helper()
	dir := a.tb.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.Renew(certFile, keyFile, valid, names...)
	return certFile, keyFile
}

// Renew is Issue into files that have a name already.
func (a *Authority) Renew(certFile, keyFile string, valid time.Duration, names ...string) {
	a.tb.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	der, key := a.sign(template, a.cert, a.key)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.tb.Fatal(err)
	}
	a.write(certFile, "CERTIFICATE", der)
	a.write(keyFile, "PRIVATE KEY", private)
}

// sign makes a key and its certificate; without a parent it signs itself.
func (a *Authority) sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	a.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.tb.Fatal(err)
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.tb.Fatal(err)
	}
	return der, key
}

func (a *Authority) write(name, kind string, der []byte) {
	a.tb.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.tb.Fatal(err)
	}
}
