package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newServerCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "server",
		Short:       "serve MCP and keep every run alive until stopped",
		Example:     "  aion server\n  aion server --listen 127.0.0.1:0",
		Args:        arguments(0, 0, "no arguments; settings are flags"),
		Annotations: map[string]string{settings: "own"},
	}
	p.Backend.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, interrupted := p.untilInterrupted(cmd.Context())
		interrupted.endsCleanly()
		defer interrupted.stop()
		serving := false
		open := Open{Flags: cmd.Flags(), Home: g.home, File: g.config, Verbose: g.verbose, Loaded: interrupted.hold}
		err := p.Backend.Serve(ctx, open, func(l Listening) (shown bool) {
			serving = true
			if shown = p.ErrTerminal && !g.quiet; shown {
				banner(p.Err, l)
			}
			return shown
		})
		switch {
		case interrupted.count() > 1:
			return status(exitInterrupted)
		case err == nil:
			return nil
		case interrupted.count() == 1 && !serving:
			return nil // stopped before it served: whatever the start was at broke off
		case serving:
			report(p.Err, err)
			return status(exitNo)
		}
		return err
	}
	return cmd
}

// banner is what a person sees first: where the server is, who may use it, how an agent connects, and what to do next.
func banner(w io.Writer, l Listening) {
	reach := "loopback only"
	if l.Reachable {
		reach = "REACHABLE FROM OTHER MACHINES"
	}
	fmt.Fprintf(w, "aion %s   %s   auth %s, %s\n\n", l.Version, l.Store, l.Auth, reach)
	if l.MCP {
		fmt.Fprintf(w, "  mcp                %s/mcp\n\n", l.URL)
		flag := ""
		if l.Auth != "off" {
			flag = " --token @FILE"
		}
		fmt.Fprintf(w, "  connect an agent   aion mcp install --target claude-code%s   (others: aion mcp install --help)\n", flag)
	}
	fmt.Fprintf(w, "  try a workflow     aion awl new hello && aion run --ephemeral hello.awl -i name=Ada   (in another terminal)\n")
	fmt.Fprintf(w, "  stop               Ctrl-C: running work is parked and goes on at the next start\n\n")
	if l.Recovered > 0 {
		fmt.Fprintf(w, "  recovered          %s that the last process left begin again; ready in %.1fs\n\n", counted(l.Recovered, "attempt"), l.Took.Seconds())
	}
	for _, warning := range l.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", printable(warning))
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
