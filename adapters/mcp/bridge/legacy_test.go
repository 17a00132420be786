package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/mcp/fixture"
)

// server 3.5: each older revision is answered with itself, any other with the newest of them.
func TestInitializeAnswersTheRevisionOfTheClient(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"1999-01-01": "2025-11-25", "2026-07-28": "2025-11-25", "": "2025-11-25",
	} {
		t.Run("asked "+asked, func(t *testing.T) {
			t.Parallel()
			s := serving(t, product(t, &fixture.Service{}))
			got := s.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`, asked))
			s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			wantResult := map[string]any{
				"protocolVersion": want, "capabilities": map[string]any{"tools": map[string]any{}}, "instructions": "Tools for tests.",
				"serverInfo": map[string]any{"name": "fixture", "title": "fixture of the transport", "version": "1"},
			}
			if diff := cmp.Diff(map[string]any{"jsonrpc": "2.0", "id": 0.0, "result": wantResult}, got); diff != "" {
				t.Error(diff)
			}
			if rest, err := s.end(); err != nil || rest != nil {
				t.Errorf("the end: %v, %v", err, rest)
			}
		})
	}
}

// server 3.5: what only the present revision has is dropped, the structured content and the blocks stay.
func TestResultsAreTranslatedForOlderClients(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	s.ask(hello)
	list := s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)["result"].(map[string]any)
	if len(list["tools"].([]any)) != len(fixture.Catalogue().Tools) || list["ttlMs"] != nil || list["cacheScope"] != nil || list["resultType"] != nil {
		t.Errorf("the list has members of another revision: %v", keys(list))
	}
	greeted := s.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)["result"].(map[string]any)
	if greeted["resultType"] != nil || greeted["structuredContent"].(map[string]any)["greeting"] != "Hello Ada!" || greeted["isError"] != false {
		t.Errorf("greeted: %v", greeted)
	}
	refused := s.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_error_handling"}}`)["result"].(map[string]any)
	if blocks := refused["content"].([]any); refused["isError"] != true || len(blocks) != 2 || refused["resultType"] != nil {
		t.Errorf("refused: %v", refused)
	}
	wrong := s.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"greet","arguments":{"nam":"Ada"}}}`)["error"].(map[string]any)
	if wrong["code"] != -32602.0 || !strings.Contains(wrong["message"].(string), "name") || wrong["data"] == nil {
		t.Errorf("a wrong argument: %v", wrong)
	}
}

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

// server 3.5: a call goes out as a request of the present revision, with the headers that repeat its body.
func TestCallsOfOlderClientsAreTranslated(t *testing.T) {
	t.Parallel()
	r := &recorder{t: t, answer: says(200, "application/json", `{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","content":[]}}`)}
	s := serving(t, r)
	s.ask(hello)
	got := s.ask(`{"jsonrpc":"2.0","id":"x\u0041","method":"tools/call","params":{"task":{"ttl":1},"name":"greet","arguments":{"n":1.50,"N":"ü"},` +
		`"_meta":{"progressToken":7,"traceparent":"00-1","io.modelcontextprotocol/protocolVersion":5}}}`)
	if diff := cmp.Diff(map[string]any{"jsonrpc": "2.0", "id": "xA", "result": map[string]any{"content": []any{}}}, got); diff != "" {
		t.Error(diff)
	}
	last := r.last()
	want := map[string]any{
		"jsonrpc": "2.0", "id": "xA", "method": "tools/call", "params": map[string]any{
			"name": "greet", "arguments": map[string]any{"n": 1.5, "N": "ü"}, "_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
				"io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"}, "progressToken": 7.0, "traceparent": "00-1",
			},
		},
	}
	if diff := cmp.Diff(want, last.body); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(last.raw, `{"n":1.50,"N":"ü"}`) {
		t.Errorf("the arguments are not byte for byte: %s", last.raw)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "greet", "X-Aion-Subject": "ada",
	} {
		if got := last.header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("%s is %q; want %q", name, got, value)
		}
	}
}

func TestWhatIsNoToolIsRefusedHere(t *testing.T) {
	t.Parallel()
	r := &recorder{t: t, answer: says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`)}
	s := serving(t, r)
	s.ask(hello)
	before := r.count()
	for _, method := range []string{"resources/list", "prompts/get", "logging/setLevel", "completion/complete", "tasks/get", "tools/List"} {
		e := s.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method))["error"].(map[string]any)
		if e["code"] != -32601.0 {
			t.Errorf("%s: %v", method, e)
		}
	}
	if e := s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`)["error"].(map[string]any); e["code"] != -32602.0 {
		t.Errorf("a cursor: %v", e)
	}
	if diff := cmp.Diff(map[string]any{}, s.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)["result"]); diff != "" {
		t.Errorf("ping: %s", diff)
	}
	if r.count() != before {
		t.Error("the server was asked")
	}
}

// server 3.5: instructions and tools are kept for their ttlMs.
func TestTheListIsKeptForItsTime(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[int]int{3600000: 1, 0: 3, -5: 3} {
		r := &recorder{t: t, answer: says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":%d}}`, ttl))}
		s := serving(t, r)
		for range 3 {
			s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
		}
		if r.count() != want {
			t.Errorf("ttl %d: asked %d times", ttl, r.count())
		}
	}
}

// Revision 2025-03-26 has batches: one array of answers, none for notifications; the others refuse them.
func TestBatchesBelongToOneRevision(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}},7,` +
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]`
	s.ask(hello)
	if e := s.ask(batch)["error"].(map[string]any); e["code"] != -32600.0 {
		t.Errorf("a batch of 2025-11-25: %v", e)
	}
	s.ask(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	s.send(batch)
	var answers []struct {
		ID     any            `json:"id"`
		Result map[string]any `json:"result"`
		Error  map[string]any `json:"error"`
	}
	if err := json.Unmarshal([]byte(s.line()), &answers); err != nil {
		t.Fatal(err)
	}
	found := map[any]string{}
	for _, a := range answers {
		found[a.ID] = fmt.Sprint(a.Error["code"], a.Result["structuredContent"])
	}
	want := map[any]string{1.0: "<nil> <nil>", 2.0: "<nil> map[greeting:Hello Ada!]", 3.0: "-32600 <nil>", nil: "-32600 <nil>"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if e := s.ask(`[]`)["error"].(map[string]any); e["code"] != -32600.0 {
		t.Errorf("an empty batch: %v", e)
	}
}
