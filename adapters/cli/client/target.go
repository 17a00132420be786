package client

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"aion/domain"
)

// Target is a server and what its caller shows of itself.
type Target struct {
	URL        string            // http(s)://host[:port], or unix:/path of a socket
	Token      string            // bearer; empty: none
	Credential string            // where Token comes from, for texts
	Header     map[string]string // of every request
	RootCAs    *x509.CertPool    // nil: the system's
	SkipVerify bool              // takes any certificate; refused together with a token, but for this machine
	Patience   time.Duration     // the longest silence of the server
	Trace      func(Exchange)    // hears of every request that was answered, or was not; nil: nobody
}

// Exchange is one request and how it came out. It holds no header and no body.
type Exchange struct {
	Method, Path string
	Status       int // 0: there was no answer
	Took         time.Duration
	RequestID    string
}

// place is where requests go.
type place struct {
	base   *url.URL // scheme and host
	socket string   // path of a socket; empty: TCP
	shown  string   // in texts
}

// locate reads a URL of a server; that of its MCP endpoint means the same server. An address that stands for all of this machine
// means its loopback.
func locate(raw string) (place, error) {
	if path, ok := strings.CutPrefix(raw, "unix:"); ok && strings.HasPrefix(path, "/") {
		return place{base: &url.URL{Scheme: "http", Host: "localhost"}, socket: path, shown: raw}, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Path != "" && u.Path != "/" && u.Path != "/mcp" {
		return place{}, &domain.Error{Code: domain.CodeInvalidInput, Type: "URLInvalid", Message: fmt.Sprintf(
			"%q is no URL of a server; write it like http://127.0.0.1:8080, without user, path, query and fragment", domain.Quote(raw, 200))}
	}
	host := u.Host
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "[::1]"
		}
		if port := u.Port(); port != "" {
			host += ":" + port
		}
	}
	base := &url.URL{Scheme: u.Scheme, Host: host}
	return place{base: base, shown: base.String()}, nil
}

// local reports whether requests stay on this machine.
func (p place) local() bool {
	ip := net.ParseIP(p.base.Hostname())
	return p.socket != "" || p.base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// admits refuses to show a credential where others could read it, or to somebody who proves nothing.
func (p place) admits(t Target) error {
	if t.Token == "" || p.local() {
		return nil
	}
	exposed := func(why string) error {
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "TokenExposed", Message: fmt.Sprintf(
			"the token from %s is not sent to %s: %s", t.Credential, p.shown, why)}
	}
	if p.base.Scheme != "https" {
		return exposed("without TLS everybody on the way could read it; use https")
	}
	if t.SkipVerify {
		return exposed("with --insecure-skip-verify anybody could be there; name the authority of its certificate with --ca-file")
	}
	return nil
}

// sendable refuses what a header cannot carry, without showing it.
func sendable(t Target) error {
	values := map[string]string{"the token from " + t.Credential: t.Token}
	for name, value := range t.Header {
		values["the header "+name] = value
	}
	for what, value := range values {
		if strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			return &domain.Error{Code: domain.CodeInvalidInput, Type: "HeaderInvalid", Message: what + " holds characters that HTTP cannot carry"}
		}
	}
	return nil
}
