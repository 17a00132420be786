package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aion/test/fake/authority"
)

type finding struct {
	Check, Status, Detail string
	Fix                   *string
}

// doctor runs the doctor and reads what it found.
func doctor(t *testing.T, home string, env []string, args ...string) (found map[string][]finding, code int) {
	t.Helper()
	got := aionIn(t, home, env, append([]string{"doctor", "-o", "json"}, args...)...)
	var report struct {
		OK     bool
		Checks []finding
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	if report.OK != (got.code == 0) {
		t.Errorf("ok is %t, and the exit code %d", report.OK, got.code)
	}
	found = map[string][]finding{}
	for _, f := range report.Checks {
		found[f.Check] = append(found[f.Check], f)
	}
	return found, got.code
}

func worst(list []finding) string {
	for _, status := range []string{"fail", "warn", "ok"} {
		if slices.ContainsFunc(list, func(f finding) bool { return f.Status == status }) {
			return status
		}
	}
	return ""
}

// server 5.3: the doctor over a life of a server: nothing there yet, serving, killed, repaired.
func TestTheDoctorSaysHowThingsStand(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	found, code := doctor(t, home, nil)
	if code != 0 || worst(found["home"]) != "warn" || worst(found["server"]) != "warn" || found["server"][0].Fix == nil || *found["server"][0].Fix != "aion server" {
		t.Errorf("nothing there yet: %d %+v", code, found)
	}
	s := serve(t, home)
	eventually(t, "the server is ready", func() bool { return aion(t, home, "doctor", "--ready", "-q").code == 0 })
	found, code = doctor(t, home, nil)
	for _, check := range []string{"home", "configuration", "server", "auth", "listener", "mcp", "clients", "executor", "audit", "replicas"} {
		if worst(found[check]) != "ok" || code != 0 {
			t.Errorf("serving: %d %s: %+v", code, check, found[check])
		}
	}
	if d := found["mcp"][0].Detail; !strings.Contains(d, "13 tools") || !strings.Contains(d, "foreign origins are refused") {
		t.Errorf("%q", d)
	}
	c := connect(t, s)
	id := c.start(c.deploy("wait.awl", strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 10m", 1)), map[string]any{"change": "one"})
	for _, when := range []string{"serving", "killed"} {
		if replay := aion(t, home, "doctor", "--replay"); replay.code != 0 || !strings.HasPrefix(replay.stdout, "ok\treplay\t1 open runs fold") {
			t.Errorf("%s, with run %s: %+v", when, id, replay)
		}
		s.kill()
	}
	if left, _ := filepath.Glob(filepath.Join(home, ".replay-*")); len(left) > 0 {
		t.Errorf("a rehearsal left %v", left)
	}
	if found, _ = doctor(t, home, nil, "--only", "store"); len(found) != 1 || !strings.Contains(found["store"][0].Detail, "ended without closing it") {
		t.Errorf("killed: %+v", found)
	}
	if got := aion(t, home, "doctor", "--ready"); got.code != 1 || !strings.HasPrefix(got.stdout, "fail\tready\t") {
		t.Errorf("killed: %+v", got)
	}
}

// server 5.3: what is wrong fails its check with the way out, and --fix repairs modes.
func TestTheDoctorFindsAndRepairs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	serve(t, home).stop()
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if found, code := doctor(t, home, nil, "--only", "home"); code != 1 || !strings.Contains(found["home"][0].Detail, "chmod 700") {
		t.Errorf("%d %+v", code, found)
	}
	if err := os.Chmod(filepath.Join(home, "aion.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	if found, code := doctor(t, home, nil, "--only", "home", "--fix"); code != 0 || worst(found["home"]) != "ok" {
		t.Errorf("%d %+v", code, found)
	}
	for _, name := range []string{home, filepath.Join(home, "aion.db")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	found, code := doctor(t, home, []string{"AION_LOG_LEVEL=loud", "AION_DRAIN_TIMEOUT=3"})
	if code != 1 || len(found["configuration"]) != 2 || worst(found["store"]) != "warn" || worst(found["home"]) != "ok" {
		t.Errorf("a refused configuration: %d %+v", code, found)
	}
	file := filepath.Join(home, "aion.db")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(text); i++ {
		text[i] ^= 0x33
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, code := doctor(t, home, nil, "--only", "store,audit"); code != 1 || !strings.Contains(found["store"][0].Detail, "is damaged") {
		t.Errorf("%d %+v", code, found)
	}
	for _, wrong := range [][]string{{"--only", "stor"}, {"--ready", "--replay"}, {"--ready", "--fix"}, {"x"}, {"--timeout", "0s"}} {
		if got := aion(t, home, append([]string{"doctor"}, wrong...)...); got.code != 2 || got.stdout != "" {
			t.Errorf("%v: %+v", wrong, got)
		}
	}
}

// server 5.3, 10: a server that wants a credential tells the doctor what it lacks; its certificate is looked at.
func TestTheDoctorSeesCredentialsAndCertificates(t *testing.T) {
	t.Parallel()
	home, a := newHome(t), authority.New(t)
	cert, key := a.Issue(48*time.Hour, "127.0.0.1")
	secret := filepath.Join(filepath.Dir(home), "secret")
	if err := os.WriteFile(secret, []byte(sharedSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, home, "--auth.mode", "token", "--auth.token_file", secret, "--tls.cert_file", cert, "--tls.key_file", key)
	if got := aion(t, home, "doctor", "--ready"); got.code != 0 {
		t.Errorf("readiness needs no trust and no credential: %+v", got)
	}
	trust := []string{"AION_CA_FILE=" + a.File}
	found, code := doctor(t, home, trust)
	if code != 1 || worst(found["auth"]) != "fail" || worst(found["server"]) != "ok" || worst(found["audit"]) != "warn" || worst(found["mcp"]) != "warn" {
		t.Errorf("without a credential: %d %+v", code, found)
	}
	found, code = doctor(t, home, append(trust, "AION_TOKEN="+sharedSecret))
	if code != 0 || worst(found["auth"]) != "ok" || worst(found["mcp"]) != "ok" || worst(found["audit"]) != "ok" {
		t.Errorf("with one: %d %+v", code, found)
	}
	if l := found["listener"]; worst(l) != "warn" || !strings.Contains(l[0].Detail, "certificate valid until") {
		t.Errorf("%+v", l)
	}
	if found, code := doctor(t, home, nil); code != 1 || worst(found["server"]) != "fail" || !strings.Contains(found["server"][0].Detail, "--ca-file") {
		t.Errorf("without trust: %d %+v", code, found)
	}
}
