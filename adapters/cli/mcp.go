package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"aion/adapters/cli/clients"
)

// MCP is the process side of the commands for MCP clients.
type MCP struct {
	Program string // the absolute path of this binary
	Places  clients.Places
	// Home, Config and Server are AION_HOME, AION_CONFIG and AION_SERVER, empty when the environment does not set them: a
	// client that launches this binary does not know them.
	Home, Config, Server string
	// Token says that AION_TOKEN is set; Subject is who this process says it is.
	Token   bool
	Subject string
	// Endpoint is the URL of the MCP endpoint that --url names, else that is found; found is false for the default, at which
	// nobody may listen.
	Endpoint func(ctx context.Context, url string) (endpoint string, found bool, err error)
	// Bridge speaks MCP on the streams until in or ctx ends.
	Bridge func(ctx context.Context, r MCPRequest, in io.Reader, out io.Writer) error
	// Tools is the tool list of a server: a JSON array. When no URL is given and no server found it is this binary's, and
	// served is false.
	Tools func(ctx context.Context, r MCPRequest) (list []byte, served bool, err error)
	// Find is the path of another program; Run runs it to its end.
	Find func(program string) (path string, ok bool)
	Run  func(ctx context.Context, program string, args ...string) error
}

// MCPRequest says which server is meant and who asks. Empty members are taken from the environment, then from discovery.
type MCPRequest struct {
	URL        string
	Token      string
	Credential string // where Token comes from, for texts
	Subject    string
	Namespaces string // comma-separated; empty: all
	Deploy     *bool  // nil: yes
	CAFile     string
	SkipVerify bool // takes any certificate; refused together with a token, but for this machine
	Timeout    time.Duration
	Embedded   bool
	Log        io.Writer
}

func newMCPCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "mcp", Short: "connect MCP clients: install, bridge, tools"}
	return group(cmd, newMCPInstall(p, g), newMCPBridge(p, g), newMCPTools(p, g))
}

// openAsClient is for commands that other programs start, wherever they stand.
func (g *globals) openAsClient() Open {
	return Open{Home: g.home, File: g.config, Verbose: g.verbose, Client: true}
}

func (g *globals) open() Open { return Open{Home: g.home, File: g.config, Verbose: g.verbose} }
