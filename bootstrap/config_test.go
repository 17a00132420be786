package bootstrap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"aion/bootstrap"
	"aion/domain"
)

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "aion.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func refusal(t *testing.T, err error) string {
	t.Helper()
	var e *domain.Error
	if !errors.As(err, &e) || e.Code != domain.CodeInvalidInput {
		t.Fatalf("got %v, want a refusal of the configuration", err)
	}
	return e.Message
}

func TestAFlagBeatsTheEnvironmentBeatsTheFileBeatsTheDefault(t *testing.T) {
	t.Parallel()
	file := write(t, "drain:\n  timeout: 1s\nlog:\n  level: warn\nengine:\n  cache_runs: 7\n")
	cfg, err := bootstrap.Load([]string{"--drain.timeout=3s"}, []string{"AION_DRAIN_TIMEOUT=2s", "AION_LOG_LEVEL=error", "HOME=/tmp"}, t.TempDir(), file)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		cfg.DrainTimeout, cfg.LogLevel, cfg.EngineCacheRuns, cfg.EngineLostAttempts, cfg.Origins["drain.timeout"], cfg.Origins["log.level"],
		cfg.Origins["engine.cache_runs"], cfg.Origins["engine.lost_attempts"],
	}
	want := []any{3 * time.Second, "error", 7, 5, "flag --drain.timeout", "env AION_LOG_LEVEL", "file " + file + ":6", "default"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Both ways of naming a key are injective, and every key can be set by a variable with no file present.
func TestEveryKeyHasItsOwnVariable(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range bootstrap.KeyNames() {
		variable := bootstrap.EnvName(name)
		if other, ok := seen[variable]; ok {
			t.Errorf("%s and %s share %s", name, other, variable)
		}
		seen[variable] = name
		cfg, err := bootstrap.Load(nil, []string{variable + "=§", "HOME=/tmp"}, t.TempDir(), "")
		origin := "env " + variable
		if err == nil && cfg.Origins[name] != origin {
			t.Errorf("%s does not come from %s", name, variable)
		}
		if err != nil && !strings.Contains(err.Error(), variable) {
			t.Errorf("%s: the refusal of a bad value does not name %s: %v", name, variable, err)
		}
	}
}

func TestAllFindingsOfAFileAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	file := write(t, "server:\n  lisen: 127.0.0.1:1\ndrain:\n  timeout: 30\nserver:\n  listen: 127.0.0.1:2\nlog: &a\n  level: warn\nmcp:\n  enabled: maybe\n")
	_, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), file)
	message := refusal(t, err)
	for _, want := range []string{
		file + ":2:3: server.lisen: unknown key; did you mean server.listen?",
		file + ":5:1: server: the key is repeated",
		"anchors and aliases are not used here",
	} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is not in\n%s", want, message)
		}
	}
}

func TestValuesOfAWrongKindAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"AION_DRAIN_TIMEOUT=30":          `AION_DRAIN_TIMEOUT: drain.timeout: "30" is not a duration; write 30s`,
		"AION_DRAIN_TIMEOUT=11m":         "drain.timeout: must be at most 10m0s; got 11m",
		"AION_LIMITS_PAYLOAD_BYTES=2MB":  "is not a size",
		"AION_ENGINE_WORKERS=many":       "is not a whole number",
		"AION_MCP_ENABLED=yes":           "is neither true nor false",
		"AION_AUTH_MODE=ldap":            "must be one of off",
		"AION_ENGINE_LOST_ATTEMPTS=0":    "must be at least 1",
		"AION_SERVER_LISTEN=0.0.0.0:80":  "0.0.0.0:80 is reachable from other machines and auth.mode is off",
		"AION_ACTIONS_CLAIM_TTL=26s":     "actions.claim_ttl: must be at least actions.kill_grace + actions.kill_wait + 20s (27s); got 26s",
		"AION_ACTIONS_KILL_GRACE=0":      "actions.kill_grace: must be at least 1ns; got 0",
		"AION_ACTIONS_KILL_GRACE=40s":    "actions.claim_ttl: must be at least actions.kill_grace + actions.kill_wait + 20s (1m5s); got 1m0s",
		"AION_RETENTION_CLOSED=59m":      "retention.closed: must be at least 1h0m0s, or 0 for ever; got 59m0s",
		"AION_AUDIT_RETENTION=5m":        "audit.retention: must be at least 1h0m0s, or 0 for ever; got 5m0s",
		"AION_SERVER_LISTEN=nowhere":     "is not host:port",
		"AION_MCP_ALLOWED_ORIGINS=*":     "is not an origin",
		"AION_NAMESPACES_DEFAULT=Ünique": "is no namespace name",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			_, err := bootstrap.Load(nil, []string{value, "HOME=/tmp"}, t.TempDir(), "")
			if message := refusal(t, err); !strings.Contains(message, want) {
				t.Errorf("%q is not in %q", want, message)
			}
		})
	}
}

