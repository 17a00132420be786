package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/cli"
	"aion/domain"
)

// forgetful is a server that starts a run and goes before it answers. The server that comes after it takes its caller for
// somebody else: of the key it knows nothing, of the workflow it does.
type forgetful struct {
	history *cutting

	mu      sync.Mutex
	started []string // workflow ids, by start
	keys    []string
	tokens  map[string]int
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[r.Header.Get("Authorization")]++
	problem := func(status int, code, kind string) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"code":%q,"error_type":%q,"message":"m"}`, code, kind)
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	switch {
	case path == "/deployments":
		_, _ = fmt.Fprintf(w, `{"deployment":{"workflow_type":"hello","content_hash":%q,"package_id":%q},"steps":[]}`, hashA, hashA)
	case r.Method == http.MethodPost && path == "/namespaces/default/runs":
		var asked struct {
			WorkflowID string `json:"workflow_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		f.started, f.keys = append(f.started, asked.WorkflowID), append(f.keys, r.Header.Get("Idempotency-Key"))
		if len(f.started) == 1 {
			problem(http.StatusServiceUnavailable, "unavailable", "ShuttingDown")
			return
		}
		problem(http.StatusConflict, "invalid_state", "WorkflowExists")
	case len(f.started) > 0 && path == "/namespaces/default/runs/"+f.started[0]:
		_, _ = fmt.Fprintf(w, `{"workflow_id":%q,"status":"Running","started_at":"2026-01-02T03:04:05.000000Z"}`, f.started[0])
	case len(f.started) > 0:
		r.URL.Path = strings.Replace(r.URL.Path, f.started[0], idOne, 1)
		f.history.ServeHTTP(w, r)
	}
}

// start runs a document where another process has the store, with a token from standard input.
func (f *forgetful) start(t *testing.T, args ...string) (errs string, code int) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "hello.awl")
	if err := os.WriteFile(file, []byte(hello(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	held := &process{start: func(context.Context, cli.Open) error {
		return &domain.Error{Code: domain.CodeStoreLocked, Type: "StoreLocked", Message: "held", Details: map[string]any{"address": s.URL}}
	}}
	var stderr strings.Builder
	code = cli.Run(t.Context(), cli.Program{In: strings.NewReader("secret\n"), Out: io.Discard, Err: &stderr, NoColor: true, Backend: held},
		append([]string{"run", file, "-i", "name=Ada", "--follow", "none"}, args...))
	return stderr.String(), code
}

func newForgetful() *forgetful { return &forgetful{history: newCutting(), tokens: map[string]int{}} }

// server 13, server 31: a start whose answer was lost is not a second run, also where the key is not known; and what was read
// from standard input is shown at each look.
func TestAStartWhoseAnswerWasLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	f := newForgetful()
	errs, code := f.start(t, "--token", "-")
	if code != 0 {
		t.Errorf("exit %d, %s", code, errs)
	}
	if len(f.started) != 2 || f.started[0] == "" || f.started[0] != f.started[1] || f.keys[0] == "" || f.keys[0] != f.keys[1] {
		t.Errorf("started %q with %q", f.started, f.keys)
	}
	if _, err := domain.ParseWorkflowID(f.started[0]); err != nil {
		t.Error(err)
	}
	delete(f.tokens, "Bearer secret")
	if d := cmp.Diff(map[string]int{}, f.tokens); d != "" {
		t.Error(d)
	}
}

// An id that the user chose may be that of another run: it is refused. And a key of the user finds what it started, whatever
// its id.
func TestOnlyAnIDOfItsOwnIsTakenForItsRun(t *testing.T) {
	t.Parallel()
	f := newForgetful()
	if errs, code := f.start(t, "--workflow-id", idTwo); code != 2 || !strings.Contains(errs, "WorkflowExists") || f.started[1] != idTwo {
		t.Errorf("exit %d, %s", code, errs)
	}
	f = newForgetful()
	if errs, code := f.start(t, "--idempotency-key", "mine"); code != 2 || f.started[0] != "" || f.keys[0] != "mine" {
		t.Errorf("exit %d, %s, %q", code, errs, f.started)
	}
}
