package bootstrap

import (
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"aion/adapters/web"
	"aion/domain"
)

const (
	tlsCertFile = "tls.cert_file"
	tlsKeyFile  = "tls.key_file"
)

// leastTLS is the oldest TLS version that is spoken.
func leastTLS(c Config) uint16 {
	if c.TLSMinVersion == "1.3" {
		return tls.VersionTLS13
	}
	return tls.VersionTLS12
}

// checkTLS refuses one file without the other, and two that prove nothing together.
func checkTLS(c Config, add report) {
	switch {
	case c.TLSCertFile == "" && c.TLSKeyFile == "":
	case c.TLSKeyFile == "":
		add(tlsCertFile, fmt.Sprintf("needs the private key of the certificate, in %s; got %s alone", tlsKeyFile, c.TLSCertFile))
	case c.TLSCertFile == "":
		add(tlsKeyFile, fmt.Sprintf("needs the certificate of the key, in %s; got %s alone", tlsCertFile, c.TLSKeyFile))
	default:
		if _, err := certificate(c); err != nil {
			key := tlsCertFile
			if domain.TypeOf(err) == web.KeyUnreadable {
				key = tlsKeyFile
			}
			add(key, refusalText(key, err))
		}
	}
}

// certificate is what a server proves itself with; nil: nothing, it serves plain HTTP.
func certificate(c Config) (*web.Certificate, error) {
	if c.TLSCertFile == "" {
		return nil, nil //nolint:nilnil // plain HTTP
	}
	return web.ReadCertificate(c.TLSCertFile, c.TLSKeyFile)
}

// switchesTLS reports whether a change of this key would turn TLS on or off, which the open listener cannot.
func (a *App) switchesTLS(k key, next Config) bool {
	return (k.name == tlsCertFile || k.name == tlsKeyFile) && (a.Config.TLSCertFile == "") != (next.TLSCertFile == "")
}

const expiryNotice = 14 * 24 * time.Hour // how long before its end a certificate is told of

// expiring warns of a certificate that ends soon, or has.
func (a *App) expiring() []string {
	if a.live.certificate == nil {
		return nil
	}
	end := a.live.certificate.Expires()
	if end.Sub(a.clock.Now()) > expiryNotice {
		return nil
	}
	return []string{fmt.Sprintf("%s: the certificate is valid until %s; renew it, then send SIGHUP", tlsCertFile, end.UTC().Format(time.RFC3339))}
}

// exposedKey warns of a private key that others can read.
func exposedKey(c Config) []string {
	if c.TLSKeyFile == "" {
		return nil
	}
	info, err := os.Stat(c.TLSKeyFile)
	if err != nil || info.Mode().Perm()&0o004 == 0 { // a group that shares it is how distributions do it
		return nil
	}
	return []string{fmt.Sprintf("%s: %s can be read by every user; chmod o-r %s", tlsKeyFile, c.TLSKeyFile, c.TLSKeyFile)}
}