// actions 11, server 4.2: no time at all is refused where a time is meant, and means something where a server drains: at once.
func TestADrainMayTakeNoTime(t *testing.T) {
	t.Parallel()
	cfg, err := bootstrap.Load(nil, []string{"AION_DRAIN_TIMEOUT=0", "HOME=/tmp"}, t.TempDir(), "")
	if err != nil || cfg.DrainTimeout != 0 {
		t.Errorf("%s, %v", cfg.DrainTimeout, err)
	}
}

func TestAForeignVariableIsAWarningAndPlatformOnesAreNot(t *testing.T) {
	t.Parallel()
	cfg, err := bootstrap.Load(nil, []string{"AION_LOG_LEVL=warn", "AION_PORT_8080_TCP_ADDR=1", "HOME=/tmp"}, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AION_LOG_LEVL is set and is no configuration variable; did you mean AION_LOG_LEVEL?"}
	if d := cmp.Diff(want, cfg.Ignored); d != "" {
		t.Error(d)
	}
}

// The file that ships is the one that the key table prints, it sets nothing, and uncommented it sets every key to its default.
func TestTheShippedFileIsTheKeyTable(t *testing.T) {
	t.Parallel()
	shipped, err := os.ReadFile(filepath.Join("..", "configs", "aion.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(bootstrap.ConfigFile(), string(shipped)); d != "" {
		t.Errorf("aion config init prints another file: %s", d)
	}
	var nothing map[string]any
	if err := yaml.Unmarshal(shipped, &nothing); err != nil || len(nothing) != 0 {
		t.Errorf("the file sets %v (%v)", nothing, err)
	}
	var lines []string
	for line := range strings.Lines(string(shipped)) {
		lines = append(lines, strings.TrimPrefix(line, "# "))
	}
	var tree map[string]any
	text := strings.Join(lines[2:], "") // the first two lines are the introduction
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatalf("uncommented, the file is no YAML: %v\n%s", err, text)
	}
	if _, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), write(t, strings.ReplaceAll(text, "<home>", "/tmp"))); err != nil {
		t.Errorf("uncommented, the file is refused: %v", err)
	}
	for _, name := range bootstrap.KeyNames() {
		var at any = tree
		for part := range strings.SplitSeq(name, ".") {
			m, ok := at.(map[string]any)
			if !ok {
				t.Fatalf("%s is not in the file", name)
			}
			at, ok = m[part]
			if !ok {
				t.Errorf("%s is not in the file", name)
			}
		}
	}
}

func TestAHomeThatOthersCanReachIsRefused(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := bootstrap.MakeHome(home); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("AION_HOME %s has mode 0755 and must be private: chmod 700 %s", home, home)
	if message := refusal(t, bootstrap.MakeHome(home)); message != want {
		t.Errorf("got %q, want %q", message, want)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	if message := refusal(t, bootstrap.MakeHome(link)); !strings.Contains(message, "is a link") {
		t.Errorf("got %q", message)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if message := refusal(t, bootstrap.MakeHome(filepath.Join(open, "home"))); !strings.Contains(message, "which every user can write") {
		t.Errorf("got %q", message)
	}
}
