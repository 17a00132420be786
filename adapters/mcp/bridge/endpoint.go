package bridge

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"aion/domain"
)

// Endpoint is the URL of the MCP endpoint that a person names: a server's URL without a path means its /mcp, and an
// address that stands for all of this machine means its loopback. `unix:/path` names a socket.
func Endpoint(raw string) (string, error) {
	if path, ok := strings.CutPrefix(raw, "unix:"); ok && strings.HasPrefix(path, "/") {
		return raw, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", &domain.Error{Code: domain.CodeInvalidInput, Type: "URLInvalid", Message: fmt.Sprintf(
			"%q is no URL of a server; write it like http://127.0.0.1:8080, without user, query and fragment", domain.Quote(raw, 200))}
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		host := "127.0.0.1"
		if ip.To4() == nil {
			host = "[::1]"
		}
		if port := u.Port(); port != "" {
			host += ":" + port
		}
		u.Host = host
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}

// Private reports whether a credential may travel to an endpoint: over TLS, or without leaving this machine.
func Private(endpoint string) bool {
	return strings.HasPrefix(endpoint, "https:") || Local(endpoint)
}

// Local reports whether an endpoint is on this machine.
func Local(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "unix" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
