package bootstrap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/bootstrap"
)

const secret = "correct-horse-battery-staple"

func jwks(more ...string) []string {
	return append([]string{
		"HOME=/tmp", "AION_AUTH_MODE=jwks", "AION_AUTH_ISSUER=https://login.example/realm", "AION_AUTH_JWKS_URL=https://login.example/keys",
		"AION_SERVER_PUBLIC_URL=https://aion.example",
	}, more...)
}

// secretFile writes a file with a mode of its own.
func secretFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSettingsOfCallersAreJudgedTogether(t *testing.T) {
	t.Parallel()
	token := func(more ...string) []string { return append([]string{"HOME=/tmp", "AION_AUTH_MODE=token"}, more...) }
	noPEM := secretFile(t, "no certificate", 0o600)
	for what, c := range map[string]struct {
		environ []string
		want    string
	}{
		"no secret":             {token(), "auth.token: auth.mode token needs the shared secret, here or in the file that auth.token_file names"},
		"a short secret":        {token("AION_AUTH_TOKEN=123456789012345"), "AION_AUTH_TOKEN: auth.token: has 15 characters and must have at least 16"},
		"a secret in mode off":  {[]string{"HOME=/tmp", "AION_AUTH_TOKEN=" + secret}, "auth.token: is set, but auth.mode is off"},
		"a secret in mode jwks": {jwks("AION_AUTH_TOKEN=" + secret), "auth.token: is set, but auth.mode is jwks"},
		"another mode":          {[]string{"HOME=/tmp", "AION_AUTH_MODE=ldap"}, "auth.mode: must be one of off, token, jwks; got"},
		"open to the world":     {[]string{"HOME=/tmp", "AION_SERVER_LISTEN=0.0.0.0:8080"}, "server.listen: 0.0.0.0:8080 is reachable from other machines and auth.mode is off. Set auth.mode to token or jwks, listen on 127.0.0.1, or set auth.allow_insecure: true if that is meant."},
		"no public URL":         {jwks("AION_SERVER_PUBLIC_URL="), "server.public_url: auth.mode jwks needs it"},
		"no issuer":             {jwks("AION_AUTH_ISSUER="), "auth.issuer: auth.mode jwks needs it"},
		"no key set":            {jwks("AION_AUTH_JWKS_URL="), "auth.jwks_url: auth.mode jwks needs it"},
		"a path":                {jwks("AION_SERVER_PUBLIC_URL=https://aion.example/aion"), "server.public_url: must end with the host or the port"},
		"a slash":               {jwks("AION_SERVER_PUBLIC_URL=https://aion.example/"), "server.public_url: must end with the host or the port"},
		"a query":               {jwks("AION_SERVER_PUBLIC_URL=https://aion.example?x"), "server.public_url: must end with the host or the port"},
		"a public URL by http":  {jwks("AION_SERVER_PUBLIC_URL=http://aion.example"), "server.public_url: must be https"},
		"a public URL by name":  {[]string{"HOME=/tmp", "AION_SERVER_PUBLIC_URL=aion.example"}, "server.public_url: \"aion.example\" is no URL"},
		"an issuer by http":     {jwks("AION_AUTH_ISSUER=http://login.example"), "auth.issuer: must be https"},
		"keys by http":          {jwks("AION_AUTH_JWKS_URL=http://login.example/keys"), "auth.jwks_url: must be https"},
		"keys with a password":  {jwks("AION_AUTH_JWKS_URL=https://u:p@login.example/keys"), "auth.jwks_url: "},
		"keys from a file":      {jwks("AION_AUTH_JWKS_URL=file:///etc/keys"), "auth.jwks_url: "},
		"refreshed too often":   {jwks("AION_AUTH_JWKS_REFRESH=29s"), "auth.jwks_refresh: must be at least 30s; got 29s"},
		"younger than fresh":    {jwks("AION_AUTH_JWKS_MAX_AGE=4m"), "auth.jwks_max_age: must be at least auth.jwks_refresh (5m0s); got 4m"},
		"no such authority":     {jwks("AION_AUTH_JWKS_CA_FILE=/nonexistent"), "auth.jwks_ca_file: /nonexistent cannot be read: no such file or directory"},
		"no authority":          {jwks("AION_AUTH_JWKS_CA_FILE=" + noPEM), "holds no PEM certificate"},
		"no scope":              {jwks(`AION_AUTH_REQUIRED_SCOPES=a,b"c`), "auth.required_scopes: "},
		"namespaces by chance":  {[]string{"HOME=/tmp", "AION_NAMESPACES_MODE=random"}, "namespaces.mode: must be one of shared, single; got"},
		"namespaces half open":  {[]string{"HOME=/tmp", "AION_NAMESPACES_AUTO_CREATE=ajar"}, "namespaces.auto_create: must be one of open, closed; got"},
		"no burst":              {[]string{"HOME=/tmp", "AION_MCP_RATE_BURST=0"}, "mcp.rate_burst: must be at least 1"},
		"a negative rate":       {[]string{"HOME=/tmp", "AION_MCP_RATE_PER_SECOND=-1"}, "mcp.rate_per_second: must be at least 0"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			_, err := bootstrap.Load(nil, c.environ, t.TempDir(), "")
			message := refusal(t, err)
			if !strings.Contains(message, c.want) {
				t.Errorf("%q is not in %q", c.want, message)
			}
			if strings.Contains(message, secret) || strings.Contains(message, "123456789012345") || strings.Contains(message, "\n") {
				t.Errorf("the refusal shows the secret, or says too much: %q", message)
			}
		})
	}
	for _, environ := range [][]string{
		token("AION_AUTH_TOKEN=" + secret), jwks(), jwks("AION_AUTH_REQUIRED_SCOPES=aion:use, aion:read"), jwks("AION_SERVER_LISTEN=0.0.0.0:8080"),
		jwks("AION_SERVER_PUBLIC_URL=http://127.0.0.1:8080", "AION_AUTH_ISSUER=http://localhost:1/r?x", "AION_AUTH_JWKS_URL=http://[::1]:1/k"),
	} {
		if _, err := bootstrap.Load(nil, environ, t.TempDir(), ""); err != nil {
			t.Errorf("%v: %v", environ, err)
		}
	}
}

