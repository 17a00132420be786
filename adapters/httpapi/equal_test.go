package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/mcp/wire"
)

// tool calls a tool of /mcp and gives its structured result.
func (w *world) tool(name, arguments string) map[string]any {
	w.t.Helper()
	client := wire.Client{URL: w.url + "/mcp", HTTP: &http.Client{Transport: w.transport}}
	reply := client.Send(w.t, wire.Tool("1", name, arguments))
	var m struct {
		Result struct {
			StructuredContent map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	d := json.NewDecoder(bytes.NewReader(reply.Messages[0]))
	d.UseNumber()
	if err := d.Decode(&m); err != nil || m.Result.StructuredContent == nil {
		w.t.Fatalf("%s: %v %s", name, err, reply.Messages[0])
	}
	return m.Result.StructuredContent
}

// shared holds that what both surfaces show is equal.
func shared(t *testing.T, what string, http, mcp map[string]any) {
	t.Helper()
	for member, value := range mcp {
		other, shown := http[member]
		if !shown {
			t.Errorf("%s: the API does not show %s", what, member)
		}
		if d := cmp.Diff(value, other); d != "" {
			t.Errorf("%s: %s differs between /mcp and the API: %s", what, member, d)
		}
	}
}

// server 7, report 81
func TestBothSurfacesShowTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown(w)
	w.deploy(gate)
	w.deploy(one)
	open := w.start("gate", `{"n":9007199254740993}`)
	done := w.start("one", `{"n":1}`)
	w.ended(done)
	paused := w.start("gate", `{"n":1}`)
	w.post(paused+"/pause", `{"reason":"audit"}`).ok(200)
	for _, run := range []string{open, done, paused} {
		id := strings.TrimPrefix(run, runsOf+"/")
		address := fmt.Sprintf(`{"namespace":"default","workflow_id":%q}`, id)
		shared(t, "describe", w.get(run).ok(200).object(), w.tool("describe_run", address))
		shared(t, "history", w.get(run+"/history?payloads=cut").ok(200).object(), w.tool("read_history", address))
	}
	listed := w.get(runsOf).ok(200).object()["runs"].([]any)
	for i, row := range w.tool("list_runs", `{"namespace":"default"}`)["runs"].([]any) {
		shared(t, "list", listed[i].(map[string]any), row.(map[string]any))
	}
	id := w.get(done).text("run_id")
	handle := fmt.Sprintf(`{"namespace":"default","workflow_id":%q,"run_id":%q,"activity_id":0,"attempt":1}`, strings.TrimPrefix(done, runsOf+"/"), id)
	shared(t, "transcript", w.get(done+"/transcript?activity_id=0&attempt=1&run_id="+id).ok(200).object(), w.tool("read_transcript", handle))
}
