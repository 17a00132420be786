package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"aion/domain/action"
	"aion/ports"
)

// mcp 96, report 55: the official Go client connects, lists, calls, reads a refusal, sees progress and gives up a call;
// the connection outlives every protocol error that has an id.
func TestOfficialGoClient(t *testing.T) {
	t.Parallel()
	running := make(chan struct{}, 1)
	w := open(t, settings{script: script{"greet": func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
		running <- struct{}{}
		return hold(ctx, e, out)
	}}})
	progress := make(chan float64, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.URL, HTTPClient: w.HTTP, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	call := func(ctx context.Context, tool string, a args) (*sdk.CallToolResult, error) {
		params := &sdk.CallToolParams{Name: tool, Arguments: a}
		params.SetProgressToken("p-" + tool)
		return session.CallTool(ctx, params)
	}
	must := func(tool string, a args) answer {
		t.Helper()
		got, err := call(t.Context(), tool, a)
		if err != nil || got.IsError {
			t.Fatalf("%s: %v %+v", tool, err, got)
		}
		text, err := json.Marshal(got.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		return decode(t, text)
	}
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 13 {
		t.Fatalf("%v, %v", list, err)
	}
	saved := must("save_document", args{"path": "greet.awl", "source": greetDoc})
	must("deploy_document", args{"path": "greet.awl", "content_hash": saved.text("content_hash")})
	for want := range 4 { // the client hands them over in its own time
		if got := <-progress; got != float64(want+1) {
			t.Errorf("progress %v, want %d", got, want+1)
		}
	}
	refused, err := call(t.Context(), "start_run", args{"namespace": "default", "workflow_type": "nothing"})
	if err != nil || !refused.IsError || len(refused.Content) != 2 || !strings.Contains(refused.Content[1].(*sdk.TextContent).Text, "WorkflowTypeNotFound") {
		t.Fatalf("%v %+v", err, refused)
	}
	for what, c := range map[string]struct {
		tool string
		a    args
		code int64
	}{
		"unknown tool": {"start_runs", nil, -32602}, "arguments": {"describe_run", args{"runid": "x"}, -32602},
		"awaited": {"start_run", args{"namespace": "default", "workflow_type": "greet_once", "await_completion": true}, -32021},
	} {
		_, err := call(t.Context(), c.tool, c.a)
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != c.code {
			t.Errorf("%s: %v", what, err)
		}
		must("list_documents", args{})
	}
	run := must("start_run", args{"namespace": "default", "workflow_type": "greet_once", "input": args{"name": "Ada"}})
	<-running
	gone, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, err := call(gone, "describe_run", handle(run)); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	must("cancel", handle(run))
	if d := must("describe_run", handle(run)); d.text("status") != "Cancelled" {
		t.Errorf("%v", d.members)
	}
}
