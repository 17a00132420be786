package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// server 47: who changed what is told over the lives of several processes, one of them killed, and the chains hold.
func TestAuditLogHoldsOverManyProcesses(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	secret := filepath.Join(filepath.Dir(home), "secret")
	if err := os.WriteFile(secret, []byte(sharedSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, home, "--auth.mode", "token", "--auth.token_file", secret)
	known := bearing{"Authorization": {"Bearer " + sharedSecret}, "x-aion-subject": {"ada"}, "x-aion-namespaces": {"default"}, "x-aion-deploy": {"true"}}
	c, err := connectAs(t, s, known)
	if err != nil {
		t.Fatal(err)
	}
	kind := c.deploy("wait.awl", strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 10m", 1))
	id := c.start(kind, map[string]any{"change": "one"})
	c.must("cancel", map[string]any{"namespace": "default", "workflow_id": id})
	stranger, err := connectAs(t, s, bearing{"Authorization": {"Bearer wrong"}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := stranger.call("list_documents", map[string]any{}); err != nil || r.refused["code"] != "unauthenticated" {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := aion(t, home, "audit", "verify"); got.code != 2 || !strings.Contains(got.stderr, "unauthenticated") {
		t.Errorf("beside a server that knows nobody without a token: %+v", got)
	}
	if got := aion(t, home, "audit", "verify", "--token", "@"+secret); got.code != 0 || !strings.Contains(got.stdout, "in 1 chains hold") {
		t.Errorf("beside a server: %+v", got)
	}
	s.kill()
	if got := aion(t, home, "run", filepath.Join("..", "..", "examples", "hello.awl"), "-i", "name=Ada"); got.code != 2 {
		// the command runs elsewhere, so the path is not found: nothing was started, and nothing is recorded of it
		t.Errorf("%+v", got)
	}
	hello, err := filepath.Abs(filepath.Join("..", "..", "examples", "hello.awl"))
	if err != nil {
		t.Fatal(err)
	}
	if got := aion(t, home, "run", hello, "-i", "name=Ada"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	verified := aion(t, home, "audit", "verify")
	if verified.code != 0 || !strings.Contains(verified.stdout, "in 2 chains hold") {
		t.Errorf("%+v", verified)
	}
	var got []string
	for line := range strings.Lines(aion(t, home, "audit", "list", "-o", "json").stdout) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, strings.Join([]string{r["subject"].(string), r["surface"].(string), r["action"].(string), r["outcome"].(string), r["code"].(string)}, " "))
	}
	got = unrepeated(got)
	want := []string{
		"server system server.start ok ", "server system namespace.create ok ", "ada mcp document.save ok ", "ada mcp deploy.load ok ",
		"ada mcp run.start ok ", "ada mcp run.cancel ok ", " http auth.refused refused unauthenticated",
		"server system server.start ok ", "operator cli deploy.load ok ", "operator cli run.start ok ", "server system server.stop ok ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// unrepeated leaves equal neighbours out: a client sends its wrong credential with every request.
func unrepeated(lines []string) []string {
	var out []string
	for _, line := range lines {
		if len(out) == 0 || out[len(out)-1] != line {
			out = append(out, line)
		}
	}
	return out
}
