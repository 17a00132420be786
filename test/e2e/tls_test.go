package e2e_test

import (
	"crypto/tls"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aion/test/fake/authority"
)

// aionIn is aion with more variables.
func aionIn(t *testing.T, home string, env []string, args ...string) ended {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(environ(home), env...)
	cmd.Dir = filepath.Dir(home)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return ended{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// serial is that of the certificate which a new connection is shown.
func serial(t *testing.T, a *authority.Authority, s *server) string {
	t.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// server 6, 31, 39: the built binary serves TLS; clients find it by its lock, trust whom they are told to, and show a token to
// nobody else; a renewed certificate is taken over at SIGHUP, and a broken one changes nothing.
func TestTheBinaryServesTLSAndItsClientsFindIt(t *testing.T) {
	t.Parallel()
	home, a := newHome(t), authority.New(t)
	cert, key := a.Issue(time.Hour, "127.0.0.1")
	secret := filepath.Join(filepath.Dir(home), "secret")
	if err := os.WriteFile(secret, []byte(sharedSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, home, "--auth.mode", "token", "--auth.token_file", secret, "--tls.cert_file", cert, "--tls.key_file", key)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("%s\n%s", s.url, s.log)
	}
	eventually(t, "its near end is told", func() bool { return strings.Contains(s.log.String(), "tls.cert_file: the certificate is valid until ") })
	trusted := []string{"AION_CA_FILE=" + a.File, "AION_TOKEN=" + sharedSecret}
	if got := aionIn(t, home, trusted, "namespaces", "list", "-o", "id"); got.code != 0 || !strings.Contains(got.stdout, "default") {
		t.Errorf("by the lock: %+v", got)
	}
	unknown := aionIn(t, home, trusted[1:], "namespaces", "list")
	if unknown.code != 3 || !strings.Contains(unknown.stderr, "CertificateRefused") || !strings.Contains(unknown.stderr, "--ca-file") {
		t.Errorf("an unknown authority: %+v", unknown)
	}
	if got := aionIn(t, home, trusted[1:], "namespaces", "list", "--insecure-skip-verify"); got.code != 0 {
		t.Errorf("on this machine any certificate may do: %+v", got)
	}
	elsewhere := aionIn(t, home, trusted[1:], "namespaces", "list", "--insecure-skip-verify", "--server", "https://aion.example.org")
	if elsewhere.code != 2 || !strings.Contains(elsewhere.stderr, "TokenExposed") {
		t.Errorf("elsewhere none: %+v", elsewhere)
	}
	tools := aionIn(t, home, trusted, "mcp", "tools", "-o", "json")
	var list []any
	if err := json.Unmarshal([]byte(tools.stdout), &list); err != nil || len(list) != 13 || tools.stderr != "" {
		t.Errorf("the bridge: %v %+v", err, tools)
	}
	if got := aionIn(t, home, trusted[1:], "mcp", "tools", "--insecure-skip-verify"); got.code != 0 || got.stderr != "" {
		t.Errorf("the bridge with any certificate: %+v", got)
	}
	exposed := aionIn(t, home, trusted[1:], "mcp", "tools", "--insecure-skip-verify", "--url", "https://aion.example.org")
	if exposed.code != 2 || !strings.Contains(exposed.stderr, "TokenExposed") {
		t.Errorf("but elsewhere: %+v", exposed)
	}
	before := serial(t, a, s)
	hangUp := func(want string) {
		t.Helper()
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually(t, want, func() bool { return strings.Contains(s.log.String(), want) })
	}
	if err := os.WriteFile(cert, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp("tls.cert_file: the certificate " + cert + " and the private key")
	if serial(t, a, s) != before {
		t.Error("a broken certificate changed something")
	}
	a.Renew(cert, key, 90*24*time.Hour, "127.0.0.1")
	hangUp(`"applied":"tls.cert_file"`)
	if serial(t, a, s) == before {
		t.Error("the renewed certificate is not shown")
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// server 39: TLS is not switched on below open connections: the change waits for a restart, and says so.
func TestTLSIsNotSwitchedOnByAReload(t *testing.T) {
	t.Parallel()
	home, a := newHome(t), authority.New(t)
	cert, key := a.Issue(time.Hour, "127.0.0.1")
	file := configFile(t, home, "log:\n  level: info\n")
	s := serve(t, home, "--config", file)
	if err := os.WriteFile(file, []byte("tls:\n  cert_file: "+cert+"\n  key_file: "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the keys wait", func() bool { return strings.Contains(s.log.String(), `"keys":"tls.cert_file, tls.key_file"`) })
	if got := aion(t, home, "list"); got.code != 0 {
		t.Errorf("the server is lost: %+v", got)
	}
}
