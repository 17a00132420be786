// Command peers serves one trivial MCP tool with another implementation of the protocol, for the bench to hold aion
// against. It is a module of its own, so that what it needs is no dependency of aion.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	mark3 "github.com/mark3labs/mcp-go/mcp"
	mark3server "github.com/mark3labs/mcp-go/server"
	official "github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	kind := flag.String("kind", "", "sdk (the official Go SDK), mcp-go, or echo (net/http and encoding/json alone)")
	flag.Parse()
	handler, err := handlerOf(*kind)
	if err == nil {
		err = serve(handler)
	}
	fmt.Fprintln(os.Stderr, "peers:", err)
	os.Exit(1)
}

// serve listens on a free port and prints the address as the first line of standard output.
func serve(handler http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, handler)
}

func handlerOf(kind string) (http.Handler, error) {
	switch kind {
	case "sdk":
		return sdk(), nil
	case "mcp-go":
		return mcpGo(), nil
	case "echo":
		return http.HandlerFunc(echo), nil
	}
	return nil, fmt.Errorf("no peer %q", kind)
}

// said is the argument and the result of the one tool.
type said struct {
	Text string `json:"text" jsonschema:"what is said back"`
}

func sdk() http.Handler {
	s := official.NewServer(&official.Implementation{Name: "peer", Version: "1"}, nil)
	official.AddTool(s, &official.Tool{Name: "say", Description: "Says a text back."},
		func(_ context.Context, _ *official.CallToolRequest, in said) (*official.CallToolResult, said, error) {
			return nil, in, nil
		})
	return official.NewStreamableHTTPHandler(func(*http.Request) *official.Server { return s },
		&official.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func mcpGo() http.Handler {
	s := mark3server.NewMCPServer("peer", "1")
	s.AddTool(mark3.NewTool("say", mark3.WithDescription("Says a text back."), mark3.WithString("text", mark3.Required())),
		mark3.NewStructuredToolHandler(func(_ context.Context, _ mark3.CallToolRequest, in said) (said, error) { return in, nil }))
	return mark3server.NewStreamableHTTPServer(s, mark3server.WithStateLess(true))
}

// echo decodes a request and gives its parameters back.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var in struct {
		ID     any             `json:"id"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": in.ID, "result": in.Params})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out)
}
