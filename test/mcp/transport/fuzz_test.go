package transport_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"aion/application/tasks"
	"aion/test/mcp/fixture"
	"aion/test/mcp/wire"
)

// FuzzExchange sends any body with any of the three headers. Whatever comes in, the answer is one of the protocol's: a
// known status, a body that is one JSON value with a result or a known error, and the id byte for byte where it has one.
func FuzzExchange(f *testing.F) {
	fixed, err := fixture.New(fixture.Options{Tasks: tasks.Deps{MaxWorking: 100}})
	if err != nil {
		f.Fatal(err)
	}
	endpoint := fixed.Endpoint
	for _, seed := range []string{
		body, change(`"id":7`, `"id":"\u0000"`), change(`"Ada"`, `"\ud800"`), change(`"method"`, `"Method"`), `[]`, `{`, ``, `{"jsonrpc":"2.0","method":"notifications/x"}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, string(wire.RPC("1", "tools/list", "").Body),
		string(wire.RPC("-1", "server/discover", "").Body), string(task("tasks/get", "task-1", wire.MetaTasks).Body), string(awaited().Body), change(`"params":{`, `"params":{"cursor":1,`),
	} {
		f.Add([]byte(seed), "2026-07-28", "tools/call", "greet", "application/json")
		f.Add([]byte(seed), "2026-07-28", "tools/list", "=?base64?Z3JlZXQ=?=", "text/event-stream")
	}
	f.Fuzz(func(t *testing.T, body []byte, version, method, name, accept string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", bytes.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name}, "Accept": {accept}}
		if bytes.Contains(body, []byte("wait")) || bytes.Contains(body, []byte("panic")) || bytes.Contains(body, []byte("unencodable")) {
			t.Skip() // tools that wait or fail on purpose
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusAccepted:
			if w.Body.Len() != 0 {
				t.Fatalf("accepted with a body: %s", w.Body)
			}
			return
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable:
		default:
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		text := w.Body.Bytes()
		if data, ok := bytes.CutPrefix(text, []byte("event: message\ndata: ")); ok {
			text = bytes.TrimSuffix(data, []byte("\n\n"))
		}
		held(t, text, body)
	})
}

func held(t *testing.T, text, body []byte) {
	t.Helper()
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *wire.Error     `json:"error"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.JSONRPC != "2.0" || (m.Result == nil) == (m.Error == nil) || bytes.ContainsRune(text, '\n') {
		t.Fatalf("%v: %q", err, text)
	}
	if m.ID != nil && !bytes.Contains(body, m.ID) {
		t.Fatalf("id %s is not in the request", m.ID)
	}
	if m.Error == nil {
		return
	}
	switch m.Error.Code {
	case -32700, -32600, -32601, -32602, -32020, -32021, -32022:
	default:
		t.Fatalf("code %d: %s", m.Error.Code, text)
	}
}
