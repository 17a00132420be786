package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"aion/adapters/mcp/bridge"
	"aion/test/mcp/fixture"
)

func TestWrongMessagesAreRefused(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	for line, want := range map[string]struct {
		code float64
		id   any
	}{
		`x`:                {-32700, nil},
		`{"a":1} {}`:       {-32700, nil},
		"{\"a\":\"\xff\"}": {-32700, nil},
		strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600): {-32700, nil},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:        {-32600, nil},
		`7`: {-32600, nil},
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                          {-32600, 1.0},
		`{"id":1,"method":"ping"}`:                                                                          {-32600, 1.0},
		`{"jsonrpc":"2.0","id":1}`:                                                                          {-32600, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                                               {-32600, 1.0},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                                       {-32600, nil},
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                                        {-32600, nil},
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`:                                                   {-32600, nil},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`:                                              {-32602, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`:                                                    {-32602, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}`:    {-32600, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`:                          {-32602, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                    {-32602, 1.0},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","Name":"x"}}`:               {-32600, 1.0},
		`{"jsonrpc":"2.0","id":1e300,"method":"tools/call","params":{"name":"test_simple_text"}}`:           {-32600, 1e300},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 9) + `"}}`: {-32602, 1.0},
	} {
		got := s.ask(line)
		e, _ := got["error"].(map[string]any)
		if e["code"] != want.code || got["id"] != want.id {
			t.Errorf("%.200s: %v", line, got)
		}
		if _, has := got["id"]; has && want.id == nil {
			t.Errorf("%.200s: id null is sent", line)
		}
	}
	s.send("", "   ", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}`)
	if p := s.ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r"); p["id"] != 2.0 {
		t.Errorf("%v", p)
	}
}

func TestAnIDInUseIsRefused(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}`)
	s.next() // it is open
	if e := s.ask(`{"jsonrpc":"2.0","id":1.0,"method":"tools/list"}`)["error"].(map[string]any); e["code"] != -32600.0 {
		t.Errorf("%v", e)
	}
}

// The number of open calls is bounded: one more is refused at once, and served when another has ended.
func TestOpenCallsAreBounded(t *testing.T) {
	t.Parallel()
	release, arrived := make(chan struct{}), make(chan struct{})
	s := serving(t, &recorder{t: t, answer: func(w http.ResponseWriter, r *http.Request, raw string) {
		arrived <- struct{}{}
		<-release
		says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)(w, r, raw)
	}})
	for i := range 256 {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i))
		<-arrived
	}
	refused := s.ask(`{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"x"}}`)
	if text := fmt.Sprint(refused); refused["id"] != "more" || !strings.Contains(text, "resource_exhausted") {
		t.Errorf("%v", refused)
	}
	close(release)
	for range 256 {
		s.next()
	}
	s.send(`{"jsonrpc":"2.0","id":"again","method":"tools/call","params":{"name":"x"}}`)
	<-arrived
	if a := s.next(); a["result"] == nil {
		t.Errorf("%v", a)
	}
}

func TestLargeMessagesPass(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	s := serving(t, &recorder{t: t, answer: func(w http.ResponseWriter, r *http.Request, raw string) {
		says(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":%d,"back":"%s"}}`, len(raw), strings.Repeat("y", size)))(w, r, raw)
	}})
	go s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"` + strings.Repeat("x", size) + `"}}}`)
	result := s.next()["result"].(map[string]any)
	if result["n"].(float64) < size || len(result["back"].(string)) != size {
		t.Errorf("%v bytes came, %d came back", result["n"], len(result["back"].(string)))
	}
}

// What is too large is refused with its id, wherever that stands in the message; nothing is kept of it.
func TestTooLargeMessagesAreRefused(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	text := strings.Repeat("x", 17<<20)
	for line, id := range map[string]any{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"\"}{\\","arguments":[{"id":1},"` + text + `"]} , "id" : "last\u0021" , "id2":{"id":8}}`: "last!",
		`{"id":{"a":1},"x":"` + text: nil,
	} {
		go s.send(line)
		got := s.next()
		if e := got["error"].(map[string]any); e["code"] != -32600.0 || got["id"] != id {
			t.Errorf("%.60s: %v", line, got)
		}
	}
	if p := s.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); p["id"] != 2.0 {
		t.Errorf("%v", p)
	}
}

func TestATooLargeAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"application/json", "text/event-stream"} {
		s := serving(t, &recorder{t: t, answer: func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", media)
			part := []byte("data: " + strings.Repeat("y", 1<<20))
			for range 34 {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}})
		if text := fmt.Sprint(s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)); !strings.Contains(text, "32 MiB") {
			t.Errorf("%s: %.300s", media, text)
		}
	}
}

// server 3.5: at the end of input open calls are answered, within a bound.
func TestTheEndOfInputWaitsForOpenCalls(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	arrived := make(chan struct{})
	s := serving(t, &recorder{t: t, answer: func(w http.ResponseWriter, r *http.Request, raw string) {
		close(arrived)
		<-release
		says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)(w, r, raw)
	}})
	if _, err := io.WriteString(s.in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`); err != nil { // without a line's end
		t.Fatal(err)
	}
	go func() { _ = s.in.Close() }()
	<-arrived
	close(release)
	if rest, err := s.end(); err != nil || len(rest) != 1 || !strings.Contains(rest[0], `"content":[]`) {
		t.Errorf("%v, %v", err, rest)
	}
}

func TestTheEndOfInputGivesUpWhatHangs(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	r := &recorder{t: t, answer: func(_ http.ResponseWriter, r *http.Request, _ string) {
		close(arrived)
		<-r.Context().Done()
	}}
	server := newServer(t, r)
	o := options(func() string { return server })
	o.Grace = time.Millisecond
	s := open(t, o)
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	<-arrived
	rest, err := s.end()
	if err != nil || len(rest) > 1 || len(rest) == 1 && !strings.Contains(rest[0], "CallGivenUp") {
		t.Errorf("%v, %v", err, rest)
	}
}

func TestAnInterruptEndsTheBridge(t *testing.T) {
	t.Parallel()
	s := serving(t, product(t, &fixture.Service{}))
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}`)
	s.next()
	cause := errors.New("signal")
	s.stop(cause)
	go func() { _, _ = io.Copy(io.Discard, s.out) }()
	if err := <-s.done; !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// A client that is gone, and one that does not read: the bridge ends.
func TestABrokenOutputEndsTheBridge(t *testing.T) {
	t.Parallel()
	b, err := bridge.New(options(func() string { return "http://127.0.0.1:1/mcp" }))
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n") }()
	if err := b.Run(context.Background(), in, broken{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
