package callers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aion/bootstrap"
	"aion/domain/action"
	"aion/ports"
	"aion/test/fake/issuer"
	"aion/test/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secret    = "correct-horse-battery-staple"
	publicURL = "https://aion.example"
	audience  = publicURL + "/mcp"
)

// world is the whole product over the memory store, behind a listener; its log is searched for credentials at the end.
type world struct {
	*wire.Client
	t      *testing.T
	app    *bootstrap.App
	url    string
	issuer *issuer.Issuer // of mode jwks
	key    *issuer.Key

	mu      sync.Mutex
	log     bytes.Buffer
	secrets []string
}

// Write takes the log.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

// idle runs no command: these tests are about who may ask for one.
type idle struct{}

func (idle) Execute(ctx context.Context, _ ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	<-ctx.Done()
	return action.Parked{}
}

func open(t *testing.T, change func(*bootstrap.Config)) *world {
	t.Helper()
	w := &world{t: t, secrets: []string{secret}}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Chmod(filepath.Dir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := bootstrap.Defaults(home)
	if err != nil {
		t.Fatal(err)
	}
	c.StoreBackend = "memory"
	change(&c)
	log := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	app, err := bootstrap.New(t.Context(), c, bootstrap.Parts{Executor: idle{}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	w.app = app
	t.Cleanup(func() {
		if err := app.Close(context.WithoutCancel(t.Context()), 0); err != nil {
			t.Error(err)
		}
		w.discreet()
	})
	host, err := app.Host()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	w.url = server.URL
	w.Client = &wire.Client{URL: server.URL + "/mcp", HTTP: server.Client()}
	return w
}

// discreet holds that nothing of a credential is in the log.
func (w *world) discreet() { // mcp 90
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, secret := range w.secrets {
		for _, part := range strings.Split(secret, ".") {
			if len(part) > 8 && strings.Contains(w.log.String(), part) {
				w.t.Errorf("the log holds %q", part)
			}
		}
	}
	if !strings.Contains(w.log.String(), "http") {
		w.t.Error("the log is empty")
	}
}

func (w *world) remember(secret string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets = append(w.secrets, secret)
	return secret
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

func openOff(t *testing.T) *world {
	t.Helper()
	return open(t, func(*bootstrap.Config) {})
}

func openToken(t *testing.T, change func(*bootstrap.Config)) *world {
	t.Helper()
	return open(t, func(c *bootstrap.Config) {
		c.AuthMode, c.AuthToken = "token", secret
		if change != nil {
			change(c)
		}
	})
}

var signing = sync.OnceValue(func() *issuer.Key { return issuer.NewKey("k1", "ES256") })

func openJWKS(t *testing.T, change func(*bootstrap.Config)) *world {
	t.Helper()
	i := issuer.New(t)
	i.Publish(signing())
	w := open(t, func(c *bootstrap.Config) {
		c.AuthMode, c.AuthIssuer, c.AuthJWKSURL, c.ServerPublicURL = "jwks", i.URL(), i.KeysURL(), publicURL
		if change != nil {
			change(c)
		}
	})
	w.issuer, w.key = i, signing()
	return w
}

// token is a good one with changed claims.
func (w *world) token(changes map[string]any) string {
	return w.remember(w.key.Token(w.issuer.Claims(audience, time.Now(), changes), nil))
}

// by sends a request with a token of the issuer.
func (w *world) by(r wire.Request, changes map[string]any) wire.Request {
	return r.With("Authorization", "Bearer "+w.token(changes))
}

// as sends a request as a holder of the shared secret.
func as(r wire.Request, subject, namespaces, deploy string) wire.Request {
	return r.With("Authorization", "Bearer "+secret).With("X-Aion-Subject", subject).With("X-Aion-Namespaces", namespaces).With("X-Aion-Deploy", deploy)
}

// answer is that of a request outside the protocol; its body is JSON or nothing.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func (w *world) get(method, path, host string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Host = host
	res, err := w.HTTP.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	a := answer{status: res.StatusCode, header: res.Header}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &a.body); err != nil {
			w.t.Errorf("%s %s: %v", method, path, err)
		}
	}
	return a
}

func (w *world) wantRefusal(what string, reply wire.Reply, code, errorType string, holds ...string) {
	w.t.Helper()
	refusal := reply.Refusal(w.t)
	if refusal.Code != code || refusal.ErrorType != errorType {
		w.t.Errorf("%s: refused with %s/%s, want %s/%s: %s", what, refusal.Code, refusal.ErrorType, code, errorType, refusal.Message)
	}
	for _, text := range holds {
		if !strings.Contains(refusal.Message, text) {
			w.t.Errorf("%s: %q is not in %q", what, text, refusal.Message)
		}
	}
}

func (w *world) wantSuccess(what string, reply wire.Reply) json.RawMessage {
	w.t.Helper()
	result := reply.Result(w.t)
	if result.IsError {
		w.t.Errorf("%s: refused: %s", what, result.Content[0].Text)
	}
	return result.Structured
}

// text is a text member of structured content.
func text(t *testing.T, content json.RawMessage, member string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(content, &members); err != nil {
		t.Fatal(err)
	}
	value, _ := members[member].(string)
	return value
}

const gateDoc = `//! Wait for a go.
workflow gate
  signal go: Go
  outcome done: type Done, route success

type Go { ok: Bool }
type Done { ok: Bool }

step hold
  wait go -> answer
  route done(ok: answer.ok)
`

// arguments encodes the arguments of a tool.
func arguments(t *testing.T, pairs ...any) string {
	t.Helper()
	members := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// deployed saves and deploys the gate with requests that who signs.
func (w *world) deployed(who func(wire.Request) wire.Request) {
	w.t.Helper()
	saved := w.wantSuccess("save", w.Send(w.t, who(wire.Tool("1", "save_document", arguments(w.t, "path", "gate.awl", "source", gateDoc)))))
	hash := text(w.t, saved, "content_hash")
	w.wantSuccess("deploy", w.Send(w.t, who(wire.Tool("1", "deploy_document", arguments(w.t, "path", "gate.awl", "content_hash", hash)))))
}

// started starts the gate in a namespace and gives its workflow id.
func (w *world) started(namespace string, who func(wire.Request) wire.Request) string {
	w.t.Helper()
	run := w.wantSuccess("start", w.Send(w.t, who(wire.Tool("1", "start_run", arguments(w.t, "namespace", namespace, "workflow_type", "gate")))))
	return text(w.t, run, "workflow_id")
}

// metrics reads the metrics with a credential.
func (w *world) metrics(authorization string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/metrics", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	res, err := w.HTTP.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// foreignTasksAreUnknown makes a task of one caller and holds that all others are told what they are told of no task at
// all, while its owner reads it.
func (w *world) foreignTasksAreUnknown(owner func(wire.Request) wire.Request, others map[string]func(wire.Request) wire.Request) {
	w.t.Helper()
	start := wire.Tool("1", "start_run", arguments(w.t, "namespace", "a", "workflow_type", "gate", "await_completion", true)).WithTasks()
	var task struct{ TaskID string }
	if err := json.Unmarshal(w.Send(w.t, owner(start)).Last(w.t).Result, &task); err != nil || task.TaskID == "" {
		w.t.Fatalf("no task: %v", err)
	}
	missing := "task-" + strings.Repeat("0", 32)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		further := ""
		if method == "tasks/update" {
			further = `"inputResponses":{}`
		}
		for who, as := range others {
			foreign := w.Send(w.t, as(wire.TaskMethod(method, task.TaskID, further)))
			absent := w.Send(w.t, as(wire.TaskMethod(method, missing, further)))
			if foreign.Status != http.StatusBadRequest || foreign.Code(w.t) != -32602 || !bytes.Equal(foreign.Body, absent.Body) {
				w.t.Errorf("%s by %s: %d\n%s\n%s", method, who, foreign.Status, foreign.Body, absent.Body)
			}
		}
	}
	reply := w.Send(w.t, owner(wire.TaskMethod("tasks/get", task.TaskID, "")))
	if !strings.Contains(string(reply.Body), `"status":"working"`) {
		w.t.Errorf("its owner reads %s", reply.Body)
	}
}
