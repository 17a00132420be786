package transport_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"aion/test/mcp/wire"
)

func wantHeaderFault(t *testing.T, what string, reply wire.Reply, header, reason string) {
	t.Helper()
	wantCode(t, what, reply, http.StatusBadRequest, -32020)
	var data struct{ Header, Reason string }
	if m := reply.Last(t); m.Error != nil {
		if err := json.Unmarshal(m.Error.Data, &data); err != nil {
			t.Error(err)
		}
	}
	if data.Header != header || data.Reason != reason {
		t.Errorf("%s: data %+v, want %s %s", what, data, header, reason)
	}
}

// mcp 13, mcp 14
func TestVersionAndMethodHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t)
	wantHeaderFault(t, "no version", s.Send(t, greet().With("MCP-Protocol-Version")), "MCP-Protocol-Version", "missing")
	wantHeaderFault(t, "blank version", s.Send(t, greet().With("MCP-Protocol-Version", " \t")), "MCP-Protocol-Version", "missing")
	wantHeaderFault(t, "version twice", s.Send(t, greet().With("MCP-Protocol-Version", "2026-07-28", "2026-07-28")), "MCP-Protocol-Version", "repeated")
	wantHeaderFault(t, "version with a foreign byte", s.Send(t, greet().With("MCP-Protocol-Version", "2026\xa007-28")), "MCP-Protocol-Version", "malformed")
	wantHeaderFault(t, "no method", s.Send(t, greet().With("Mcp-Method").Wrong()), "Mcp-Method", "missing")
	wantHeaderFault(t, "method twice", s.Send(t, greet().With("Mcp-Method", "tools/call", "tools/call")), "Mcp-Method", "repeated")
	wantHeaderFault(t, "method in capitals", s.Send(t, greet().With("Mcp-Method", "TOOLS/CALL").Wrong()), "Mcp-Method", "mismatch")
	wantHeaderFault(t, "other method", s.Send(t, greet().With("Mcp-Method", "tools/list").Wrong()), "Mcp-Method", "mismatch")
	wantHeaderFault(t, "encoded method", s.Send(t, greet().With("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?=").Wrong()), "Mcp-Method", "mismatch")
	wantServed(t, "spaces", s.Send(t, greet().With("Mcp-Method", " tools/call\t").With("MCP-Protocol-Version", "\t2026-07-28 ").Wrong()))
	r := greet()
	r.Header = http.Header{"content-type": {"application/json"}, "mcp-METHOD": {"tools/call"}, "MCP-NAME": {"greet"}, "mcp-protocol-version": {"2026-07-28"}}
	wantServed(t, "names in any case", s.Send(t, r))
	wantServed(t, "a name where none is needed", s.Send(t, wire.RPC("1", "server/discover", "").With("Mcp-Name", "x", "y\xff")))
}

// mcp 15
func TestNameHeader(t *testing.T) {
	t.Parallel()
	s := serve(t)
	wantHeaderFault(t, "other", s.Send(t, greet().With("Mcp-Name", "panic")), "Mcp-Name", "mismatch")
	wantHeaderFault(t, "other case", s.Send(t, greet().With("Mcp-Name", "Greet")), "Mcp-Name", "mismatch")
	wantHeaderFault(t, "missing", s.Send(t, greet().With("Mcp-Name")), "Mcp-Name", "missing")
	wantHeaderFault(t, "empty", s.Send(t, greet().With("Mcp-Name", "")), "Mcp-Name", "missing")
	wantHeaderFault(t, "twice", s.Send(t, greet().With("Mcp-Name", "greet", "greet")), "Mcp-Name", "repeated")
	wantHeaderFault(t, "foreign byte", s.Send(t, greet().With("Mcp-Name", "gr\xc3\xa4et")), "Mcp-Name", "malformed")
	wantServed(t, "spaces", s.Send(t, greet().With("Mcp-Name", "  greet\t ")))
	if s.reached() != 1 {
		t.Errorf("%d calls reached a tool, want 1", s.reached())
	}
}

