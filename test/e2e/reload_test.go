package e2e_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

func (s *server) metrics(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// server 39: the built binary reads its file again at SIGHUP, and a broken one changes nothing.
func TestHangUpReloadsTheConfiguration(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	file := configFile(t, home, "log:\n  level: info\n")
	s := serve(t, home, "--config", file)
	c := connect(t, s)
	c.must("list_documents", map[string]any{})
	hangUp := func(text, result, want string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the reload is counted", func() bool { return strings.Contains(s.metrics(t), `aion_config_reload_total{result="`+result+`"} 1`) })
		eventually(t, want, func() bool { return strings.Contains(s.log.String(), want) })
	}
	hangUp("log:\n  level: loud\ndrain:\n  timeout: 3\n", "refused", `aion-test.yaml:2: log.level: must be one of debug, info, warn, error; got \"loud\"\n`)
	if log := s.log.String(); !strings.Contains(log, "drain.timeout") || strings.Contains(log, "a changed key") {
		t.Errorf("not every finding is told:\n%s", log)
	}
	hangUp("log:\n  level: debug\ndrain:\n  timeout: 3s\nmcp:\n  allowed_origins: [https://app.example]\n", "applied", `"keys":"drain.timeout"`)
	if log := s.log.String(); !strings.Contains(log, `"applied":"mcp.allowed_origins, log.level"`) {
		t.Errorf("what was applied is not told:\n%s", log)
	}
	c.must("list_documents", map[string]any{}) // the connection is still there
	eventually(t, "the new level is in force", func() bool { return strings.Contains(s.log.String(), `"level":"DEBUG","msg":"tool call"`) })
	if code := s.stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
