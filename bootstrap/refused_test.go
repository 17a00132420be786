package bootstrap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/bootstrap"
)

// server 4.1: whatever a file says and a start would not read is refused where it stands.
func TestAFileIsReadWholeOrRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"log:\n  level: warn\n---\nauth:\n  mode: token\n":  ":3:1: a second document begins here",
		"log:\n  level: warn\n---\n":                        ":3:1: a second document begins here",
		"---\n---\nlog:\n  level: warn\n":                   ":2:1: a second document begins here",
		"log:\n  level: warn\n...\nauth: [\n":               "line 3: did not find expected <document start>",
		"engine.workers: 7\nengine:\n  workers: 9\n":        ":1:1: engine.workers: a key is not written with dots here; write engine: and below it, indented, workers:",
		"engine:\n  workers: 9\nengine.workers: 7\n":        ":3:1: engine.workers: a key is not written with dots here",
		"actions.limits:\n  open_files: 99\n":               ":1:1: actions.limits: a key is not written with dots here",
		"actions:\n  limits.open_files: 99\n":               ":2:3: actions.limits.open_files: a key is not written with dots here; write limits: and below it",
		"engine:\n  workers: 9\n  workers: 7\n":             ":3:3: engine.workers: the key is repeated",
		"# " + strings.Repeat("x", 1<<20) + "\nlog: nope\n": "has more than 1048576 bytes",
	} {
		_, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), write(t, text))
		if message := refusal(t, err); !strings.Contains(message, want) {
			t.Errorf("%.60q: %q is not in %q", text, want, message)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\nlog:\n  level: warn\n", "---\n", "log:\n  level: warn\n...\n"} {
		if _, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), write(t, text)); err != nil {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
}

func TestAnEndlessFileIsRefused(t *testing.T) {
	t.Parallel()
	_, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), "/dev/zero")
	if message := refusal(t, err); !strings.Contains(message, "/dev/zero has more than 1048576 bytes") {
		t.Errorf("got %q", message)
	}
}

// server 4.2: an address that nobody can listen on, and an empty value where one is needed, stop the start by name.
func TestAddressesAndPathsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"999.1.1.1:1", "1.2.3:80", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1", "", "a b:1", "-x:1", "127.0.0.1:http", "[::1", "::1:80"} {
		_, err := bootstrap.Load([]string{"--listen=" + listen}, []string{"HOME=/tmp"}, t.TempDir(), "")
		if message := refusal(t, err); !strings.Contains(message, "--listen: ") || !strings.Contains(message, "is not host:port; write 127.0.0.1:8080") {
			t.Errorf("%q: got %q", listen, message)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "[::1]:8080", "localhost:80", "0.0.0.0:1", ":1", "host-1.example:8080", "[fe80::1%lo]:1"} {
		if _, err := bootstrap.Load([]string{"--listen=" + listen}, []string{"HOME=/tmp", "AION_AUTH_ALLOW_INSECURE=true"}, t.TempDir(), ""); err != nil {
			t.Errorf("%q is refused: %v", listen, err)
		}
	}
	for args, want := range map[string]string{
		"--store=":                    "--store: must name a file; got an empty value",
		"--limits.payload_bytes=5MiB": "--limits.payload_bytes: must be at most mcp.max_body_bytes (4194304)",
		"--mcp.max_body_bytes=1MiB":   "limits.payload_bytes: must be at most mcp.max_body_bytes (1048576)",
	} {
		_, err := bootstrap.Load([]string{args}, []string{"HOME=/tmp"}, t.TempDir(), "")
		if message := refusal(t, err); !strings.Contains(message, want) {
			t.Errorf("%s: %q is not in %q", args, want, message)
		}
	}
}

// server 4.2: a database is named where it is needed, and nowhere else; what the file says of it is shown by nobody.
func TestADatabaseIsNamedWhereItIsNeeded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dsn := filepath.Join(home, "dsn")
	if err := os.WriteFile(dsn, []byte("postgres://u:hush@h/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"store: {backend: postgres}":                                         "store.dsn: store.backend postgres needs it",
		"store: {dsn: 'postgres://u:hush@h/d'}":                              "store.dsn: is set, but store.backend is sqlite",
		"store: {backend: memory, dsn_file: " + dsn + "}":                    "is set, but store.backend is memory",
		"store: {backend: postgres, dsn: x, dsn_file: " + dsn + "}":          "store.dsn is set as well",
		"store: {backend: postgres, dsn: x, postgres: {max_connections: 1}}": "store.postgres.max_connections: ",
		"store: {backend: mysql}":                                            "store.backend: ",
	} {
		_, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, home, write(t, text+"\n"))
		if message := refusal(t, err); !strings.Contains(message, want) || strings.Contains(message, "hush") {
			t.Errorf("%s: %q is not in %q", text, want, message)
		}
	}
	cfg, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, home, write(t, "store: {backend: postgres, dsn_file: "+dsn+"}\n"))
	if err != nil || cfg.StoreDSN != "postgres://u:hush@h/d" || strings.Contains(cfg.StoreDSN.String(), "hush") {
		t.Errorf("got %v, %v", cfg.StoreDSN, err)
	}
}

// The example for Postgres lacks nothing but the secret that it names.
func TestTheExampleForPostgresIsWhole(t *testing.T) {
	t.Parallel()
	shipped, err := os.ReadFile(filepath.Join("..", "configs", "postgres.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(shipped), "/etc/aion/dsn", write(t, "postgres://u@h/d"))
	cfg, err := bootstrap.Load(nil, []string{"HOME=/tmp"}, t.TempDir(), write(t, text))
	if err != nil || cfg.StoreBackend != "postgres" || cfg.StoreDSN == "" {
		t.Errorf("got %v, %v", cfg.StoreBackend, err)
	}
}

// server 4.1: home is told by its name, not by a file that cannot be below it.
func TestAHomeThatIsAFileIsNamed(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{{"AION_HOME=" + home}, {"HOME=/tmp"}} {
		flag := ""
		if environ[0] == "HOME=/tmp" {
			flag = home
		}
		_, err := bootstrap.Load(nil, environ, flag, "")
		if message := refusal(t, err); !strings.HasPrefix(message, "AION_HOME "+home+" is not a directory") {
			t.Errorf("got %q", message)
		}
	}
}

func TestAForeignVariableIsToldTheNamesOfItsGroup(t *testing.T) {
	t.Parallel()
	cfg, err := bootstrap.Load(nil, []string{"AION_SERVER_ADDR=x", "AION_ENGINE_WORKER=4", "AION_MCP_FOO=1", "AION_ZZZ=1", "HOME=/tmp"}, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	const is = " is set and is no configuration variable"
	want := []string{
		"AION_ENGINE_WORKER" + is + "; did you mean AION_ENGINE_WORKERS?",
		"AION_MCP_FOO" + is + "; did you mean AION_MCP_ENABLED, AION_MCP_ALLOWED_ORIGINS, AION_MCP_MAX_BODY_BYTES, AION_MCP_MAX_RESULT_BYTES or another AION_MCP_…?",
		"AION_SERVER_ADDR" + is + "; did you mean AION_SERVER_LISTEN or AION_SERVER_PUBLIC_URL or AION_SERVER_ALLOWED_HOSTS or AION_SERVER_CORS_ALLOWED_ORIGINS?",
		"AION_ZZZ" + is,
	}
	if d := cmp.Diff(want, cfg.Ignored); d != "" {
		t.Error(d)
	}
}
