package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "aion-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "aion")
	build := exec.Command("go", "build", "-o", binary, "aion/cmd/aion")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newHome is a private directory with a short path.
func newHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "aion-home-") //nolint:usetesting // a home has to have a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "home")
}

func environ(home string) []string {
	return []string{"AION_HOME=" + home, "HOME=" + filepath.Dir(home), "PATH=" + os.Getenv("PATH")}
}

// ended is how a command of the binary came out.
type ended struct {
	stdout, stderr string
	code           int
}

// aion runs one command to its end.
func aion(t *testing.T, home string, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = environ(home)
	cmd.Dir = filepath.Dir(home)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("aion %v: %v", args, err)
	}
	return ended{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// outcome reads the last line of `aion run`.
func (e ended) outcome(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(e.stdout), &o); err != nil {
		t.Fatalf("standard output is no outcome: %v\nstdout: %s\nstderr: %s", err, e.stdout, e.stderr)
	}
	return o
}

// server is one running `aion server`.
type server struct {
	t    testing.TB
	cmd  *exec.Cmd
	url  string
	log  *logBuffer
	done chan struct{}
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.WriteString(line + "\n")
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a server on a free port and waits until it listens.
func serve(t testing.TB, home string, args ...string) *server {
	t.Helper()
	return serveIn(t, home, nil, args...)
}

// serveIn is serve with more variables.
func serveIn(t testing.TB, home string, env []string, args ...string) *server {
	t.Helper()
	s := &server{t: t, log: &logBuffer{}, done: make(chan struct{})}
	s.cmd = exec.Command(binary, append([]string{"server", "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = append(environ(home), env...)
	s.cmd.Dir = filepath.Dir(home)
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go func() {
		defer close(s.done)
		lines := bufio.NewScanner(pipe)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			s.log.add(lines.Text())
			var record struct {
				Msg string `json:"msg"`
				URL string `json:"url"`
			}
			if json.Unmarshal(lines.Bytes(), &record) == nil && record.URL != "" {
				select {
				case listening <- record.URL:
				default:
				}
			}
		}
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.kill()
		if log := s.log.String(); strings.Contains(log, "panic") || strings.Contains(log, "faulted the engine") {
			t.Errorf("the server panicked:\n%s", log)
		}
	})
	select {
	case s.url = <-listening:
	case <-s.done:
		t.Fatalf("the server ended at its start:\n%s", s.log)
	case <-time.After(60 * time.Second):
		t.Fatalf("the server does not listen:\n%s", s.log)
	}
	return s
}

// kill is kill -9, and waits until the process is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop is a clean stop and answers the exit code.
func (s *server) stop() int {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(60 * time.Second):
		s.t.Fatalf("the server does not stop:\n%s", s.log)
	}
	return s.cmd.ProcessState.ExitCode()
}

// client is the official client on a server.
type client struct {
	t testing.TB
	s *mcp.ClientSession
}

func connect(t testing.TB, s *server) *client {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "aion-e2e", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", MaxRetries: -1}, nil)
	if err != nil {
		t.Fatalf("connect: %v\n%s", err, s.log)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &client{t: t, s: session}
}

// result is a tool's answer: structured, or a refusal.
type result struct {
	data    map[string]any
	refused map[string]any // code, message, error_type
}

func (c *client) call(tool string, args map[string]any) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	res, err := c.s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return result{}, err
	}
	if res.IsError {
		var refused map[string]any
		text, ok := res.Content[len(res.Content)-1].(*mcp.TextContent)
		if !ok {
			return result{}, fmt.Errorf("a refusal without its JSON block: %v", res.Content)
		}
		if err := json.Unmarshal([]byte(text.Text), &refused); err != nil {
			return result{}, fmt.Errorf("a refusal without its JSON block: %w", err)
		}
		return result{refused: refused}, nil
	}
	data, ok := res.StructuredContent.(map[string]any)
	if !ok {
		return result{}, fmt.Errorf("no structured content: %v", res.Content)
	}
	return result{data: data}, nil
}

// must calls a tool that has to serve.
func (c *client) must(tool string, args map[string]any) map[string]any {
	c.t.Helper()
	r, err := c.call(tool, args)
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	if r.refused != nil {
		c.t.Fatalf("%s is refused: %v", tool, r.refused)
	}
	return r.data
}

// deploy saves and deploys a document and answers its workflow type.
func (c *client) deploy(path, source string) string {
	c.t.Helper()
	saved := c.must("save_document", map[string]any{"path": path, "source": source})
	deployed := c.must("deploy_document", map[string]any{"path": path, "content_hash": saved["content_hash"]})
	return deployed["deployment"].(map[string]any)["workflow_type"].(string)
}

func (c *client) start(workflowType string, input any) string {
	c.t.Helper()
	return c.must("start_run", map[string]any{"namespace": "default", "workflow_type": workflowType, "input": input})["workflow_id"].(string)
}

func (c *client) describe(id string) map[string]any {
	c.t.Helper()
	return c.must("describe_run", map[string]any{"namespace": "default", "workflow_id": id})
}

// until polls describe until the condition holds.
func (c *client) until(id, what string, holds func(map[string]any) bool) map[string]any {
	c.t.Helper()
	var d map[string]any
	eventually(c.t, what, func() bool { d = c.describe(id); return holds(d) })
	return d
}

func (c *client) untilEnded(id string) map[string]any {
	c.t.Helper()
	return c.until(id, "the run ends", func(d map[string]any) bool { return d["status"] != "Running" })
}

// history reads every event of a workflow by pages.
func (c *client) history(id string) []map[string]any {
	c.t.Helper()
	var events []map[string]any
	for from := 1.0; ; {
		page := c.must("read_history", map[string]any{"namespace": "default", "workflow_id": id, "from_seq": from, "limit": 500})
		for _, e := range page["events"].([]any) {
			events = append(events, e.(map[string]any))
		}
		from = page["next_from_seq"].(float64)
		if page["more"] == false {
			return events
		}
	}
}

func types(events []map[string]any) []string {
	var names []string
	for _, e := range events {
		names = append(names, e["type"].(string))
	}
	return names
}

// eventually waits for a condition of another process; it fails after a bound that no healthy machine reaches.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// fixture reads a document of the language's own test documents.
func fixture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "domain", "awl", "testdata", "valid", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// processes counts the processes whose command line holds a word.
func processes(t testing.TB, word string) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, dir := range dirs {
		line, err := os.ReadFile(dir)
		if err == nil && strings.Contains(string(line), word) {
			n++
		}
	}
	return n
}
