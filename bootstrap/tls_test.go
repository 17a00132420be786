package bootstrap_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"aion/bootstrap"
	"aion/test/fake/authority"
)

// server 36: every way in which the keys of TLS do not go together is refused by the key at fault, with where it comes from.
func TestSettingsOfTLSAreJudgedTogether(t *testing.T) {
	t.Parallel()
	a := authority.New(t)
	cert, key := a.Issue(time.Hour, "127.0.0.1")
	_, foreign := a.Issue(time.Hour, "127.0.0.1")
	tls := func(cert, key string) []string {
		return []string{"HOME=/tmp", "AION_TLS_CERT_FILE=" + cert, "AION_TLS_KEY_FILE=" + key}
	}
	for what, c := range map[string]struct {
		environ []string
		want    string
	}{
		"no key":           {tls(cert, ""), "AION_TLS_CERT_FILE: tls.cert_file: needs the private key of the certificate, in tls.key_file; got " + cert + " alone"},
		"no certificate":   {tls("", key), "AION_TLS_KEY_FILE: tls.key_file: needs the certificate of the key, in tls.cert_file; got " + key + " alone"},
		"a lost file":      {tls("/nonexistent", key), "AION_TLS_CERT_FILE: tls.cert_file: the certificate /nonexistent cannot be read: no such file or directory"},
		"a lost key":       {tls(cert, "/nonexistent"), "AION_TLS_KEY_FILE: tls.key_file: the private key /nonexistent cannot be read: no such file or directory"},
		"a foreign key":    {tls(cert, foreign), "AION_TLS_CERT_FILE: tls.cert_file: the certificate " + cert + " and the private key " + foreign + " prove nothing together: "},
		"an old version":   {[]string{"HOME=/tmp", "AION_TLS_MIN_VERSION=1.1"}, `AION_TLS_MIN_VERSION: tls.min_version: must be one of 1.2, 1.3; got "1.1"`},
		"an empty version": {[]string{"HOME=/tmp", "AION_TLS_MIN_VERSION="}, "tls.min_version: must be one of 1.2, 1.3; got"},
	} {
		_, err := bootstrap.Load(nil, c.environ, t.TempDir(), "")
		if message := refusal(t, err); !strings.Contains(message, c.want) || strings.Contains(message, "\n") {
			t.Errorf("%s: %q is not in %q", what, c.want, message)
		}
	}
	cfg, err := bootstrap.Load(nil, tls(cert, key), t.TempDir(), write(t, "tls:\n  min_version: 1.3\n"))
	if err != nil || cfg.TLSMinVersion != "1.3" || len(cfg.Exposed) > 0 {
		t.Errorf("%q %v %v", cfg.TLSMinVersion, cfg.Exposed, err)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err = bootstrap.Load(nil, tls(cert, key), t.TempDir(), "")
	if err != nil || len(cfg.Exposed) != 1 || !strings.Contains(cfg.Exposed[0], "chmod o-r "+key) {
		t.Errorf("%v %v", cfg.Exposed, err)
	}
}
