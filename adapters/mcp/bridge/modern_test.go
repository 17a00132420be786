package bridge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/mcp/fixture"
)

// server 3.5: a request of 2026-07-28 needs no handshake, and passes byte for byte both ways.
func TestThePresentRevisionPasses(t *testing.T) {
	t.Parallel()
	r := &recorder{t: t, answer: says(200, "application/json", `{"jsonrpc":"2.0","id":5,"result":{"resultType":"task","taskId":"7","n":1.50}}`)}
	s := serving(t, r)
	call := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ä b","arguments":{"x": 1.0},"extra":[1],` + meta + `}}`
	s.send(call)
	if got, want := s.line(), `{"jsonrpc":"2.0","id":5,"result":{"resultType":"task","taskId":"7","n":1.50}}`; got != want {
		t.Errorf("the answer is %s", got)
	}
	last := r.last()
	if last.raw != call || last.header.Get("Mcp-Name") != "=?base64?w6QgYg==?=" || last.header.Get("Mcp-Method") != "tools/call" {
		t.Errorf("the request is %s with %v", last.raw, last.header)
	}
	s.send(`{"jsonrpc":"2.0","id":"6","method":"tasks/get","params":{"taskId":"t1",` + meta + `}}`)
	s.next()
	if name := r.last().header.Get("Mcp-Name"); name != "t1" {
		t.Errorf("Mcp-Name is %q", name)
	}
	s.send(`{"jsonrpc":"2.0","id":"6","method":"subscriptions/listen","params":{` + strings.Replace(meta, "2026-07-28", "2031-01-01", 1) + `}}`)
	s.next()
	if last := r.last(); last.header.Get("Mcp-Protocol-Version") != "2031-01-01" || last.header.Get("Mcp-Name") != "" {
		t.Errorf("headers %v", last.header)
	}
}

// A line is a message: an answer that a server wrote over many lines comes as one, and its id is the client's.
func TestAnAnswerIsOneLineWithTheIDOfItsRequest(t *testing.T) {
	t.Parallel()
	s := serving(t, &recorder{t: t, answer: says(200, "application/json", "{\n\"jsonrpc\": \"2.0\",\n\"id\": 999,\n\"result\": {\n\"content\": []}}\n")})
	if diff := cmp.Diff(map[string]any{"jsonrpc": "2.0", "id": "mine", "result": map[string]any{"content": []any{}}}, s.ask(`{"jsonrpc":"2.0","id":"mine","method":"tools/list","params":{`+meta+`}}`)); diff != "" {
		t.Error(diff)
	}
}

func TestProtocolErrorsPassWithTheIDOfTheirRequest(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	for request, code := range map[string]float64{
		`"method":"prompts/list","params":{` + meta + `}`:                                                           -32601,
		`"method":"tools/call","params":{"name":"nope",` + meta + `}`:                                               -32602,
		`"method":"tools/call","params":{` + meta + `}`:                                                             -32602,
		`"method":"tools/list","params":{` + strings.Replace(meta, "2026-07-28", "2030-01-01", 1) + `}`:             -32022,
		`"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`:         -32602,
		`"method":"tools/list","params":{` + strings.Replace(meta, `28"`, `28","protocolversion":1,"X":1`, 1) + `}`: 0,
	} {
		got := s.ask(`{"jsonrpc":"2.0","id":"q",` + request + `}`)
		if got["id"] != "q" {
			t.Errorf("%s: id %v", request, got["id"])
		}
		e, _ := got["error"].(map[string]any)
		if have, _ := e["code"].(float64); have != code {
			t.Errorf("%s: %v", request, got)
		}
	}
}

// server 3.5: a progress token is passed on, and progress comes back before the answer, in both kinds of revision.
func TestProgressComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	s.ask(hello)
	for _, m := range []string{`"_meta":{"progressToken":"p"}`, strings.Replace(meta, `{`, `{"progressToken":"p",`, 1)} {
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_tool_with_progress",` + m + `}}`)
		for _, want := range []float64{1, 51, 101} {
			n := s.next()
			if diff := cmp.Diff(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": "p", "progress": want, "total": 101.0}}, n); diff != "" {
				t.Error(diff)
			}
		}
		if a := s.next(); a["id"] != 1.0 || a["result"].(map[string]any)["content"].([]any)[0].(map[string]any)["text"] != "Progressed." {
			t.Errorf("the answer: %v", a)
		}
	}
}

// A stream may hold comments, other fields, data in several lines, and requests, which servers of this revision do not
// send: only notifications and the answer reach the client.
func TestEventsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	stream := ": hello\r\n\r\nid: 1\nretry: 5\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/x\"}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}\n\ndata:not json\n\ndata:{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,\"message\":\"m\"}}\n\ndata: {\"late\":1}\n\n"
	s := serving(t, &recorder{t: t, answer: says(200, "text/event-stream; charset=utf-8", stream)})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + meta + `}}`)
	if n := s.next(); n["method"] != "notifications/x" {
		t.Errorf("%v", n)
	}
	if a := s.next(); a["error"].(map[string]any)["code"] != -5.0 {
		t.Errorf("%v", a)
	}
	if rest, err := s.end(); err != nil || rest != nil {
		t.Errorf("the end: %v, %v", err, rest)
	}
}

// server 3.5: cancellation ends the HTTP call, and the call gets no answer.
func TestCancellationEndsTheCall(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`7`, `"seven"`} {
		for kind, m := range map[string]string{"older": `"_meta":{"progressToken":1}`, "present": strings.Replace(meta, `{`, `{"progressToken":1,`, 1)} {
			t.Run(kind+" "+id, func(t *testing.T) {
				t.Parallel()
				ended := make(chan struct{})
				s := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Mcp-Method") != "tools/call" {
						http.NotFound(w, r)
						return
					}
					product(t, &fixture.Service{}).ServeHTTP(w, r)
					<-r.Context().Done()
					close(ended)
				}))
				s.ask(hello)
				s.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"wait",` + m + `}}`)
				if n := s.next(); n["method"] != "notifications/progress" { // the call is open
					t.Fatalf("%v", n)
				}
				s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
					`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`)
				<-ended
				if p := s.ask(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); p["id"] != 8.0 {
					t.Errorf("the cancelled call was answered: %v", p)
				}
				if rest, err := s.end(); err != nil || rest != nil {
					t.Errorf("the end: %v, %v", err, rest)
				}
			})
		}
	}
}

func TestConcurrentCallsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	const n = 200
	s := serving(t, product(t, &fixture.Service{}))
	go func() {
		for i := range n {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"greet","arguments":{"name":"n%d"}}}`, i, i))
		}
	}()
	got := map[float64]bool{}
	for range n {
		m := s.next()
		id := m["id"].(float64)
		if text := m["result"].(map[string]any)["structuredContent"].(map[string]any)["greeting"]; text != fmt.Sprintf("Hello n%d!", int(id)) || got[id] {
			t.Errorf("call %v: %v", id, text)
		}
		got[id] = true
	}
}
