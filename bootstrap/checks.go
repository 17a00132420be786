package bootstrap

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aion/adapters/auth"
	"aion/adapters/web"
	"aion/domain"
)

// report takes what is wrong with the value of a key.
type report func(key, problem string)

// crossChecks judges values that only make sense together.
func crossChecks(c Config) []string {
	var findings []string
	add := func(key, problem string) { findings = append(findings, prefix(c.Origins[key], key)+problem) }
	checkServer(c, add)
	checkTLS(c, add)
	checkToken(c, add)
	checkIssuer(c, add)
	if _, err := web.NewOrigins("mcp.allowed_origins", c.MCPAllowedOrigins); err != nil {
		add("mcp.allowed_origins", refusalText("mcp.allowed_origins", err))
	}
	checkAPI(c, add)
	for _, program := range c.ActionsAllowedPrograms {
		if strings.Contains(program, "/") && !filepath.IsAbs(program) {
			add("actions.allowed_programs", fmt.Sprintf("%q is a relative path; write a name or an absolute path", program))
		}
	}
	if least := c.ActionsKillGrace + c.ActionsKillWait + 20*time.Second; c.ActionsClaimTTL < least {
		add("actions.claim_ttl", fmt.Sprintf("must be at least actions.kill_grace + actions.kill_wait + 20s (%s); got %s", least, c.ActionsClaimTTL))
	}
	if least := 2 * c.WorkersHeartbeatInterval; c.WorkersLeaseTTL < least {
		add("workers.lease_ttl", fmt.Sprintf("must be at least twice workers.heartbeat_interval (%s); got %s", least, c.WorkersLeaseTTL))
	}
	if c.LimitPayloadBytes > c.MCPMaxBodyBytes {
		add("limits.payload_bytes", fmt.Sprintf("must be at most mcp.max_body_bytes (%d), which bounds the request that carries it; got %d", c.MCPMaxBodyBytes, c.LimitPayloadBytes))
	}
	checkStore(c, add)
	checkKeeping(c, add)
	if _, err := domain.ParseNamespace(c.NamespaceDefault); err != nil {
		add("namespaces.default", fmt.Sprintf("%q is no namespace name; use [a-z0-9][a-z0-9._-]{0,62}", c.NamespaceDefault))
	}
	return findings
}

func checkAPI(c Config, add report) {
	const origins = "server.cors_allowed_origins"
	if _, err := web.NewOrigins(origins, c.ServerCORSOrigins); err != nil {
		add(origins, refusalText(origins, err))
	}
	if c.LimitPayloadBytes > c.APIMaxBodyBytes {
		add("limits.payload_bytes", fmt.Sprintf("must be at most api.max_body_bytes (%d), which bounds the request that carries it; got %d", c.APIMaxBodyBytes, c.LimitPayloadBytes))
	}
	if c.APIRatePerSecond > 0 && c.APIRateBurst < c.APIRatePerSecond {
		add("api.rate_burst", fmt.Sprintf("must be at least api.rate_per_second (%d); got %d", c.APIRatePerSecond, c.APIRateBurst))
	}
	if c.APIMaxStreamsPerSubject > c.APIMaxStreams {
		add("api.max_streams_per_subject", fmt.Sprintf("must be at most api.max_streams (%d); got %d", c.APIMaxStreams, c.APIMaxStreamsPerSubject))
	}
}

func checkStore(c Config, add report) {
	switch {
	case c.StoreBackend == backendSQLite && c.StorePath == "":
		add("store.path", "must name a file; got an empty value")
	case c.StoreBackend == backendPostgres && c.StoreDSN == "" && c.StoreDSNFile == "":
		add("store.dsn", "store.backend postgres needs it, here or in the file that store.dsn_file names: postgres://user:password@host:5432/database")
	case c.StoreBackend != backendPostgres && c.StoreDSN != "":
		add("store.dsn", fmt.Sprintf("is set, but store.backend is %s; remove it, or set store.backend: postgres", c.StoreBackend))
	}
}

// refusalText is the message of a refusal without the key, which the place of the value has named.
func refusalText(key string, err error) string {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		return err.Error()
	}
	return strings.TrimPrefix(refusal.Message, key+": ")
}

