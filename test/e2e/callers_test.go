package e2e_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aion/test/fake/issuer"
)

// bearing adds headers to every request of a client.
type bearing http.Header

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range b {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connectAs is the official client with headers of its own.
func connectAs(t *testing.T, s *server, headers bearing) (*client, error) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "aion-e2e", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.url + "/mcp", MaxRetries: -1, HTTPClient: &http.Client{Transport: headers},
	}, nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = session.Close() })
	return &client{t: t, s: session}, nil
}

// get reads a page with some headers.
func get(t *testing.T, url string, header map[string][]string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		for _, v := range values {
			req.Header.Add(name, v)
		}
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
	return res.StatusCode, string(text)
}

const sharedSecret = "correct-horse-battery-staple"

// mcp 81, 82: with a secret from a private file.
func TestSharedSecretGuardsTheServer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	file := filepath.Join(filepath.Dir(home), "secret")
	if err := os.WriteFile(file, []byte(sharedSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--auth.mode", "token", "--auth.token_file", file}
	s := serve(t, home, args...)
	if _, body := get(t, s.url+"/health/ready", nil); strings.Contains(body, "checks") {
		t.Errorf("a stranger is told %s", body)
	}
	if _, body := get(t, s.url+"/health/ready", bearing{"Authorization": {"Bearer " + sharedSecret}, "x-aion-subject": {"ada"}}); !strings.Contains(body, `"name":"store"`) {
		t.Errorf("the holder of the secret is told %s", body)
	}
	stranger, err := connectAs(t, s, bearing{})
	if err != nil {
		t.Fatalf("a stranger cannot discover: %v", err)
	}
	if r, err := stranger.call("list_documents", map[string]any{}); err != nil || r.refused["code"] != "unauthenticated" || r.refused["error_type"] != "MissingCredential" {
		t.Errorf("a stranger: %+v, %v", r, err)
	}
	known := bearing{"Authorization": {"Bearer " + sharedSecret}, "x-aion-subject": {"ada"}, "x-aion-namespaces": {"default"}}
	reader, err := connectAs(t, s, known)
	if err != nil {
		t.Fatal(err)
	}
	reader.must("list_documents", map[string]any{})
	if r, err := reader.call("save_document", map[string]any{"path": "x.awl", "source": ""}); err != nil || r.refused["code"] != "deploy_denied" {
		t.Errorf("without the grant: %+v, %v", r, err)
	}
	known["x-aion-deploy"] = []string{"true"}
	writer, err := connectAs(t, s, known)
	if err != nil {
		t.Fatal(err)
	}
	writer.must("save_document", map[string]any{"path": "x.awl", "source": ""})
	if s.stop(); strings.Contains(s.log.String(), sharedSecret) {
		t.Error("the log holds the secret")
	}
	shown := aion(t, home, "config", "show", "--config", configFile(t, home, "auth:\n  mode: token\n  token_file: "+file+"\n"))
	if shown.code != 0 || strings.Contains(shown.stdout+shown.stderr, sharedSecret) || !strings.Contains(shown.stdout, "(set)") {
		t.Errorf("config show: %+v", shown)
	}
}

func configFile(t *testing.T, home, text string) string {
	t.Helper()
	name := filepath.Join(filepath.Dir(home), "aion-test.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// mcp 84, 87: the built binary against an issuer that rotates its keys.
func TestTokensOfAnIssuerGuardTheServer(t *testing.T) {
	t.Parallel()
	i := issuer.New(t)
	first, second := issuer.NewKey("k1", "RS256"), issuer.NewKey("k2", "ES256")
	i.Publish(first)
	const public = "http://127.0.0.1:8080"
	s := serve(t, newHome(t), "--auth.mode", "jwks", "--auth.issuer", i.URL(), "--auth.jwks_url", i.KeysURL(), "--server.public_url", public)
	if _, err := connectAs(t, s, bearing{}); err == nil {
		t.Error("a stranger is connected")
	}
	claims := i.Claims(public+"/mcp", time.Now(), map[string]any{"namespaces": []string{"default"}, "deploy": true})
	for _, key := range []*issuer.Key{first, second} {
		if key == second {
			i.Publish(second)
		}
		token := key.Token(claims, nil)
		c, err := connectAs(t, s, bearing{"Authorization": {"Bearer " + token}})
		if err != nil {
			t.Fatalf("%s: %v\n%s", key.Kid, err, s.log)
		}
		c.must("save_document", map[string]any{"path": "x.awl", "source": key.Kid})
		if r, err := c.call("list_runs", map[string]any{"namespace": "other"}); err != nil || r.refused["code"] != "namespace_denied" {
			t.Errorf("%s: %+v, %v", key.Kid, r, err)
		}
		if strings.Contains(s.log.String(), token) {
			t.Error("the log holds a token")
		}
	}
	i.Answer(http.NotFound)
	c, err := connectAs(t, s, bearing{"Authorization": {"Bearer " + first.Token(claims, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	c.must("list_documents", map[string]any{})
}

// What a mode needs is asked for at the start, all at once, by the names of the keys.
func TestModesThatLackSomethingDoNotStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--auth.mode", "jwks"}, []string{"server.public_url", "auth.issuer", "auth.jwks_url"}},
		{[]string{"--auth.mode", "token"}, []string{"auth.token", "auth.token_file"}},
		{[]string{"--listen", "0.0.0.0:0"}, []string{"auth.mode is off", "auth.allow_insecure"}},
		{[]string{"--auth.token", sharedSecret}, []string{"unknown flag: --auth.token"}},
	} {
		got := aion(t, newHome(t), append([]string{"server"}, c.args...)...)
		if got.code != 2 {
			t.Errorf("%v: exit %d", c.args, got.code)
		}
		for _, word := range c.want {
			if !strings.Contains(got.stderr, word) {
				t.Errorf("%v: %q is not in %q", c.args, word, got.stderr)
			}
		}
		if strings.Contains(got.stderr, sharedSecret) {
			t.Errorf("the secret is shown: %q", got.stderr)
		}
	}
}
