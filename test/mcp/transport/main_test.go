package transport_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"aion/adapters/mcp"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const origin = "https://app.example"

// target is the fixture catalogue behind a listener.
type target struct {
	*wire.Client
	server *httptest.Server

	mu     sync.Mutex
	called []string
}

// reached counts the calls that reached a tool.
func (s *target) reached() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.called)
}

func serve(t *testing.T) *target {
	t.Helper()
	return serveWith(t, nil)
}

func serveWith(t *testing.T, waiting func(context.Context)) *target {
	t.Helper()
	s := &target{}
	service := &fixture.Service{Waiting: waiting, Called: func(call mcp.Call) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.called = append(s.called, call.Tool)
	}}
	var hosts []string
	for range wire.Replicas() {
		fixed, err := fixture.New(fixture.Options{Origins: []string{origin, "http://LOCALHOST:3000"}, Service: service})
		if err != nil {
			t.Fatal(err)
		}
		s.server = httptest.NewServer(fixed.Host)
		t.Cleanup(s.server.Close)
		hosts = append(hosts, s.server.Listener.Addr().String())
	}
	outputs := outputSchemas(t)
	s.Client = &wire.Client{URL: s.server.URL + "/mcp", HTTP: s.server.Client(), Output: func(tool string) *wire.Schema { return outputs[tool] }}
	if len(hosts) > 1 {
		s.HTTP = wire.InTurn(hosts...)
		t.Cleanup(s.HTTP.CloseIdleConnections)
	}
	return s
}

func outputSchemas(t *testing.T) map[string]*wire.Schema {
	t.Helper()
	schemas := map[string]*wire.Schema{}
	for _, tool := range fixture.Catalogue().Tools {
		var d struct {
			Name   string          `json:"name"`
			Output json.RawMessage `json:"outputSchema"`
		}
		if err := json.Unmarshal(tool.Descriptor, &d); err != nil {
			t.Fatal(err)
		}
		if d.Output == nil {
			continue
		}
		schema, err := wire.NewSchema(d.Output)
		if err != nil {
			t.Fatal(err)
		}
		schemas[d.Name] = schema
	}
	return schemas
}

func greet() wire.Request { return wire.Tool("7", "greet", `{"name":"Ada"}`) }

func wantCode(t *testing.T, what string, reply wire.Reply, status, code int) {
	t.Helper()
	if got := reply.Code(t); reply.Status != status || got != code {
		t.Errorf("%s: status %d, code %d; want %d, %d\n%.500s", what, reply.Status, got, status, code, reply.Body)
	}
}

func wantServed(t *testing.T, what string, reply wire.Reply) {
	t.Helper()
	wantCode(t, what, reply, http.StatusOK, 0)
}
