package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"aion/adapters/cli"
	"aion/adapters/cli/clients"
	"aion/domain"
)

// machine is a process side with a home of its own and a program claude.
type machine struct {
	cli.Backend // the other commands are not used

	mcp  cli.MCP
	ran  [][]string
	asks []cli.MCPRequest
}

func (m *machine) MCP(cli.Open) (*cli.MCP, error) { return &m.mcp, nil }

func newMachine(t *testing.T, claude bool) *machine {
	t.Helper()
	home := t.TempDir()
	m := &machine{}
	m.mcp = cli.MCP{
		Program: "/bin/aion", Subject: "ada",
		Places: clients.Places{Home: home, Config: filepath.Join(home, ".config"), Project: filepath.Join(home, "project")},
		Endpoint: func(_ context.Context, url string) (string, bool, error) {
			if url == "bad" {
				return "", false, &domain.Error{Code: domain.CodeInvalidInput, Type: "URLInvalid", Message: "bad is no URL"}
			}
			if url == "" {
				return "http://127.0.0.1:7777/mcp", true, nil
			}
			return url + "/mcp", true, nil
		},
		Bridge: func(_ context.Context, r cli.MCPRequest, in io.Reader, out io.Writer) error {
			m.asks = append(m.asks, r)
			_, err := io.Copy(out, in)
			return err
		},
		Tools: func(_ context.Context, r cli.MCPRequest) ([]byte, bool, error) {
			m.asks = append(m.asks, r)
			return []byte(`[{"name":"a","description":"Reads it. More.","annotations":{"readOnlyHint":true}},{"name":"b\u001b","description":"Ends\nit.","annotations":{"destructiveHint":true}},{"name":"c"}]`), r.URL != "", nil
		},
		Find: func(program string) (string, bool) { return "/usr/bin/" + program, claude },
		Run: func(_ context.Context, program string, args ...string) error {
			m.ran = append(m.ran, append([]string{program}, args...))
			return nil
		},
	}
	return m
}

type came struct {
	out, err string
	code     int
}

func (m *machine) aion(t *testing.T, args ...string) came {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), cli.Program{In: strings.NewReader("input"), Out: &out, Err: &errs, Backend: &flagless{m}}, args)
	return came{out.String(), errs.String(), code}
}

func text(t *testing.T, path string) string {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// server 3.5: only the one entry is touched; run twice there is no change, and the exit code is 0.
func TestInstallTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	files := map[string]string{
		"cursor": m.mcp.Places.Home + "/.cursor/mcp.json", "codex": m.mcp.Places.Home + "/.codex/config.toml", "gemini": m.mcp.Places.Home + "/.gemini/settings.json",
		"vscode": m.mcp.Places.Config + "/Code/User/mcp.json", "claude-desktop": m.mcp.Places.Config + "/Claude/claude_desktop_config.json",
	}
	for name, file := range files {
		first := m.aion(t, "mcp", "install", "--target", name)
		if first.code != 0 || first.out != name+"\tinstalled\t"+file+"\n" {
			t.Errorf("%+v", first)
		}
		before := text(t, file)
		again := m.aion(t, "mcp", "install", "--target", name)
		if again.code != 0 || again.out != name+"\talready installed\t"+file+"\n" || text(t, file) != before {
			t.Errorf("%+v", again)
		}
		if gone := m.aion(t, "mcp", "install", "--target", name, "--uninstall"); gone.code != 0 || gone.out != name+"\tuninstalled\t"+file+"\n" || strings.Contains(text(t, file), "/bin/aion") {
			t.Errorf("%+v", gone)
		}
		if gone := m.aion(t, "mcp", "install", "--target", name, "--uninstall"); gone.code != 0 || gone.out != name+"\tnot installed\t"+file+"\n" {
			t.Errorf("%+v", gone)
		}
	}
	many := m.aion(t, "mcp", "install", "--target", "cursor", "--target", "gemini", "--name", "other", "--scope", "project", "--token", "@t", "--home", "/h")
	here, err := filepath.Abs("t")
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, m.mcp.Places.Project+"/.gemini/settings.json"); many.code != 0 || !strings.Contains(got, `"args": ["mcp", "bridge", "--home", "/h", "--token", "@`+here+`"]`) ||
		!strings.Contains(got, `"other"`) {
		t.Errorf("%+v: %s", many, got)
	}
}

