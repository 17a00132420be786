package bootstrap_test

import (
	"net"
	"testing"

	"aion/bootstrap"
)

// server 5.1: what is announced is a URL that opens, and says truly who reaches it.
func TestWhereAServerListensIsToldAsItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr, public, url string
		reachable         bool
		cert              string
	}{
		{"127.0.0.1:8080", "", "http://127.0.0.1:8080", false, ""},
		{"[::1]:8080", "", "http://[::1]:8080", false, ""},
		{"0.0.0.0:8080", "", "http://127.0.0.1:8080", true, ""},
		{"[::]:8080", "", "http://127.0.0.1:8080", true, ""},
		{"192.0.2.7:8080", "", "http://192.0.2.7:8080", true, ""},
		{"0.0.0.0:8080", "https://aion.example", "https://aion.example", true, ""},
		{"127.0.0.1:8080", "https://aion.example", "https://aion.example", false, ""},
		{"127.0.0.1:8443", "", "https://127.0.0.1:8443", false, "/cert.pem"},
		{"0.0.0.0:8443", "", "https://127.0.0.1:8443", true, "/cert.pem"},
		{"0.0.0.0:8443", "https://aion.example", "https://aion.example", true, "/cert.pem"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"off", "token", "jwks"} {
			l := bootstrap.Listening(bootstrap.Config{AuthMode: mode, ServerPublicURL: c.public, TLSCertFile: c.cert}, addr)
			if l.URL != c.url || l.Reachable != c.reachable || l.Auth != mode {
				t.Errorf("%s, public %q, mode %s: %+v", c.addr, c.public, mode, l)
			}
		}
	}
}
