package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Meta is the metadata of a well-formed request.
const Meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// MetaTasks declares the tasks extension as well.
const MetaTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// Request is one HTTP request. ID is the token that the answer must carry; empty when it must carry none.
type Request struct {
	Method string
	Header http.Header
	Body   []byte
	ID     string
	Host   string
	Bad    bool // the request breaks the protocol on purpose, so it is not held against the schemas
}

// RPC is a well-formed request: id and params are JSON, without the metadata.
func RPC(id, method, params string) Request {
	if params != "" {
		params += ","
	}
	return Raw(id, method, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, params, Meta))
}

// Raw is a request with the headers of a method and any body.
func Raw(id, method, body string) Request {
	r := Request{Method: http.MethodPost, ID: id, Body: []byte(body), Header: http.Header{}}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	if method != "" {
		r.Header.Set("Mcp-Method", method)
	}
	return r
}

// Tool is a well-formed tools/call.
func Tool(id, name, arguments string) Request {
	r := RPC(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments))
	r.Header.Set("Mcp-Name", name)
	return r
}

// WithTasks declares the tasks extension.
func (r Request) WithTasks() Request { return r.Replace(Meta, MetaTasks) }

// TaskMethod is a well-formed request of a task method; further is more JSON members of params, or empty.
func TaskMethod(method, id, further string) Request {
	if further != "" {
		further = "," + further
	}
	return RPC("1", method, fmt.Sprintf(`"taskId":%q%s`, id, further)).WithTasks().With("Mcp-Name", id)
}

