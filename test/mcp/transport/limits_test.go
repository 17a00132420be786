package transport_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aion/adapters/mcp"
	"aion/domain"
	"aion/domain/access"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

// named callers are whoever the header says; without one there is no caller.
type named struct{}

func (named) Caller(r *http.Request) (access.Caller, error) {
	subject := r.Header.Get("X-Aion-Subject")
	if subject == "" {
		return access.Caller{}, &domain.Error{Code: domain.CodeUnauthenticated, Type: "MissingSubject", Message: "send x-aion-subject"}
	}
	return access.Caller{Subject: subject, Mode: "token"}, nil
}

func serveOptions(t *testing.T, o mcp.Options) *wire.Client {
	t.Helper()
	fixed, err := fixture.New(fixture.Options{MCP: o})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fixed.Endpoint)
	t.Cleanup(server.Close)
	return &wire.Client{URL: server.URL, HTTP: server.Client()}
}

// mcp 55
func TestRateIsPerCaller(t *testing.T) {
	t.Parallel()
	c := serveOptions(t, mcp.Options{Callers: named{}, RatePerSecond: 1, RateBurst: 3})
	ada := greet().With("X-Aion-Subject", "ada")
	var limited wire.Reply
	calls := 0
	for ; calls < 200; calls++ { // a slow machine earns further tokens meanwhile
		if limited = c.Send(t, ada); limited.Result(t).IsError {
			break
		}
	}
	if calls < 3 {
		t.Errorf("limited after %d calls, the burst is 3", calls)
	}
	if refusal := limited.Refusal(t); refusal.Code != "resource_exhausted" || refusal.ErrorType != "RateLimited" || !strings.Contains(refusal.Message, "ms") {
		t.Errorf("%+v", refusal)
	}
	if got := c.Send(t, ada.With("X-Aion-Subject", "bob")).Result(t); got.IsError {
		t.Errorf("another caller is affected: %+v", got)
	}
	wantServed(t, "the list has no rate", c.Send(t, wire.RPC("1", "tools/list", "")))
}

// A caller without credential reads the refusal in the tool result, and discovers without one.
func TestRefusedCallerIsToldInTheResult(t *testing.T) {
	t.Parallel()
	c := serveOptions(t, mcp.Options{Callers: named{}})
	if refusal := c.Send(t, greet()).Refusal(t); refusal.Code != "unauthenticated" || refusal.ErrorType != "MissingSubject" {
		t.Errorf("%+v", refusal)
	}
	wantServed(t, "discover", c.Send(t, wire.RPC("1", "server/discover", "")))
	wantCode(t, "wrong arguments come first", c.Send(t, wire.Tool("1", "greet", `{"name":1}`)), http.StatusBadRequest, -32602)
}

func TestCallThatTakesTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	c := serveOptions(t, mcp.Options{CallTimeout: 20 * time.Millisecond})
	if refusal := c.Send(t, wire.Tool("1", "wait", `{}`)).Refusal(t); refusal.Code != "unavailable" || refusal.ErrorType != "DeadlineExceeded" || !strings.Contains(refusal.Message, "later") {
		t.Errorf("%+v", refusal)
	}
}

func TestCatalogueThatClientsCouldNotUseStopsTheStart(t *testing.T) {
	t.Parallel()
	const input, output = `"inputSchema":{"type":"object","additionalProperties":false,"properties":{"a":{}}}`, `,"outputSchema":{"type":"object"}`
	for what, tools := range map[string][]mcp.Tool{
		"no JSON":          {{Descriptor: []byte(`{`)}},
		"no object":        {{Descriptor: []byte(`[]`)}},
		"bad name":         {{Descriptor: []byte(`{"name":"a b",` + input + `}`)}},
		"twice":            {{Descriptor: []byte(`{"name":"a",` + input + output + `}`)}, {Descriptor: []byte(`{"name":"a",` + input + `}`)}},
		"no input":         {{Descriptor: []byte(`{"name":"a"}`)}},
		"root combinator":  {{Descriptor: []byte(`{"name":"a","inputSchema":{"type":"object","anyOf":[{}]}}`)}},
		"root of array":    {{Descriptor: []byte(`{"name":"a","inputSchema":{"type":["object","null"]}}`)}},
		"unknown keyword":  {{Descriptor: []byte(`{"name":"a","inputSchema":{"type":"object","oneOf":[{}]}}`)}},
		"output keyword":   {{Descriptor: []byte(`{"name":"a",` + input + `,"outputSchema":{"type":"object","if":{}}}`)}},
		"unknown argument": {{Descriptor: []byte(`{"name":"a",` + input + `}`), Awaits: "b"}},
		"unknown target":   {{Descriptor: []byte(`{"name":"a",` + input + `}`), Target: "b"}},
		"unknown tool":     {{Descriptor: []byte(`{"name":"a",` + input + `}`), Instead: "b"}},
		"no tasks":         {{Descriptor: []byte(`{"name":"a",` + input + `}`), Awaits: "a"}},
	} {
		if _, err := mcp.NewEndpoint(mcp.Catalogue{Tools: tools}, &fixture.Service{}, mcp.Options{}); err == nil {
			t.Errorf("%s: the endpoint was built", what)
		}
	}
}
