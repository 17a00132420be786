package wire_test

import (
	"testing"

	"aion/test/mcp/wire"
)

// A validator that accepts everything would prove nothing.
func TestTasksSchemaRefusesBrokenAnswers(t *testing.T) { // mcp 77
	t.Parallel()
	tasks := wire.Tasks(t)
	if tasks == nil {
		t.Skip("AION_MCP_SCHEMAS is not set: answers are not held against the official schemas here")
	}
	const times = `"createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:00Z"`
	for _, c := range []struct{ definition, good, bad string }{
		{"CreateTaskResult", `{"resultType":"task","taskId":"x","status":"working",` + times + `,"ttlMs":null}`, `{"resultType":"complete","taskId":"x","status":"working",` + times + `,"ttlMs":null}`},
		{"CreateTaskResult", `{"resultType":"task","taskId":"x","status":"working",` + times + `,"ttlMs":7}`, `{"resultType":"task","taskId":"x","status":"working",` + times + `,"ttlMs":7.5}`},
		{"GetTaskResult", `{"resultType":"complete","taskId":"x","status":"completed",` + times + `,"ttlMs":7,"result":{}}`, `{"resultType":"complete","taskId":"x","status":"completed",` + times + `,"ttlMs":7}`},
		{"CancelTaskResult", `{"resultType":"complete"}`, `{}`},
		{"UpdateTaskResult", `{"resultType":"complete"}`, `{"resultType":"task"}`},
		{"GetTaskRequest", string(wire.TaskMethod("tasks/get", "x", "").Body), string(wire.RPC("1", "tasks/get", "").Body)},
	} {
		schema, err := tasks.Definition(c.definition)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate([]byte(c.good)); err != nil {
			t.Errorf("%s refuses %s: %v", c.definition, c.good, err)
		}
		if schema.Validate([]byte(c.bad)) == nil {
			t.Errorf("%s admits %s", c.definition, c.bad)
		}
	}
}

func TestOfficialSchemaRefusesBrokenAnswers(t *testing.T) {
	t.Parallel()
	core := wire.Core(t)
	if core == nil {
		t.Skip("AION_MCP_SCHEMAS is not set: answers are not held against the official schemas here")
	}
	for _, c := range []struct{ definition, good, bad string }{
		{"JSONRPCErrorResponse", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`},
		{"JSONRPCErrorResponse", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`},
		{"CallToolResult", `{"resultType":"complete","content":[]}`, `{"content":[]}`},
		{"CallToolResult", `{"resultType":"complete","content":[{"type":"text","text":"x"}]}`, `{"resultType":"complete","content":[{"type":"text"}]}`},
		{"ListToolsResult", `{"resultType":"complete","tools":[],"ttlMs":1,"cacheScope":"private"}`, `{"resultType":"complete","tools":[],"ttlMs":1.5,"cacheScope":"private"}`},
		{"HeaderMismatchError", `{"jsonrpc":"2.0","error":{"code":-32020,"message":"x"}}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`},
		{"ProgressNotification", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`},
		{"Tool", `{"name":"x","inputSchema":{"type":"object"}}`, `{"name":"x","inputSchema":{"type":"array"}}`},
		{"CallToolRequest", string(wire.Tool("1", "x", "{}").Body), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`},
	} {
		schema, err := core.Definition(c.definition)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate([]byte(c.good)); err != nil {
			t.Errorf("%s refuses %s: %v", c.definition, c.good, err)
		}
		if schema.Validate([]byte(c.bad)) == nil {
			t.Errorf("%s admits %s", c.definition, c.bad)
		}
	}
}
