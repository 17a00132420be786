package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aion/adapters/cli"
)

// in runs a command line in a home with saved contexts.
func (m *machine) in(t *testing.T, home string, env map[string]string, args ...string) came {
	t.Helper()
	var out, errs bytes.Buffer
	p := cli.Program{In: strings.NewReader("input"), Out: &out, Err: &errs, Backend: &flagless{m}}
	p.Surroundings = func(o cli.Open) (*cli.Surroundings, error) {
		if strings.HasPrefix(strings.Join(args, " "), "mcp") && !o.Client {
			t.Errorf("%v reads the configuration of the directory that it stands in", args)
		}
		return &cli.Surroundings{
			Home: home, User: "ada", Getenv: func(name string) string { return env[name] }, Owner: func() (string, bool, error) { return "", false, nil },
		}, nil
	}
	code := cli.Run(t.Context(), p, args)
	return came{out.String(), errs.String(), code}
}

// server 3.2, 3.5, 31: the commands of MCP clients know contexts, whose token goes to their own server only.
func TestTheBridgeTakesItsServerFromAContext(t *testing.T) {
	t.Parallel()
	m, home := newMachine(t, false), t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a-token-of-prod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := m.in(t, home, nil, "context", "save", "prod", "--server", "https://aion.example.org", "--subject", "eve", "--token", "@"+secret, "--ca-file", "/ca.pem"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	last := func() cli.MCPRequest { return m.asks[len(m.asks)-1] }
	for what, c := range map[string]struct {
		env                        map[string]string
		args                       []string
		url, token, subject, caPEM string
	}{
		"by name":            {nil, []string{"--context", "prod"}, "https://aion.example.org", "a-token-of-prod", "eve", "/ca.pem"},
		"by variable":        {map[string]string{"AION_CONTEXT": "prod"}, nil, "https://aion.example.org", "a-token-of-prod", "eve", "/ca.pem"},
		"flags first":        {nil, []string{"--context", "prod", "--subject", "zoe", "--ca-file", "/other.pem"}, "https://aion.example.org", "a-token-of-prod", "zoe", "/other.pem"},
		"its endpoint":       {nil, []string{"--context", "prod", "--url", "https://aion.example.org/mcp"}, "https://aion.example.org/mcp", "a-token-of-prod", "eve", "/ca.pem"},
		"a variable's token": {map[string]string{"AION_TOKEN": "x"}, []string{"--context", "prod"}, "https://aion.example.org", "", "eve", "/ca.pem"},
		"none":               {nil, nil, "", "", "", ""},
	} {
		for _, command := range []string{"bridge", "tools"} {
			if got := m.in(t, home, c.env, append([]string{"mcp", command}, c.args...)...); got.code != 0 || strings.Contains(got.err, "a-token") {
				t.Fatalf("%s: %+v", what, got)
			}
			if r := last(); r.URL != c.url || r.Token != c.token || r.Subject != c.subject || r.CAFile != c.caPEM {
				t.Errorf("%s %s: %+v", command, what, r)
			}
		}
	}
	for _, wrong := range [][]string{
		{"--context", "prod", "--url", "https://elsewhere.example.org"}, {"--context", "nobody"}, {"--context", "prod", "--embedded"},
	} {
		if got := m.in(t, home, nil, append([]string{"mcp", "bridge"}, wrong...)...); got.code != 2 || strings.Contains(got.err, "a-token") {
			t.Errorf("%v: %+v", wrong, got)
		}
	}
	if got := m.in(t, home, nil, "context", "use", "prod"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	m.in(t, home, nil, "mcp", "tools")
	if r := last(); r.URL != "https://aion.example.org" || r.Token != "a-token-of-prod" {
		t.Errorf("the context in use: %+v", r)
	}
	m.in(t, home, nil, "mcp", "bridge", "--embedded")
	if r := last(); r.URL != "" || r.Token != "" || !r.Embedded {
		t.Errorf("the local store is meant: %+v", r)
	}
}

// server 33: an entry names the context, and never what is in it.
func TestInstallWritesTheContextAndNotItsToken(t *testing.T) {
	t.Parallel()
	m, home := newMachine(t, false), t.TempDir()
	if got := m.in(t, home, nil, "context", "save", "prod", "--server", "https://aion.example.org", "--token-env", "PROD_TOKEN"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := m.in(t, home, nil, "mcp", "install", "--target", "cursor", "--context", "prod"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	entry := text(t, m.mcp.Places.Home+"/.cursor/mcp.json")
	if !strings.Contains(entry, `"--context"`) || !strings.Contains(entry, `"prod"`) || strings.Contains(entry, "--url") {
		t.Errorf("%s", entry)
	}
	if got := m.in(t, home, nil, "mcp", "install", "--target", "gemini", "--context", "prod", "--transport", "http"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if entry := text(t, m.mcp.Places.Home+"/.gemini/settings.json"); !strings.Contains(entry, "https://aion.example.org/mcp") {
		t.Errorf("%s", entry)
	}
	for _, wrong := range [][]string{{"--context", "nobody"}, {"--context", "prod", "--token", "@f"}, {"--context", "prod", "--embedded"}, {"--context", "prod", "--url", "https://x"}} {
		if got := m.in(t, home, nil, append([]string{"mcp", "install", "--target", "codex"}, wrong...)...); got.code != 2 {
			t.Errorf("%v: %+v", wrong, got)
		}
	}
}
