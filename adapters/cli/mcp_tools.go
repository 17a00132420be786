package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain"
)

func newMCPTools(p *Program, g *globals) *cobra.Command {
	var f serverFlags
	var output string
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "print the tools that MCP clients see",
		Example: "  aion mcp tools\n  aion mcp tools -o json",
		Args:    arguments(0, 0, "no arguments"),
	}
	f.add(cmd)
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.request(cmd, p, g)
		if err != nil {
			return err
		}
		m, err := p.Backend.MCP(g.open())
		if err != nil {
			return err
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error {
			list, served, err := m.Tools(ctx, r)
			if err != nil {
				return err
			}
			if !served && !g.quiet {
				fmt.Fprintln(p.Err, "no server was found; these are the tools of this program")
			}
			return printTools(p, list, output)
		})
	}
	return cmd
}

// shownTool is what the table needs of a tool.
type shownTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Annotations struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
	} `json:"annotations"`
}

func printTools(p *Program, list []byte, output string) error {
	if output == "json" {
		_, err := fmt.Fprintf(p.Out, "%s\n", list)
		return err
	}
	var tools []shownTool
	if err := json.Unmarshal(list, &tools); err != nil {
		return &domain.Error{Code: domain.CodeUnavailable, Type: "NoMCPServer", Message: "the server's tool list cannot be read: " + err.Error(), Err: err}
	}
	if _, err := fmt.Fprintln(p.Out, "TOOL\tEFFECT\tDESCRIPTION"); err != nil {
		return err
	}
	for _, t := range tools {
		effect := "writes"
		switch {
		case t.Annotations.ReadOnly:
			effect = "reads"
		case t.Annotations.Destructive:
			effect = "destroys"
		}
		if _, err := fmt.Fprintf(p.Out, "%s\t%s\t%s\n", printable(t.Name), effect, printable(firstSentence(t.Description))); err != nil {
			return err
		}
	}
	return nil
}

func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if at := strings.Index(text, ". "); at >= 0 {
		return text[:at+1]
	}
	return text
}
