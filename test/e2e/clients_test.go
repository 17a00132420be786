package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// launch is the official client on a command that speaks on its streams; version is what it begins with, empty its newest.
func launch(t testing.TB, home, version string, cmd *exec.Cmd, progress func(*mcp.ProgressNotificationParams)) *client {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = environ(home)
	}
	cmd.Dir = filepath.Dir(home)
	c := mcp.NewClient(&mcp.Implementation{Name: "aion-e2e", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if progress != nil {
				progress(r.Params)
			}
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &client{t: t, s: session}
}

// serveLoud is serve, and shows the server's log when the test fails.
func serveLoud(t *testing.T, home string, args ...string) *server {
	t.Helper()
	s := serve(t, home, args...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
	return s
}

func bridged(t testing.TB, home, version string, args ...string) *client {
	t.Helper()
	return launch(t, home, version, exec.Command(binary, append([]string{"mcp", "bridge"}, args...)...), nil)
}

// server 3.5, mcp 96: the official client runs the whole loop over the bridge in every revision that it speaks: authoring,
// refusals, protocol errors, progress, cancellation.
func TestTheBridgeServesEveryRevision(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	serveLoud(t, home)
	for _, version := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("revision "+version, func(t *testing.T) {
			t.Parallel()
			progressed := make(chan float64, 100)
			c := launch(t, home, version, exec.Command(binary, "mcp", "bridge"), func(p *mcp.ProgressNotificationParams) { progressed <- p.Progress })
			if got := c.s.InitializeResult(); version != "" && got.ProtocolVersion != version || !strings.Contains(got.Instructions, "describe_run") {
				t.Errorf("agreed on %s: %.100s", got.ProtocolVersion, got.Instructions)
			}
			tools, err := c.s.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 13 {
				t.Fatalf("%v, %v", tools, err)
			}
			if report := c.must("check_document", map[string]any{"source": "workflow"}); report["ok"] != false {
				t.Errorf("%v", report)
			}
			path := "v" + strings.ReplaceAll(version, "-", "") + ".awl"
			source := strings.Replace(fixture(t, "hello.awl"), "workflow hello", "workflow hello"+strings.ReplaceAll(version, "-", ""), 1)
			saved := c.must("save_document", map[string]any{"path": path, "source": source})
			p := &mcp.CallToolParams{Name: "deploy_document", Arguments: map[string]any{"path": path, "content_hash": saved["content_hash"]}}
			p.SetProgressToken("deploying")
			deployed, err := c.s.CallTool(t.Context(), p)
			if err != nil || deployed.IsError {
				t.Fatalf("%v, %v", deployed, err)
			}
			if at := <-progressed; at <= 0 {
				t.Errorf("progress %v", at)
			}
			workflowType := deployed.StructuredContent.(map[string]any)["deployment"].(map[string]any)["workflow_type"].(string)
			if d := c.untilEnded(c.start(workflowType, map[string]any{"name": "Ada"})); d["status"] != "Completed" {
				t.Errorf("%v", d)
			}
			c.refuses(t)
		})
	}
}

// refuses shows refusals, protocol errors and cancellation; the connection survives each.
func (c *client) refuses(t *testing.T) {
	t.Helper()
	r, err := c.call("describe_run", map[string]any{"namespace": "default", "workflow_id": "00000000-0000-7000-8000-000000000000"})
	if err != nil || r.refused["code"] != "not_found" || r.refused["error_type"] != "WorkflowNotFound" {
		t.Errorf("%v, %v", r, err)
	}
	var wire *jsonrpc.Error
	if _, err := c.call("describe_run", map[string]any{"runid": "x"}); !errors.As(err, &wire) || wire.Code != -32602 {
		t.Errorf("%v", err)
	}
	_, err = c.call("start_run", map[string]any{"namespace": "default", "workflow_type": "x", "input": nil, "await_completion": true})
	if !errors.As(err, &wire) || wire.Code != -32021 || !strings.Contains(wire.Message, "describe_run") {
		t.Errorf("awaiting: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.s.CallTool(cancelled, &mcp.CallToolParams{Name: "list_runs", Arguments: map[string]any{"namespace": "default"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c.must("list_runs", map[string]any{"namespace": "default"})
}

// server 3.5: the bridge starts without a server, and finds the one that comes, wherever it listens.
func TestTheBridgeOutlivesItsServers(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	c := bridged(t, home, "2025-06-18", "--log", filepath.Join(filepath.Dir(home), "bridge.log"))
	list := map[string]any{"namespace": "default"}
	away := func() {
		t.Helper()
		r, err := c.call("list_runs", list)
		if err != nil || r.refused["code"] != "unavailable" || !strings.Contains(r.refused["message"].(string), "aion server") {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if tools, err := c.s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 13 {
		t.Errorf("without a server: %v, %v", tools, err)
	}
	away()
	for range 2 {
		s := serve(t, home)
		c.must("list_runs", list)
		s.kill()
		away()
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(home), "bridge.log"))
	if err != nil || !strings.Contains(string(log), `"method":"tools/call"`) {
		t.Errorf("%v: %s", err, log)
	}
}

// server 3.5: the bridge is the server where there is none; others follow it, and one of them goes on when it ends.
func TestAnEmbeddedBridgeOwnsTheStore(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	first := bridged(t, home, "", "--embedded")
	id := first.start(first.deploy("three.awl", threeSteps), map[string]any{"dir": dir})
	eventually(t, "the second step begins", func() bool { _, err := os.Stat(filepath.Join(dir, "two.begun")); return err == nil })
	second := bridged(t, home, "2025-11-25", "--embedded")
	if d := second.describe(id); d["status"] != "Running" {
		t.Errorf("%v", d)
	}
	third := bridged(t, home, "")
	if d := third.describe(id); d["status"] != "Running" {
		t.Errorf("a bridge that embeds nothing: %v", d)
	}
	if err := first.s.Close(); err != nil {
		t.Errorf("the first ends: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := second.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("%v", d)
	}
	info, err := os.Stat(filepath.Join(home, "run", "engine.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// server 4.1: a client starts the bridge wherever it stands; a configuration that lies there is not meant for it.
func TestTheBridgeReadsNoFileOfTheDirectoryItStandsIn(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(home), "aion.yaml"), []byte("what: is this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bridged(t, home, "", "--embedded").must("list_runs", map[string]any{"namespace": "default"})
	if e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada"); e.code != 2 || !strings.Contains(e.stderr, "unknown key") {
		t.Errorf("%+v", e)
	}
}

// server 3.2: the token comes from the environment or a file, goes to a safe place only, and is never written.
func TestTheBridgeCarriesTheToken(t *testing.T) {
	t.Parallel()
	const token = "a-secret-of-the-tests-1234"
	home := newHome(t)
	config := filepath.Join(filepath.Dir(home), "server.yaml")
	if err := os.WriteFile(config, []byte("auth:\n  mode: token\n  token: "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveLoud(t, home, "--config", config)
	file := filepath.Join(filepath.Dir(home), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(filepath.Dir(home), "bridge.log")
	for _, c := range []*client{bridged(t, home, "", "--token", "@"+file, "--log", log), bridged(t, home, "2025-06-18", "--token", "@"+file, "--log", log)} {
		c.must("list_runs", map[string]any{"namespace": "default"})
		c.must("save_document", map[string]any{"path": "a.awl", "source": fixture(t, "hello.awl")})
	}
	r, err := bridged(t, home, "2025-06-18", "--log", log).call("list_runs", map[string]any{"namespace": "default"})
	if err != nil || r.refused["code"] != "unauthenticated" {
		t.Errorf("%v, %v", r, err)
	}
	narrow := bridged(t, home, "", "--token", "@"+file, "--namespace", "other", "--deploy=false", "--log", log)
	if r, err := narrow.call("list_runs", map[string]any{"namespace": "default"}); err != nil || r.refused["code"] != "namespace_denied" {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := narrow.call("save_document", map[string]any{"path": "b.awl", "source": "x"}); err != nil || r.refused["code"] != "deploy_denied" {
		t.Errorf("%v, %v", r, err)
	}
	if e := aion(t, home, "mcp", "bridge", "--token", "@"+file, "--url", "http://192.0.2.1:8080"); e.code != 2 || !strings.Contains(e.stderr, "TokenExposed") {
		t.Errorf("%+v", e)
	}
	text, err := os.ReadFile(log)
	if err != nil || strings.Contains(string(text), token) || strings.Contains(s.log.String(), token) {
		t.Errorf("the log holds the token: %v", err)
	}
}

// server 3.5: what install writes is what starts: every entry of a command is run as its client would, with an empty
// environment and from another directory.
func TestInstalledEntriesStart(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	serveLoud(t, home)
	root := filepath.Dir(home)
	e := aion(t, home, "mcp", "install", "--target", "cursor", "--target", "vscode", "--target", "gemini", "--target", "claude-desktop", "--target", "codex")
	if e.code != 0 {
		t.Fatalf("%+v", e)
	}
	if again := aion(t, home, "mcp", "install", "--target", "cursor"); again.code != 0 || !strings.Contains(again.stdout, "already installed") {
		t.Errorf("%+v", again)
	}
	for file, section := range map[string]string{
		".cursor/mcp.json": "mcpServers", ".config/Code/User/mcp.json": "servers", ".gemini/settings.json": "mcpServers",
		".config/Claude/claude_desktop_config.json": "mcpServers",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		var config map[string]map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}
		if err := json.Unmarshal(text, &config); err != nil {
			t.Fatal(err)
		}
		entry := config[section]["aion"]
		cmd := exec.Command(entry.Command, entry.Args...)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		c := launch(t, newHome(t), "2025-06-18", cmd, nil)
		c.must("list_runs", map[string]any{"namespace": "default"})
	}
	if text, err := os.ReadFile(filepath.Join(root, ".codex", "config.toml")); err != nil || !strings.HasPrefix(string(text), "[mcp_servers.aion]\ncommand = ") {
		t.Errorf("%v: %s", err, text)
	}
	remote := aion(t, home, "mcp", "install", "--target", "cursor", "--scope", "project", "--transport", "http")
	text, err := os.ReadFile(filepath.Join(root, ".cursor", "mcp.json"))
	if remote.code != 0 || err != nil || !strings.Contains(string(text), `"url": "http://127.0.0.1:`) {
		t.Errorf("%+v, %v: %s", remote, err, text)
	}
}

// server 3.5: Claude Code changes its user scope itself.
func TestClaudeCodeInstallsByItsCommand(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	root := filepath.Dir(home)
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + filepath.Join(root, "ran") + "\n[ \"$5\" != broken ] || { echo no such luck; exit 3; }\n"
	if err := os.WriteFile(filepath.Join(root, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) ended {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"mcp", "install", "--target", "claude-code"}, args...)...)
		cmd.Env = []string{"AION_HOME=" + home, "HOME=" + root, "PATH=" + root + ":/usr/bin:/bin"}
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		return ended{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
	e := run()
	ran, err := os.ReadFile(filepath.Join(root, "ran"))
	if e.code != 0 || err != nil || !strings.HasPrefix(string(ran), "mcp\nadd-json\n--scope\nuser\naion\n{\"command\":\""+binary) {
		t.Errorf("%+v, %v: %s", e, err, ran)
	}
	if e := run("--name", "broken"); e.code != 3 || !strings.Contains(e.stderr, "no such luck") {
		t.Errorf("%+v", e)
	}
}

// server 3.5: the bridge ends with its input, and by a signal; nothing but messages is on standard output.
func TestTheBridgeEnds(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	for _, bySignal := range []bool{false, true} {
		cmd := exec.CommandContext(t.Context(), binary, "mcp", "bridge")
		cmd.Env = environ(home)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(out)
		if line, err := reader.ReadString('\n'); err != nil || line != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
			t.Errorf("%q, %v", line, err)
		}
		want := 0
		if bySignal {
			want = 143
			_ = cmd.Process.Signal(syscall.SIGTERM)
		} else {
			_ = in.Close()
		}
		rest, _ := io.ReadAll(reader)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != want || len(rest) > 0 {
			t.Errorf("exit %d, %q", code, rest)
		}
		_ = in.Close()
	}
}

func TestManyCallsAtOnceOverOneBridge(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	serveLoud(t, home)
	c := bridged(t, home, "")
	source := fixture(t, "hello.awl")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if r, err := c.call("check_document", map[string]any{"source": source}); err != nil || r.data["deploys_green"] != true {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	all.Wait()
}

func TestToolsAreListedWithAndWithoutAServer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	without := aion(t, home, "mcp", "tools", "-o", "json")
	serveLoud(t, home)
	with := aion(t, home, "mcp", "tools", "-o", "json")
	var a, b []map[string]any
	if without.code != 0 || with.code != 0 || json.Unmarshal([]byte(without.stdout), &a) != nil || json.Unmarshal([]byte(with.stdout), &b) != nil || len(a) != 13 || len(b) != 13 {
		t.Errorf("%.300s\n%.300s", without.stdout+without.stderr, with.stdout+with.stderr)
	}
	if e := aion(t, home, "mcp", "tools", "--url", "http://127.0.0.1:1"); e.code != 3 || !strings.Contains(e.stderr, "ServerUnreachable") {
		t.Errorf("%+v", e)
	}
}