// mcp 16
func TestNameInBase64(t *testing.T) {
	t.Parallel()
	s := serve(t)
	encoded := func(name string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?=" }
	wantServed(t, "right name", s.Send(t, greet().With("Mcp-Name", encoded("greet"))))
	wantHeaderFault(t, "other name", s.Send(t, greet().With("Mcp-Name", encoded("panic"))), "Mcp-Name", "mismatch")
	wantHeaderFault(t, "encoded twice", s.Send(t, greet().With("Mcp-Name", encoded(encoded("greet")))), "Mcp-Name", "mismatch")
	wantHeaderFault(t, "spaces inside", s.Send(t, greet().With("Mcp-Name", encoded(" greet"))), "Mcp-Name", "mismatch")
	wantHeaderFault(t, "empty inside", s.Send(t, greet().With("Mcp-Name", "=?base64??=")), "Mcp-Name", "mismatch")
	for what, sent := range map[string]string{
		"no padding": "=?base64?Z3JlZXQ?=", "bad character": "=?base64?Z3J*ZXQ=?=", "URL alphabet": "=?base64?8J-Yig==?=",
		"space": "=?base64?Z3Jl ZXQ=?=", "tab": "=?base64?Z3Jl\tZXQ=?=", "invalid UTF-8": "=?base64?/w==?=",
	} {
		wantHeaderFault(t, what, s.Send(t, greet().With("Mcp-Name", sent)), "Mcp-Name", "malformed")
	}
	for what, sent := range map[string]string{"capitals": "=?BASE64?Z3JlZXQ=?=", "too short": "=?base64?=", "no end": "=?base64?Z3JlZXQ="} {
		wantHeaderFault(t, what, s.Send(t, greet().With("Mcp-Name", sent)), "Mcp-Name", "mismatch")
	}
}

func task(method, id, meta string) wire.Request {
	return wire.Raw("1", method, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"taskId":"`+id+`","inputResponses":{},`+meta+`}}`).With("Mcp-Name", id)
}

// mcp 17, mcp 70
func TestTaskNameIsCheckedBeforeTheCapability(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		wantHeaderFault(t, method, s.Send(t, task(method, "task-1", wire.Meta).With("Mcp-Name", "task-2")), "Mcp-Name", "mismatch")
		wantHeaderFault(t, method, s.Send(t, task(method, "task-1", wire.MetaTasks).With("Mcp-Name", "task-2")), "Mcp-Name", "mismatch")
		wantCode(t, "empty id", s.Send(t, task(method, "", wire.Meta)), http.StatusBadRequest, -32602)
		wantCode(t, "undeclared", s.Send(t, task(method, "task-1", wire.Meta)), http.StatusBadRequest, -32021)
		wantCode(t, "declared", s.Send(t, task(method, "task-1", wire.MetaTasks)), http.StatusBadRequest, -32602)
	}
}

// mcp 18, mcp 19, report 64
func TestVersions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	wantHeaderFault(t, "header differs", s.Send(t, greet().With("MCP-Protocol-Version", "2025-06-18")), "MCP-Protocol-Version", "mismatch")
	wantHeaderFault(t, "both unknown", s.Send(t, greet().Replace("2026-07-28", "v1").With("MCP-Protocol-Version", "v2")), "MCP-Protocol-Version", "mismatch")
	for _, version := range []string{"2025-06-18", "v999.0.0", "2026-07-28x"} {
		reply := s.Send(t, greet().Replace("2026-07-28", version).With("MCP-Protocol-Version", version))
		wantCode(t, version, reply, http.StatusBadRequest, -32022)
		wantVersions(t, reply, version)
	}
}

func wantVersions(t *testing.T, reply wire.Reply, requested string) {
	t.Helper()
	var data struct {
		Requested string
		Supported []string
	}
	if err := json.Unmarshal(reply.Last(t).Error.Data, &data); err != nil || data.Requested != requested || len(data.Supported) != 1 || data.Supported[0] != "2026-07-28" {
		t.Errorf("%s: %v %s", requested, err, reply.Body)
	}
}
