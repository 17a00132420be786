package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"aion/test/mcp/wire"
)

func decodeErrors(t *testing.T, reply wire.Reply) []struct{ Path, Message string } {
	t.Helper()
	var data struct {
		Errors []struct{ Path, Message string }
	}
	if err := json.Unmarshal(reply.Last(t).Error.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data.Errors
}

// mcp 24
func TestAnswersAreNeverStored(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for what, r := range map[string]wire.Request{
		"result": greet(), "error": wire.RPC("1", "ping", ""), "discover": wire.RPC("1", "server/discover", ""),
		"stream": greet().With("Accept", "text/event-stream"), "error for a stream": wire.RPC("1", "ping", "").With("Accept", "text/event-stream"),
	} {
		reply := s.Send(t, r)
		if reply.Header.Get("Cache-Control") != "no-store" || reply.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", what, reply.Header)
		}
		stream := reply.Header.Get("Content-Type") == "text/event-stream"
		if stream != (what == "stream") || stream != (reply.Header.Get("X-Accel-Buffering") == "no") {
			t.Errorf("%s: headers %v", what, reply.Header)
		}
	}
}

// mcp 25 (over the fixture; the product's own tool is shown with the product's catalogue)
func TestProgressComesOverAStream(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, token := range []string{`"p"`, `0`, `7`} {
		r := wire.Tool("1", "test_tool_with_progress", `{}`).Replace(`"_meta":{`, `"_meta":{"progressToken":`+token+`,`)
		reply := s.Send(t, r)
		if reply.Header.Get("Content-Type") != "text/event-stream" || len(reply.Messages) != 4 {
			t.Fatalf("%s: %v\n%s", token, reply.Header, reply.Body)
		}
		last := 0.0
		for _, text := range reply.Messages[:3] {
			var m wire.Message
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if string(m.Params.ProgressToken) != token || m.Params.Progress <= last || m.Params.Total != 101 {
				t.Errorf("progress %s", text)
			}
			last = m.Params.Progress
		}
		if got := reply.Result(t); got.IsError || got.Content[0].Text != "Progressed." {
			t.Errorf("%+v", got)
		}
	}
	for what, r := range map[string]wire.Request{
		"no token":     wire.Tool("1", "test_tool_with_progress", `{}`),
		"only JSON":    wire.Tool("1", "test_tool_with_progress", `{}`).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`).With("Accept", "application/json"),
		"any type":     wire.Tool("1", "test_tool_with_progress", `{}`).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`).With("Accept", "*/*"),
		"another tool": greet().Replace(`"_meta":{`, `"_meta":{"progressToken":1,`), // mcp 26
	} {
		if reply := s.Send(t, r); reply.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", what, reply.Header)
		}
	}
}

// mcp 27: the tool's context ends when its client leaves, during a stream and during a plain answer.
func TestClientThatLeavesEndsItsCall(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"application/json", "application/json, text/event-stream"} {
		entered, ended := make(chan struct{}, 1), make(chan struct{}, 1)
		s := serveWith(t, func(ctx context.Context) {
			entered <- struct{}{}
			context.AfterFunc(ctx, func() { ended <- struct{}{} })
		})
		r := wire.Tool("1", "wait", `{}`).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`).With("Accept", accept)
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.Header
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			res, err := s.server.Client().Do(req)
			if err != nil {
				return
			}
			defer func() { _ = res.Body.Close() }()
			if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "event: ") {
				t.Errorf("first line %q, %v", line, err)
			}
		}()
		<-entered
		if strings.Contains(accept, "stream") {
			<-answered // the progress is there before the end of the call
		}
		leave()
		<-answered
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: the call outlives its client", accept)
		}
		s.server.Close() // waits for the handler
	}
}

// mcp 28
func TestDefectIsAnInternalErrorWithAReference(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, tool := range []string{"panic", "unencodable"} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			reply := s.Send(t, wire.Tool("1", tool, `{}`).With("Accept", accept).With("X-Request-Id", "abc"))
			wantCode(t, tool, reply, http.StatusInternalServerError, -32603)
			if data := string(reply.Last(t).Error.Data); data != `{"reference":"abc"}` {
				t.Errorf("%s: data %s", tool, data)
			}
		}
		wantServed(t, "the next request", s.Send(t, greet()))
	}
	reply := s.Send(t, wire.Tool("1", "defect", `{}`).With("X-Request-Id", "abc"))
	if refusal := reply.Refusal(t); refusal.Code != "backend" || refusal.ErrorType != "Internal" || !strings.Contains(refusal.Message, "abc") ||
		strings.Contains(string(reply.Body), "secret") {
		t.Errorf("an error that is no refusal became %+v", refusal)
	}
}

// Refusals are results with two blocks.
func TestRefusalIsAResult(t *testing.T) {
	t.Parallel()
	s := serve(t)
	reply := s.Send(t, wire.Tool("1", "test_error_handling", `{}`))
	if refusal := reply.Refusal(t); refusal.Code != "invalid_state" || refusal.ErrorType != "Intended" {
		t.Errorf("%+v", refusal)
	}
}

// mcp 36
func TestServerInfoIsInEveryResult(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for what, r := range map[string]wire.Request{
		"discover": wire.RPC("1", "server/discover", ""), "list": wire.RPC("1", "tools/list", ""), "call": greet(), "refusal": wire.Tool("1", "test_error_handling", `{}`),
	} {
		var got wire.Result
		if err := json.Unmarshal(s.Send(t, r).Last(t).Result, &got); err != nil {
			t.Fatal(err)
		}
		if info := string(got.Meta["io.modelcontextprotocol/serverInfo"]); info != `{"name":"fixture","title":"fixture of the transport","version":"1"}` || got.ResultType != "complete" {
			t.Errorf("%s: %s %s", what, got.ResultType, info)
		}
	}
}