// With sets a header; no value removes it, several repeat it.
func (r Request) With(name string, values ...string) Request {
	r.Header = r.Header.Clone()
	if len(values) == 0 {
		r.Header.Del(name)
	} else {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return r
}

// Replace changes the body.
func (r Request) Replace(old, by string) Request {
	r.Body = bytes.Replace(r.Body, []byte(old), []byte(by), 1)
	return r
}

// Wrong marks the request as one that breaks the protocol on purpose.
func (r Request) Wrong() Request {
	r.Bad = true
	return r
}

// Reply is an answer: its messages are the one JSON body, or the data lines of a stream.
type Reply struct {
	Status   int
	Header   http.Header
	Body     []byte
	Messages []json.RawMessage
}

// Message is an answer of JSON-RPC.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		Progress      float64         `json:"progress"`
		Total         float64         `json:"total"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Error is an error of JSON-RPC.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Client sends requests to one endpoint. Output gives the output schema of a tool; nil: results are not held against one.
type Client struct {
	URL    string
	HTTP   *http.Client
	Output func(tool string) *Schema
}

// Send sends a request and holds the answer against the protocol.
func (c *Client) Send(tb testing.TB, r Request) Reply {
	tb.Helper()
	reply := c.Exchange(tb, r)
	if len(reply.Messages) == 0 {
		return reply
	}
	method := r.Header.Get("Mcp-Method")
	for _, text := range reply.Messages[:len(reply.Messages)-1] {
		Conforms(tb, "ProgressNotification", text)
	}
	c.conforms(tb, r, method, reply.Messages[len(reply.Messages)-1])
	return reply
}

// Exchange sends a request and reads the answer.
func (c *Client) Exchange(tb testing.TB, r Request) Reply {
	tb.Helper()
	if !r.Bad {
		requestConforms(tb, r)
	}
	req, err := http.NewRequestWithContext(tb.Context(), r.Method, c.URL, bytes.NewReader(r.Body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header = r.Header
	if r.Header.Values("Content-Length") != nil { // an unknown length is sent in chunks
		req.ContentLength = -1
		req.Header.Del("Content-Length")
	}
	if r.Host != "" {
		req.Host = r.Host
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return read(tb, res, body)
}

func read(tb testing.TB, res *http.Response, body []byte) Reply {
	tb.Helper()
	reply := Reply{Status: res.StatusCode, Header: res.Header, Body: body}
	for _, name := range []string{"Mcp-Session-Id", "Last-Event-Id", "Access-Control-Allow-Credentials", "Server"} {
		if res.Header.Get(name) != "" {
			tb.Errorf("the answer has the header %s", name)
		}
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case media == "application/json" && len(body) > 0:
		reply.Messages = []json.RawMessage{body}
	case media == "text/event-stream":
		reply.Messages = events(tb, string(body))
	}
	return reply
}

// events reads a stream strictly: comment lines, and events of exactly the two lines that the protocol sends.
func events(tb testing.TB, text string) []json.RawMessage {
	tb.Helper()
	var messages []json.RawMessage
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) == 1 && strings.HasPrefix(lines[0], ":") {
			continue
		}
		data, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
		if len(lines) != 2 || lines[0] != "event: message" || !ok {
			tb.Errorf("no event of the protocol: %q", block)
			continue
		}
		messages = append(messages, json.RawMessage(data))
	}
	return messages
}

func requestConforms(tb testing.TB, r Request) {
	tb.Helper()
	definitions := map[string]string{"server/discover": "DiscoverRequest", "tools/list": "ListToolsRequest", "tools/call": "CallToolRequest"}
	if definition, known := definitions[r.Header.Get("Mcp-Method")]; known && r.Method == http.MethodPost {
		Conforms(tb, definition, r.Body)
	}
	definitions = map[string]string{"tasks/get": "GetTaskRequest", "tasks/update": "UpdateTaskRequest", "tasks/cancel": "CancelTaskRequest"}
	if definition, known := definitions[r.Header.Get("Mcp-Method")]; known && r.Method == http.MethodPost {
		ConformsTask(tb, definition, r.Body)
	}
}

func (c *Client) conforms(tb testing.TB, r Request, method string, text []byte) {
	tb.Helper()
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		tb.Errorf("%v: %s", err, text)
		return
	}
	if string(m.ID) != r.ID {
		tb.Errorf("the answer has the id %q, want %q\n%.500s", m.ID, r.ID, text)
	}
	if m.Error != nil {
		Conforms(tb, "JSONRPCErrorResponse", text)
		switch m.Error.Code {
		case -32020:
			Conforms(tb, "HeaderMismatchError", text)
		case -32022:
			Conforms(tb, "UnsupportedProtocolVersionError", text)
		}
		return
	}
	switch method {
	case "server/discover":
		Conforms(tb, "DiscoverResultResponse", text)
	case "tools/list":
		Conforms(tb, "ListToolsResultResponse", text)
	case "tasks/get":
		ConformsTask(tb, "GetTaskResult", m.Result)
		c.settled(tb, m.Result)
	case "tasks/update":
		ConformsTask(tb, "UpdateTaskResult", m.Result)
	case "tasks/cancel":
		ConformsTask(tb, "CancelTaskResult", m.Result)
	case "tools/call":
		if isTask(m.Result) {
			ConformsTask(tb, "CreateTaskResult", m.Result)
			return
		}
		Conforms(tb, "CallToolResultResponse", text)
		Conforms(tb, "CallToolResult", m.Result)
		c.structured(tb, r, m.Result)
	}
}

func isTask(result []byte) bool {
	var got struct{ ResultType string }
	return json.Unmarshal(result, &got) == nil && got.ResultType == "task"
}

// settled holds the result of a completed task against the core schema.
func (c *Client) settled(tb testing.TB, task []byte) {
	tb.Helper()
	var got Task
	if err := json.Unmarshal(task, &got); err != nil {
		tb.Error(err)
		return
	}
	if (got.Status == "completed") != (got.Result != nil) || (got.Status == "failed") != (got.Error != nil) {
		tb.Errorf("a task that is %s: %.1000s", got.Status, task)
	}
	if got.Result != nil {
		Conforms(tb, "CallToolResult", got.Result)
	}
}

// Task is the answer of tasks/get, and of a call that became a task.
type Task struct {
	ResultType     string          `json:"resultType"`
	ID             string          `json:"taskId"`
	Status         string          `json:"status"`
	StatusMessage  string          `json:"statusMessage"`
	CreatedAt      time.Time       `json:"createdAt"`
	LastUpdatedAt  time.Time       `json:"lastUpdatedAt"`
	TTLMs          *int64          `json:"ttlMs"`
	PollIntervalMs int64           `json:"pollIntervalMs"`
	Result         json.RawMessage `json:"result"`
	Error          *Error          `json:"error"`
}

// Task is the task of a reply.
func (r Reply) Task(tb testing.TB) Task {
	tb.Helper()
	m := r.Last(tb)
	if m.Error != nil {
		tb.Fatalf("protocol error %d: %s", m.Error.Code, m.Error.Message)
	}
	var got Task
	if err := json.Unmarshal(m.Result, &got); err != nil {
		tb.Fatal(err)
	}
	if got.ID == "" {
		tb.Fatalf("no task: %.500s", m.Result)
	}
	return got
}

// structured holds a success against its tool's output schema and its text copy (mcp 35).
func (c *Client) structured(tb testing.TB, r Request, result []byte) {
	tb.Helper()
	var got Result
	if err := json.Unmarshal(result, &got); err != nil {
		tb.Error(err)
		return
	}
	if got.IsError || c.Output == nil {
		return
	}
	var call struct {
		Params struct{ Name string }
	}
	if err := json.Unmarshal(r.Body, &call); err != nil {
		tb.Error(err)
		return
	}
	if schema := c.Output(call.Params.Name); schema != nil {
		if err := schema.Validate(got.Structured); err != nil {
			tb.Errorf("%s: %v\n%.2000s", call.Params.Name, err, got.Structured)
		}
		if len(got.Content) != 1 || got.Content[0].Text != string(got.Structured) {
			tb.Errorf("%s: the text is not the structured content: %.1000s", call.Params.Name, result)
		}
	}
}

// Result is the result of a tool call.
type Result struct {
	ResultType string          `json:"resultType"`
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Meta map[string]json.RawMessage `json:"_meta"`
}

// Last is the last message of a reply.
func (r Reply) Last(tb testing.TB) Message {
	tb.Helper()
	if len(r.Messages) == 0 {
		tb.Fatalf("status %d without a message: %.500s", r.Status, r.Body)
	}
	var m Message
	if err := json.Unmarshal(r.Messages[len(r.Messages)-1], &m); err != nil {
		tb.Fatal(err)
	}
	return m
}

// Code is the JSON-RPC error code of a reply; 0 for a result or no message.
func (r Reply) Code(tb testing.TB) int {
	tb.Helper()
	if len(r.Messages) == 0 {
		return 0
	}
	if m := r.Last(tb); m.Error != nil {
		return m.Error.Code
	}
	return 0
}

// Result is the tool result of a reply.
func (r Reply) Result(tb testing.TB) Result {
	tb.Helper()
	m := r.Last(tb)
	if m.Error != nil {
		tb.Fatalf("protocol error %d: %s", m.Error.Code, m.Error.Message)
	}
	var got Result
	if err := json.Unmarshal(m.Result, &got); err != nil {
		tb.Fatal(err)
	}
	return got
}

// Refusal is the second block of a refused call.
type Refusal struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	ErrorType string `json:"error_type"`
}

// Refusal is the refusal of a tool call, held against the form that all refusals have.
func (r Reply) Refusal(tb testing.TB) Refusal {
	tb.Helper()
	got := r.Result(tb)
	if !got.IsError || got.Structured != nil || len(got.Content) != 2 || r.Status != http.StatusOK {
		tb.Fatalf("no refusal with two blocks: status %d, %.500s", r.Status, r.Body)
	}
	var refusal Refusal
	if err := json.Unmarshal([]byte(got.Content[1].Text), &refusal); err != nil {
		tb.Fatal(err)
	}
	if refusal.Message != got.Content[0].Text || !strings.HasPrefix(got.Content[1].Text, `{"code":`) {
		tb.Errorf("the two blocks differ: %+v", got.Content)
	}
	return refusal
}
