package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newServerCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "server",
		Short:   "serve MCP and keep every run alive until stopped",
		Example: "  aion server\n  aion server --listen 127.0.0.1:0",
		Args:    arguments(0, 0, "no arguments; settings are flags"),
	}
	p.Backend.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, interrupted := p.untilInterrupted(cmd.Context())
		defer interrupted.stop()
		err := p.Backend.Serve(ctx, Open{Flags: cmd.Flags(), Home: g.home, File: g.config, Verbose: g.verbose}, func(l Listening) {
			if p.ErrTerminal && !g.quiet {
				banner(p.Err, l)
			}
		})
		if interrupted.count() > 1 {
			return status(130)
		}
		return err
	}
	return cmd
}

// banner is what a person sees first: where the server is, how an agent connects, and what to do next.
func banner(w io.Writer, l Listening) {
	auth := "auth off, loopback only"
	if l.Insecure {
		auth = "auth off, REACHABLE FROM OTHER MACHINES"
	}
	fmt.Fprintf(w, "aion %s   %s   %s\n\n", l.Version, l.Store, auth)
	if l.MCP {
		fmt.Fprintf(w, "  mcp                %s/mcp\n\n", l.URL)
		fmt.Fprintf(w, "  connect an agent   %s\n", Snippet(l.URL))
	}
	fmt.Fprintf(w, "  try a workflow     aion run examples/hello.awl -i name=Ada   (with this server stopped, or --ephemeral)\n")
	fmt.Fprintf(w, "  stop               Ctrl-C: running work is parked and goes on at the next start\n\n")
	if l.Recovered > 0 {
		fmt.Fprintf(w, "  recovered %d open runs in %.1fs\n\n", l.Recovered, l.Took.Seconds())
	}
	for _, warning := range l.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", printable(warning))
	}
}

// Snippet is the MCP client setting that names this server.
func Snippet(url string) string {
	return `{"mcpServers":{"aion":{"type":"http","url":"` + strings.TrimSuffix(url, "/") + `/mcp"}}}`
}