// A client that launches the bridge does not know the variables of the shell in which it was installed.
func TestTheEntryCarriesTheEnvironment(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	m.mcp.Home, m.mcp.Config, m.mcp.Server = "/h", "/c.yaml", "http://s"
	r := m.aion(t, "mcp", "install", "--print", "--target", "cursor")
	if !strings.Contains(r.out, `["mcp", "bridge", "--home", "/h", "--config", "/c.yaml", "--url", "http://s/mcp"]`) {
		t.Errorf("%+v", r)
	}
	if r := m.aion(t, "mcp", "install", "--print", "--target", "cursor", "--embedded"); !strings.Contains(r.out, `"--config", "/c.yaml", "--embedded"]`) {
		t.Errorf("%+v", r)
	}
}

func TestPrintWritesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, true)
	for _, name := range []string{"claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"} {
		for _, extra := range [][]string{nil, {"--uninstall"}} {
			r := m.aion(t, append([]string{"mcp", "install", "--print", "--target", name, "--url", "http://h:1"}, extra...)...)
			if r.code != 0 || extra == nil && !strings.Contains(r.out, `"--url", "http://h:1/mcp"`) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	names, err := os.ReadDir(m.mcp.Places.Home)
	if err != nil || len(names) != 0 || m.ran != nil {
		t.Errorf("%v, %v, %v", names, err, m.ran)
	}
}

// server 3.5: a token is never written.
func TestHTTPNamesTheTokensVariable(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	r := m.aion(t, "mcp", "install", "--print", "--target", "cursor", "--transport", "http")
	if want := "{\n  \"mcpServers\": {\n    \"aion\": {\n      \"url\": \"http://127.0.0.1:7777/mcp\"\n    }\n  }\n}\n"; r.out != want {
		t.Errorf("%+v", r)
	}
	m.mcp.Token = true
	if r := m.aion(t, "mcp", "install", "--print", "--target", "codex", "--transport", "http"); !strings.Contains(r.out, `bearer_token_env_var = "AION_TOKEN"`) ||
		!strings.Contains(r.out, `x-aion-subject = "ada"`) {
		t.Errorf("%+v", r)
	}
}

func TestWrongInstallsAreRefused(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	for args, want := range map[string]string{
		"--target cursr": "did you mean: --target cursor", "--target cursor --scope all": "user or project", "--transport sse": "bridge or http", "--name a.b": "--name takes",
		"--token secret": "never written", "--transport http --token @f": "AION_TOKEN", "--transport http --embedded": "--embedded", "--embedded --url http://x": "one of them",
		"--target claude-desktop --transport http": "--transport bridge", "--target codex --scope project": "--scope user", "x": "one too many", "--target cursor --url bad": "bad is no URL",
		"--targt x": "unknown flag",
	} {
		if r := m.aion(t, append([]string{"mcp", "install"}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.err, want) || strings.Contains(r.out+r.err, "secret") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	file := filepath.Join(m.mcp.Places.Home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{\n  \"a\" 1\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.aion(t, "mcp", "install", "--target", "gemini"); r.code != 2 || !strings.Contains(r.err, file+":2:7: ") || text(t, file) != "{\n  \"a\" 1\n}" {
		t.Errorf("%+v", r)
	}
}

// server 3.5: the user scope of Claude Code is changed by its own command.
func TestClaudeCodeIsChangedByItsOwnCommand(t *testing.T) {
	t.Parallel()
	m := newMachine(t, true)
	file := filepath.Join(m.mcp.Places.Home, ".claude.json")
	const entry = `{"command":"/bin/aion","args":["mcp","bridge"]}`
	add := []string{"/usr/bin/claude", "mcp", "add-json", "--scope", "user", "aion", entry}
	remove := []string{"/usr/bin/claude", "mcp", "remove", "--scope", "user", "aion"}
	for _, c := range []struct {
		name, file string
		args       []string
		ran        [][]string
		said       string
	}{
		{"nothing there", "", nil, [][]string{add}, "installed"},
		{"installed", `{"mcpServers":{"aion":` + entry + `}}`, nil, nil, "already installed"},
		{"another entry", `{"mcpServers":{"aion":{"command":"x"}}}`, nil, [][]string{remove, add}, "installed"},
		{"taking away", `{"mcpServers":{"aion":{"command":"x"}}}`, []string{"--uninstall"}, [][]string{remove}, "uninstalled"},
		{"taking nothing away", `{}`, []string{"--uninstall"}, nil, "not installed"},
	} {
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		m.ran = nil
		r := m.aion(t, append([]string{"mcp", "install", "--target", "claude-code"}, c.args...)...)
		if diff := cmp.Diff(c.ran, m.ran); diff != "" || r.code != 0 || r.out != "claude-code\t"+c.said+"\t"+file+"\n" || text(t, file) != c.file {
			t.Errorf("%s: %+v %s", c.name, r, diff)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.aion(t, "mcp", "install", "--target", "claude-code"); r.code != 2 || !strings.Contains(r.err, file+":1:2") {
		t.Errorf("%+v", r)
	}
	without := newMachine(t, false)
	without.mcp.Program = "/a b/it's/aion"
	want := `claude mcp add-json --scope user aion '{"command":"/a b/it'\''s/aion","args":["mcp","bridge"]}'` + "\n"
	if r := without.aion(t, "mcp", "install", "--target", "claude-code"); r.code != 0 || r.out != want || !strings.Contains(r.err, "not on the PATH") {
		t.Errorf("%+v", r)
	}
}

func TestWithoutTargetsTheClientsOfTheMachineAreListed(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	if r := m.aion(t, "mcp", "install"); r.code != 0 || r.out != "" || !strings.Contains(r.err, "no client was found") {
		t.Errorf("%+v", r)
	}
	m.aion(t, "mcp", "install", "--target", "cursor")
	for _, dir := range []string{".codex", ".gemini"} {
		if err := os.MkdirAll(filepath.Join(m.mcp.Places.Home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.mcp.Places.Home, ".gemini", "settings.json"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.aion(t, "mcp", "install")
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(r.out), "\n")[1:] {
		cells := strings.Split(line, "\t")
		got = append(got, fmt.Sprint(cells[0], ":", cells[1], ":", cells[3]))
	}
	want := []string{"cursor:installed:aion mcp install --target cursor", "codex:not installed:aion mcp install --target codex", "gemini:broken:aion mcp install --target gemini"}
	if diff := cmp.Diff(want, got); diff != "" || r.code != 0 {
		t.Error(diff)
	}
	http := m.aion(t, "mcp", "install", "--transport", "http")
	if http.code != 0 || !strings.Contains(http.out, "cursor\tdiffers") {
		t.Errorf("%+v", http)
	}
}

func TestBridgeTakesItsFlags(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logged := filepath.Join(t.TempDir(), "log")
	r := m.aion(t, "mcp", "bridge", "--token", "@"+file, "--url", "http://x", "--subject", "eve", "-n", "a,b", "--deploy=false", "--log", logged, "--timeout", "3s")
	if r.code != 0 || r.out != "input" || r.err != "" || len(m.asks) != 1 {
		t.Fatalf("%+v", r)
	}
	if a := m.asks[0]; a.Token != "abc" || a.Credential != file || a.URL != "http://x" || a.Subject != "eve" || a.Namespaces != "a,b" || a.Deploy == nil || *a.Deploy ||
		a.Timeout.Seconds() != 3 || a.Embedded {
		t.Errorf("%+v", a)
	}
	if r := m.aion(t, "mcp", "bridge", "--token", "literal"); r.code != 0 || !strings.Contains(r.err, "warning") || strings.Contains(r.err, "literal") {
		t.Errorf("%+v", r)
	}
	for args, want := range map[string]string{
		"--token -": "standard input", "--token @/nowhere": "cannot be read", "--timeout 0s": "more than 0", "--embedded --url http://x": "one of them", "x": "one too many",
		"--log /nowhere/log": "cannot be written", "--token @/dev/null": "no token",
	} {
		if r := m.aion(t, append([]string{"mcp", "bridge"}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestToolsArePrinted(t *testing.T) {
	t.Parallel()
	m := newMachine(t, false)
	r := m.aion(t, "mcp", "tools")
	if want := "TOOL\tEFFECT\tDESCRIPTION\na\treads\tReads it.\nb\\x1b\tdestroys\tEnds\nc\twrites\t\n"; r.out != want || r.code != 0 || !strings.Contains(r.err, "no server was found") {
		t.Errorf("%+v", r)
	}
	if r := m.aion(t, "mcp", "tools", "-o", "json", "--url", "http://x"); !strings.HasPrefix(r.out, `[{"name":"a"`) || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := m.aion(t, "mcp", "tools", "-o", "xml"); r.code != 2 {
		t.Errorf("%+v", r)
	}
}

// flagless is a machine without configuration flags.
type flagless struct{ *machine }

func (flagless) AddFlags(*pflag.FlagSet) {}
