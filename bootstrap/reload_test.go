package bootstrap_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/bootstrap"
)

// server 34, 39: what the documentation marks as reloadable is what a running server takes over.
func TestReloadableKeysAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	want := []string{
		"server.allowed_hosts", "server.cors_allowed_origins", "tls.cert_file", "tls.key_file", "auth.token", "auth.token_file", "auth.issuer", "auth.jwks_url", "auth.audience", "auth.jwks_refresh",
		"auth.jwks_max_age", "auth.jwks_ca_file", "auth.required_scopes", "limits.max_in_flight_activities", "retention.closed", "audit.retention",
		"namespaces.max_in_flight_activities", "workers.allowed_subjects", "mcp.allowed_origins",
		"mcp.rate_per_second", "mcp.rate_burst", "api.rate_per_second", "api.rate_burst", "log.level",
	}
	if d := cmp.Diff(want, bootstrap.ReloadedKeys()); d != "" {
		t.Error(d)
	}
}
