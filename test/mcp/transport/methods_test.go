package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"aion/test/mcp/wire"
)

// mcp 20
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const version, capabilities = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	for what, meta := range map[string]string{
		"no metadata":                  `"x":1`,
		"metadata no object":           `"_meta":[]`,
		"no version":                   `"_meta":{` + capabilities + `}`,
		"version a number":             `"_meta":{"io.modelcontextprotocol/protocolVersion":1,` + capabilities + `}`,
		"no capabilities":              `"_meta":{` + version + `}`,
		"capabilities no object":       `"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}`,
		"capabilities null":            `"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":null}`,
		"progress token an object":     `"_meta":{` + version + `,` + capabilities + `,"progressToken":{}}`,
		"progress token a fraction":    `"_meta":{` + version + `,` + capabilities + `,"progressToken":1.5}`,
		"progress token null":          `"_meta":{` + version + `,` + capabilities + `,"progressToken":null}`,
		"neither version nor anything": `"_meta":{}`,
	} {
		reply := s.Send(t, greet().Replace(wire.Meta, meta).Wrong())
		wantCode(t, what, reply, http.StatusBadRequest, -32602)
		message := reply.Last(t).Error.Message
		if strings.Contains(what, "version") && !strings.Contains(message, "protocolVersion") || strings.Contains(what, "capabilities") && !strings.Contains(message, "clientCapabilities") {
			t.Errorf("%s: the message does not name the key: %s", what, message)
		}
	}
	for what, extra := range map[string]string{
		"client info": `"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}`, "odd client info": `"io.modelcontextprotocol/clientInfo":7`,
		"log level": `"io.modelcontextprotocol/logLevel":"debug"`, "trace": `"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`,
		"bad trace": `"traceparent":"x"`, "unknown": `"example.test/x":[]`, "progress token": `"progressToken":"p"`,
	} {
		wantServed(t, what, s.Send(t, greet().Replace(`"_meta":{`, `"_meta":{`+extra+`,`).Wrong()))
	}
}