func TestSecretsComeFromPrivateFiles(t *testing.T) {
	t.Parallel()
	load := func(file string, more ...string) (bootstrap.Config, error) {
		return bootstrap.Load(nil, append([]string{"HOME=/tmp", "AION_AUTH_MODE=token", "AION_AUTH_TOKEN_FILE=" + file}, more...), t.TempDir(), "")
	}
	for content, want := range map[string]string{secret: secret, secret + "\n": secret, secret + "\n\n": secret + "\n", secret + "\r\n": secret, " " + secret: " " + secret} {
		cfg, err := load(secretFile(t, content, 0o600))
		if err != nil || string(cfg.AuthToken) != want {
			t.Errorf("%q is read as %q, %v", content, string(cfg.AuthToken), err)
		}
		if cfg.Origins["auth.token"] != "env AION_AUTH_TOKEN_FILE" || len(cfg.Exposed) > 0 {
			t.Errorf("%q, %v", cfg.Origins["auth.token"], cfg.Exposed)
		}
	}
	cfg, err := load(secretFile(t, secret, 0o644))
	if err != nil || len(cfg.Exposed) != 1 || !strings.Contains(cfg.Exposed[0], "can be read by other users") {
		t.Errorf("%v, %v", cfg.Exposed, err)
	}
	for what, c := range map[string]struct{ file, want string }{
		"empty":              {secretFile(t, "", 0o600), "is empty"},
		"a line break":       {secretFile(t, "\n", 0o600), "is empty"},
		"writable by group":  {secretFile(t, secret, 0o620), "chmod 600"},
		"writable by others": {secretFile(t, secret, 0o602), "chmod 600"},
		"too large":          {secretFile(t, strings.Repeat("x", 64<<10+1), 0o600), "at most 64 KiB"},
		"a directory":        {t.TempDir(), "is a directory"},
		"absent":             {"/nonexistent/secret", "cannot be read: no such file or directory"},
		"short":              {secretFile(t, "short", 0o600), "has 5 characters and must have at least 16"},
	} {
		_, err := load(c.file)
		if message := refusal(t, err); !strings.Contains(message, c.want) || !strings.HasPrefix(message, "AION_AUTH_TOKEN_FILE: auth.token") {
			t.Errorf("%s: %q is not in %q", what, c.want, message)
		}
	}
	_, err = load(secretFile(t, secret, 0o600), "AION_AUTH_TOKEN="+secret)
	if message := refusal(t, err); !strings.Contains(message, "auth.token is set as well; keep one of the two") {
		t.Errorf("%q", message)
	}
}

// Whatever prints a configuration does not print its secrets, and no flag carries one.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	cfg, err := bootstrap.Load(nil, []string{"HOME=/tmp", "AION_AUTH_MODE=token", "AION_AUTH_TOKEN=" + secret}, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{}
	for _, s := range bootstrap.Settings(cfg) {
		shown[s.Key] = s.Value
	}
	if d := cmp.Diff("(set)", shown["auth.token"]); d != "" {
		t.Error(d)
	}
	if all := fmt.Sprintf("%v %+v %#v %s %q", cfg, cfg, cfg, cfg.AuthToken, cfg.AuthToken); strings.Contains(all, secret) {
		t.Errorf("%s", all)
	}
	if _, err := bootstrap.Load([]string{"--auth.token=" + secret}, []string{"HOME=/tmp"}, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "unknown flag") {
		t.Errorf("a flag takes the secret: %v", err)
	}
	cfg, err = bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range bootstrap.Settings(cfg) {
		if s.Key == "auth.token" && s.Value != "" {
			t.Errorf("without a secret: %v", s.Value)
		}
	}
}
