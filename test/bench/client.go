package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// meta is what every request of revision 2026-07-28 carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// client speaks MCP over connections that are kept open, with as little of its own as possible.
type client struct {
	url  string
	http *http.Client
}

func newClient(url string, connections int) *client {
	return &client{url: url + "/mcp", http: &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// tool calls a tool and gives its structured content; a refusal is an error.
func (c *client) tool(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	args, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, name, args, meta)
	text, err := c.send(ctx, "tools/call", name, body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if answer.Error != nil || answer.Result.IsError {
		return nil, fmt.Errorf("%s is refused: %s", name, text)
	}
	return answer.Result.StructuredContent, nil
}

// send posts one request and gives the body of its answer.
func (c *client) send(ctx context.Context, method, name string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", method)
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")) {
		err = fmt.Errorf("%s %s: status %d, %s: %s", method, name, res.StatusCode, res.Header.Get("Content-Type"), text)
	}
	return text, err
}

// deploy saves and deploys one of the bench's documents.
func (c *client) deploy(ctx context.Context, name string) error {
	answer, err := c.tool(ctx, "save_document", map[string]any{"path": name + ".awl", "source": string(document(name))})
	if err != nil {
		return err
	}
	var saved struct {
		ContentHash string `json:"content_hash"`
	}
	if err := json.Unmarshal(answer, &saved); err != nil {
		return err
	}
	_, err = c.tool(ctx, "deploy_document", map[string]any{"path": name + ".awl", "content_hash": saved.ContentHash})
	return err
}

// start starts a run with `{"n": n}` and gives the id of its workflow.
func (c *client) start(ctx context.Context, workflowType string, n int) (string, error) {
	answer, err := c.tool(ctx, "start_run", map[string]any{"namespace": "default", "workflow_type": workflowType, "input": map[string]any{"n": n}})
	if err != nil {
		return "", err
	}
	var started struct {
		WorkflowID string `json:"workflow_id"`
	}
	err = json.Unmarshal(answer, &started)
	return started.WorkflowID, err
}

// status reads the status of a run.
func (c *client) status(ctx context.Context, id string) (string, error) {
	answer, err := c.tool(ctx, "describe_run", map[string]any{"namespace": "default", "workflow_id": id})
	if err != nil {
		return "", err
	}
	var described struct{ Status string }
	err = json.Unmarshal(answer, &described)
	return described.Status, err
}
