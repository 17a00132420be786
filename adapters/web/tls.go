package web

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"aion/domain"
)

// transportSecurity tells browsers that came over TLS to come over nothing else for a year (server 6).
const transportSecurity = "max-age=31536000"

// Certificate is what a server proves itself with. It is safe for concurrent use.
type Certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// KeyUnreadable is the type of the refusal when it is the key's file that cannot be read.
const KeyUnreadable = "KeyUnreadable"

// ReadCertificate reads a chain and its private key in PEM. A refusal says which of the two files is at fault.
func ReadCertificate(certFile, keyFile string) (*Certificate, error) {
	chain, err := readPEM(certFile)
	if err != nil {
		return nil, certificateRefusal("CertificateUnreadable", "the certificate %s cannot be read: %v", certFile, err)
	}
	private, err := readPEM(keyFile)
	if err != nil {
		return nil, certificateRefusal(KeyUnreadable, "the private key %s cannot be read: %v", keyFile, err)
	}
	pair, err := tls.X509KeyPair(chain, private)
	if err != nil { // its texts tell a broken file from the key of another certificate, and show neither
		return nil, certificateRefusal("CertificateInvalid", "the certificate %s and the private key %s prove nothing together: %v", certFile, keyFile, err)
	}
	c := &Certificate{}
	c.current.Store(&pair)
	return c, nil
}

const maxPEM = 1 << 20 // bytes of a chain or a key

func readPEM(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, maxPEM))
}

func certificateRefusal(kind, format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: kind, Message: fmt.Sprintf(format, args...)}
}

// Replace takes another certificate over: connections that come from now on see it, open ones stay as they are.
func (c *Certificate) Replace(by *Certificate) { c.current.Store(by.current.Load()) }

// Same reports whether two certificates prove the same with the same chain.
func (c *Certificate) Same(as *Certificate) bool {
	one, other := c.current.Load().Certificate, as.current.Load().Certificate
	for i := range one {
		if i >= len(other) || !bytes.Equal(one[i], other[i]) {
			return false
		}
	}
	return len(one) == len(other)
}

// Expires is when the certificate stops being valid.
func (c *Certificate) Expires() time.Time { return c.current.Load().Leaf.NotAfter }

// config is that of a listener. Suites are Go's; HTTP/2 is offered by the server that serves it.
func (c *Certificate) config(least uint16) *tls.Config {
	return &tls.Config{
		MinVersion:     max(least, tls.VersionTLS12),
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