// mcp 21: each step of mcp 1.6 against its neighbour; a request that violates both gets the earlier answer.
func TestFirstFailedCheckDecides(t *testing.T) {
	t.Parallel()
	s := serve(t)
	foreign := func(r wire.Request) wire.Request { return r.With("Origin", "https://evil.example") }
	method := func(r wire.Request) wire.Request { r.Method = http.MethodGet; return r }
	stranger := func(r wire.Request) wire.Request { return r.With("Authorization", "Bearer aion_as_x") }
	text := func(r wire.Request) wire.Request { return r.With("Content-Type", "text/plain") }
	truncated := func(r wire.Request) wire.Request { r.Body = r.Body[:len(r.Body)-1]; return r }
	noVersionHeader := func(r wire.Request) wire.Request { return r.With("MCP-Protocol-Version") }
	noMeta := func(r wire.Request) wire.Request { return r.Replace(wire.Meta, `"x":1`) }
	otherVersion := func(r wire.Request) wire.Request { return r.With("MCP-Protocol-Version", "2025-06-18") }
	oldVersion := func(r wire.Request) wire.Request { return otherVersion(r.Replace("2026-07-28", "2025-06-18")) }
	noCapabilities := func(r wire.Request) wire.Request {
		return r.Replace("clientCapabilities\":{}", "clientCapabilities\":1")
	}
	otherName := func(r wire.Request) wire.Request { return r.With("Mcp-Name", "other") }
	unknownTool := func(r wire.Request) wire.Request { return r.Replace(`"greet"`, `"greeet"`).With("Mcp-Name", "greeet") }
	badArguments := func(r wire.Request) wire.Request { return r.Replace(`"Ada"`, `1`) }
	awaited := func(r wire.Request) wire.Request { return r.Replace(`"Ada"`, `"Ada","later":true`) }
	call := greet().Wrong()
	unknown := wire.RPC("7", "unknown/method", "").Wrong()
	initialize := wire.Raw("7", "other", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`).Wrong()
	emptyTask := task("tasks/get", "", wire.Meta).Wrong()
	emptyTask.ID = "1"
	for what, c := range map[string]struct {
		request      wire.Request
		status, code int
		noID         bool
	}{
		"1 before 2":   {method(foreign(call)), 403, -32600, true},
		"2 before 3":   {method(stranger(call)), 405, -32600, true},
		"3 before 4":   {text(stranger(call)), 401, 0, true},
		"4 before 5":   {text(truncated(call)), 415, -32600, true},
		"5 before 6":   {truncated(initialize), 400, -32700, true},
		"6 before 7":   {noVersionHeader(initialize), 400, -32022, false},
		"7 before 8":   {noVersionHeader(noMeta(call)), 400, -32020, false},
		"8 before 9":   {otherVersion(noCapabilities(call)), 400, -32602, false},
		"9 before 10":  {otherVersion(call.Replace("2026-07-28", "v1")), 400, -32020, false},
		"10 before 11": {oldVersion(unknown), 400, -32022, false},
		"11 before 12": {unknown.Replace(`"params":{`, `"params":{"name":1,`).With("Mcp-Name", "x"), 404, -32601, false},
		"12 before 13": {emptyTask.With("Mcp-Name", "other"), 400, -32602, false},
		"12 name":      {otherName(unknownTool(call)), 400, -32020, false},
		"14 tool":      {badArguments(unknownTool(call)), 400, -32602, false},
		"14 arguments": {badArguments(call).Replace(`"arguments":{`, `"arguments":{"later":true,`), 400, -32602, false},
		"14 before 15": {awaited(call), 400, -32021, false},
	} {
		r := c.request
		if c.noID {
			r.ID = ""
		}
		wantCode(t, what, s.Send(t, r), c.status, c.code)
	}
	if s.reached() != 0 {
		t.Error("a wrong request reached a tool")
	}
}

// mcp 22, report 64
func TestInitialize(t *testing.T) {
	t.Parallel()
	s := serve(t)
	wantCode(t, "modern", s.Send(t, wire.RPC("1", "initialize", `"protocolVersion":"2026-07-28"`)), http.StatusNotFound, -32601)
	for _, old := range []wire.Request{
		wire.Raw("0", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`).With("MCP-Protocol-Version"),
		wire.Raw("0", "initialize", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","_meta":{"progressToken":1}}}`),
	} {
		reply := s.Send(t, old)
		wantCode(t, "legacy", reply, http.StatusBadRequest, -32022)
		wantVersions(t, reply, "2025-11-25")
		if message := reply.Last(t).Error.Message; !strings.Contains(message, "2026-07-28") || !strings.Contains(message, "handshake") {
			t.Errorf("an old client's user reads: %s", message)
		}
	}
	reply := s.Send(t, wire.Raw("0", "initialize", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`))
	wantCode(t, "without parameters", reply, http.StatusBadRequest, -32022)
	wantVersions(t, reply, "")
}

// mcp 23
func TestOtherMethodsDoNotExist(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, method := range []string{
		"subscriptions/listen", "tasks/list", "tasks/result", "ping", "logging/setLevel", "resources/subscribe", "resources/list", "prompts/list",
		"completion/complete", "roots/list", "sampling/createMessage", "unknown/method", "Tools/list", "tools/call ", "x",
	} {
		r := wire.RPC("1", method, "")
		if strings.TrimSpace(method) != method {
			continue // no header can hold it
		}
		reply := s.Send(t, r)
		wantCode(t, method, reply, http.StatusNotFound, -32601)
		if data := string(reply.Last(t).Error.Data); data != `{"method":"`+method+`"}` {
			t.Errorf("%s: data %s", method, data)
		}
	}
}

// mcp 37
func TestCallParameters(t *testing.T) {
	t.Parallel()
	s := serve(t)
	reply := s.Send(t, wire.Tool("1", "greeet", `{}`))
	wantCode(t, "unknown tool", reply, http.StatusBadRequest, -32602)
	if message := reply.Last(t).Error.Message; !strings.Contains(message, "did you mean `greet`?") {
		t.Errorf("no hint: %s", message)
	}
	for what, params := range map[string]string{
		"arguments null": `"name":"greet","arguments":null`, "arguments array": `"name":"greet","arguments":[]`, "arguments text": `"name":"greet","arguments":"{}"`,
		"no name": `"arguments":{}`, "name a number": `"name":1`, "name empty": `"name":""`, "name null": `"name":null`,
	} {
		wantCode(t, what, s.Send(t, wire.RPC("1", "tools/call", params).With("Mcp-Name", "greet").Wrong()), http.StatusBadRequest, -32602)
	}
	for what, params := range map[string]string{
		"no arguments": `"name":"test_simple_text"`, "task": `"name":"test_simple_text","task":{"ttl":1}`,
		"input responses": `"name":"test_simple_text","inputResponses":{},"requestState":"x","other":1`,
	} {
		wantServed(t, what, s.Send(t, wire.RPC("1", "tools/call", params).With("Mcp-Name", "test_simple_text").Wrong()))
	}
}

// mcp 53: arguments are held against the schema before the tool is reached.
func TestArgumentsThatDoNotFitNameThePlace(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for arguments, want := range map[string][2]string{
		`{"name":"Ada","run_id":"not-a-uuid"}`:                                {"/arguments/run_id", "UUID"},
		`{"name":"Ada","runid":"0198abcd-1234-7abc-8def-0123456789ab"}`:       {"/arguments/runid", "did you mean `run_id`?"},
		`{"name":"Ada","times":0}`:                                            {"/arguments/times", "at least 1"},
		`{"name":"Ada","times":6}`:                                            {"/arguments/times", "at most 5"},
		`{"name":"Ada","times":1.5}`:                                          {"/arguments/times", "integer"},
		`{"name":null}`:                                                       {"/arguments/name", "string"},
		`{"name":""}`:                                                         {"/arguments/name", "at least 1 characters"},
		`{"name":"` + strings.Repeat("ä", 51) + `"}`:                          {"/arguments/name", "at most 50 characters"},
		`{"name":"Ada","later":"true"}`:                                       {"/arguments/later", "boolean"},
		`{"` + strings.Repeat("x", 5000) + `":1}`:                             {"/arguments/" + strings.Repeat("x", 200) + "…", "unknown argument"},
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`: {"/arguments/a", "unknown argument `a`"},
	} {
		reply := s.Send(t, wire.Tool("1", "greet", arguments))
		wantCode(t, arguments, reply, http.StatusBadRequest, -32602)
		found := decodeErrors(t, reply)
		if len(found) == 0 || len(found) > 10 || found[0].Path != want[0] || !strings.Contains(found[0].Message, want[1]) || !strings.Contains(reply.Last(t).Error.Message, want[1]) {
			t.Errorf("%.100s: %s", arguments, reply.Body)
		}
	}
	wantServed(t, "3.0 is an integer, lengths count code points", s.Send(t, wire.Tool("1", "greet", `{"name":"`+strings.Repeat("ä", 50)+`","times":3.0}`)))
	if s.reached() != 1 {
		t.Errorf("%d calls reached the tool", s.reached())
	}
}