func checkServer(c Config, add report) {
	host, ok := listenHost(c.ServerListen)
	switch {
	case !ok:
		add("server.listen", fmt.Sprintf("%q is not host:port; write 127.0.0.1:8080", c.ServerListen))
	case !loopback(host) && c.AuthMode == modeOff && !c.AuthAllowInsecure:
		add("server.listen", fmt.Sprintf("%s is reachable from other machines and auth.mode is off. Set auth.mode to token or jwks, "+
			"listen on 127.0.0.1, or set auth.allow_insecure: true if that is meant.", c.ServerListen))
	}
	if _, err := web.NewHosts("", c.ServerAllowedHosts); err != nil {
		add("server.allowed_hosts", refusalText("server.allowed_hosts", err))
	}
	if c.ServerPublicURL == "" {
		if c.AuthMode == modeJWKS {
			add("server.public_url", "auth.mode jwks needs it: clients compare it with the URL that they are configured with")
		}
		return
	}
	u, problem := webURL(c.ServerPublicURL, c.AuthMode == modeJWKS)
	switch {
	case problem != "":
		add("server.public_url", problem)
	case u.Path != "" || u.RawQuery != "" || u.ForceQuery:
		add("server.public_url", fmt.Sprintf("must end with the host or the port, without path, query or trailing slash; got %q", c.ServerPublicURL))
	}
}

// hostShape is a host name; one of digits and dots alone is meant for an address.
var hostShape = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?\.)*[A-Za-z][A-Za-z0-9_-]*$`)

// listenHost is the host of an address to listen on; empty: every address of the machine.
func listenHost(listen string) (host string, ok bool) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", false
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", false
	}
	_, notIP := netip.ParseAddr(host)
	return host, host == "" || notIP == nil || hostShape.MatchString(host)
}

// The auth modes.
const (
	modeOff   = "off"
	modeToken = "token"
	modeJWKS  = "jwks"
)

func checkToken(c Config, add report) {
	switch n := utf8.RuneCountInString(string(c.AuthToken)); {
	case c.AuthMode != modeToken && c.AuthToken != "":
		add("auth.token", fmt.Sprintf("is set, but auth.mode is %s; remove it, or set auth.mode: token", c.AuthMode))
	case c.AuthMode != modeToken:
	case n == 0 && c.AuthTokenFile == "":
		add("auth.token", "auth.mode token needs the shared secret, here or in the file that auth.token_file names")
	case n > 0 && n < auth.MinSecret:
		add("auth.token", fmt.Sprintf("has %d characters and must have at least %d", n, auth.MinSecret))
	}
}

// scopeShape is what a scope may consist of (RFC 6749, 3.3).
var scopeShape = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]+$`)

func checkIssuer(c Config, add report) {
	checkIssuerURL("auth.issuer", c.AuthIssuer, c, add)
	checkIssuerURL("auth.jwks_url", c.AuthJWKSURL, c, add)
	if c.AuthJWKSMaxAge < c.AuthJWKSRefresh {
		add("auth.jwks_max_age", fmt.Sprintf("must be at least auth.jwks_refresh (%s); got %s", c.AuthJWKSRefresh, c.AuthJWKSMaxAge))
	}
	for _, scope := range c.AuthRequiredScopes {
		if !scopeShape.MatchString(scope) {
			add("auth.required_scopes", fmt.Sprintf("%q is no scope; use visible ASCII without quotes, backslash and spaces", scope))
		}
	}
	if c.AuthJWKSCAFile != "" {
		text, err := os.ReadFile(c.AuthJWKSCAFile)
		if err != nil {
			add("auth.jwks_ca_file", fmt.Sprintf("%s cannot be read: %v", c.AuthJWKSCAFile, unwrapPath(err)))
		} else if !x509.NewCertPool().AppendCertsFromPEM(text) {
			add("auth.jwks_ca_file", c.AuthJWKSCAFile+" holds no PEM certificate")
		}
	}
}

func checkIssuerURL(key, value string, c Config, add report) {
	if value == "" {
		if c.AuthMode == modeJWKS {
			add(key, "auth.mode jwks needs it")
		}
		return
	}
	if _, problem := webURL(value, true); problem != "" {
		add(key, problem)
	}
}

// webURL parses a URL and tells what is wrong with it; private demands https unless the host is this machine.
func webURL(text string, private bool) (u *url.URL, problem string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Contains(text, "#") {
		return nil, fmt.Sprintf("%q is no URL of the form https://host[:port]", text)
	}
	if private && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Sprintf("must be https: %q could be read and changed on the way", text)
	}
	return u, ""
}

// loopback reports whether a host is this machine only.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
