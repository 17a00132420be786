package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"aion/domain"
)

// Hosts are the names under which the server may be addressed, besides IP literals and localhost (server 0.4). It keeps
// a page of a foreign site from reaching the server through a name that resolves to its address.
// Copies of one Hosts share its names.
type Hosts struct {
	names *atomic.Pointer[map[string]bool]
}

// NewHosts takes the host of server.public_url (empty: none) and the entries of server.allowed_hosts.
func NewHosts(public string, allowed []string) (Hosts, error) {
	names := map[string]bool{}
	if public != "" {
		names[strings.ToLower(public)] = true
	}
	for _, name := range allowed {
		if name == "" || strings.ContainsAny(name, ":/*@ ") {
			return Hosts{}, &domain.Error{
				Code: domain.CodeInvalidInput, Type: "NameInvalid",
				Message: fmt.Sprintf("server.allowed_hosts: %q is not a bare host name; write it without scheme, port and wildcard", domain.Quote(name, 128)),
			}
		}
		names[strings.ToLower(name)] = true
	}
	h := Hosts{names: &atomic.Pointer[map[string]bool]{}}
	h.names.Store(&names)
	return h, nil
}

// Replace takes over the names of another Hosts from the next request on.
func (h Hosts) Replace(by Hosts) { h.names.Store(by.names.Load()) }

// Allows reports whether a request is addressed to this server. Requests that came over no network are.
func (h Hosts) Allows(r *http.Request) bool {
	if r.Context().Value(http.LocalAddrContextKey) == nil {
		return true
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || h.names != nil && (*h.names.Load())[name]
}

// HostRefused is the refusal of a request that is addressed to another host.
func HostRefused(r *http.Request) error {
	return &domain.Error{
		Code: domain.CodeOriginDenied, Type: "HostNotAllowed",
		Message: fmt.Sprintf("Host %q is not this server; add its name to server.allowed_hosts if it is meant", domain.Quote(r.Host, 200)),
	}
}

// Origins is a list of exact browser origins.
type Origins struct {
	key string
	set atomic.Pointer[map[string]bool]
}

// NewOrigins parses the entries of the configuration key; one that is no `scheme://host[:port]` is refused.
func NewOrigins(key string, entries []string) (*Origins, error) {
	o, set := &Origins{key: key}, map[string]bool{}
	for _, entry := range entries {
		origin, ok := canonicalOrigin(entry)
		if !ok {
			return nil, &domain.Error{
				Code: domain.CodeInvalidInput, Type: "NameInvalid",
				Message: fmt.Sprintf("%s: %q is not an origin; write scheme://host[:port], without path, wildcard or null", key, domain.Quote(entry, 128)),
			}
		}
		set[origin] = true
	}
	o.set.Store(&set)
	return o, nil
}

// Replace takes over the origins of another list from the next request on.
func (o *Origins) Replace(by *Origins) { o.set.Store(by.set.Load()) }

// Admit decides about the Origin of a request: origin is the header's own text when a listed one was sent, and empty
// when none was. `null`, a malformed and a repeated header are refused.
func (o *Origins) Admit(r *http.Request) (origin string, ok bool) {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return "", true
	}
	if len(values) > 1 || o == nil {
		return "", false
	}
	canonical, valid := canonicalOrigin(values[0])
	return values[0], valid && (*o.set.Load())[canonical]
}

// OriginRefused is the refusal of a browser origin that is not listed under key; without a key no origin is admitted here.
func OriginRefused(r *http.Request, key string) error {
	remedy := "no page may call this path"
	if key != "" {
		remedy = "add it to " + key + " if pages of that origin may call"
	}
	return &domain.Error{
		Code: domain.CodeOriginDenied, Type: "OriginNotAllowed",
		Message: fmt.Sprintf("Origin %q is not allowed; %s", domain.Quote(strings.Join(r.Header.Values("Origin"), ", "), 200), remedy),
	}
}

// Key is the configuration key that holds the list; empty: none does.
func (o *Origins) Key() string {
	if o == nil {
		return ""
	}
	return o.key
}

// Guard refuses a foreign Host or Origin with a problem document, before the body is read. An origin equal to the
// request's own is always admitted.
func Guard(hosts Hosts, origins *Origins) gin.HandlerFunc {
	return func(c *gin.Context) {
		if _, ok := origins.Admit(c.Request); !ok && !ownOrigin(c.Request) {
			WriteProblem(c.Writer, c.Request, http.StatusForbidden, OriginRefused(c.Request, origins.Key()))
			c.Abort()
			return
		}
		if !hosts.Allows(c.Request) {
			WriteProblem(c.Writer, c.Request, http.StatusForbidden, HostRefused(c.Request))
			c.Abort()
		}
	}
}

func ownOrigin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) != 1 {
		return false
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	sent, valid := canonicalOrigin(values[0])
	own, known := canonicalOrigin(scheme + "://" + r.Host)
	return valid && known && sent == own
}

// canonicalOrigin lowers scheme and host and makes the default port explicit.
func canonicalOrigin(text string) (string, bool) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || rest == "" || strings.ContainsAny(rest, "/?#@*\\ \t") {
		return "", false
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	port := u.Port()
	scheme = strings.ToLower(scheme)
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "", false
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port), true
}
