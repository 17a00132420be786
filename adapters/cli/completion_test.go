package cli_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// server 3.1: what a server knows completes an argument; a word that is a file or free text is left to the shell.
func TestArgumentsAreCompletedWithWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t, map[string]string{
		"GET /namespaces/default/runs?limit=100":      twoRuns,
		"GET /workflow-types?limit=100":               `{"workflow_types":[{"workflow_type":"hello","document_path":"hello.awl"},{"workflow_type":"sweep"},{"workflow_type":"a\u001bb"}]}`,
		"GET /versions?limit=100&workflow_type=hello": `{"versions":[{"content_hash":"` + hashA + `","deployed_at":"2026-01-02T03:04:05Z"}]}`,
		"GET /documents?limit=100":                    `{"documents":[{"path":"team/hello.awl"}]}`,
		"GET /namespaces?limit=100":                   `{"namespaces":[{"name":"default"}]}`,
		"GET /tasks?limit=100":                        `{"tasks":[{"task_id":"t-1","status":"working"}]}`,
	})
	for line, want := range map[string]string{
		"describe 019a":           idOne + "\thello Running",
		"cancel " + idOne + " ":   idTwo,
		"start h":                 "hello\thello.awl",
		"start ":                  "sweep",
		"route hello ":            hashA,
		"documents read ":         "team/hello.awl",
		"documents save x ":       ":0",
		"namespaces describe d":   "default",
		"tasks describe ":         "t-1\tworking",
		"signal " + idOne + " ":   ":4",
		"describe " + idOne + " ": ":4",
	} {
		d := newDesk(t)
		words := strings.Split(line, " ")
		args := append([]string{"__complete"}, words[:len(words)-1]...)
		out := d.must(append(args, "--server", f.url, words[len(words)-1])...)
		if !strings.Contains(out, want) || strings.Contains(out, "\x1b") || strings.Contains(line, "start h") && strings.Contains(out, "sweep") {
			t.Errorf("%q: %q", line, out)
		}
	}
}

// server 3.1: a server that does not answer costs a shell 300 ms and no word.
func TestCompletionDoesNotWaitForASilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers on it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d, done := newDesk(t), make(chan string, 1)
	go func() {
		out, _, _ := d.run("__complete", "describe", "--server", "http://"+l.Addr().String(), "")
		done <- out
	}()
	select {
	case out := <-done:
		if !strings.HasPrefix(out, ":4") {
			t.Errorf("%q", out)
		}
	case <-time.After(30 * time.Second): // far more than is allowed, for a machine that is busy
		t.Error("it waits")
	}
}

// server 3.1: manual pages come from the same tree; groff reads each without a complaint where it is there.
func TestManualPagesAreWrittenForEveryCommand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := filepath.Join(t.TempDir(), "man1")
	names := strings.Fields(d.must("man", "--dir", dir))
	if len(names) < 40 || names[0] != filepath.Join(dir, "aion.1") {
		t.Errorf("%d pages, the first is %s", len(names), names[0])
	}
	page, err := os.ReadFile(filepath.Join(dir, "aion-mcp-install.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`.TH "AION\-MCP\-INSTALL" 1`, ".SH NAME\naion\\-mcp\\-install \\- ", `.B \-\-target`, ".SH EXAMPLES\n.nf\n  aion mcp install\n", ".BR aion\\-mcp (1)"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if _, err := exec.LookPath("groff"); err == nil {
		out, err := exec.CommandContext(t.Context(), "groff", append([]string{"-man", "-ww", "-z", "-Tutf8", "-K", "utf8"}, names...)...).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%v %.500s", err, out)
		}
	}
	if _, errs, code := d.run("man"); code != 2 || !strings.Contains(errs, "needs a directory") {
		t.Errorf("%d %s", code, errs)
	}
}
