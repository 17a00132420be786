package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func newOpenAPICommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:     "openapi",
		Short:   "print the OpenAPI document of the HTTP API",
		Example: "  aion openapi",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if p.OpenAPI == nil {
				return &usage{message: "this program has no HTTP API"}
			}
			text, err := p.OpenAPI()
			if err != nil {
				return err
			}
			return printRaw(p.Out, text)
		},
	}
}

func newVersionCommand(p *Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print what this program is",
		Example: "  aion version -o json",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			b := p.Build
			if output == "json" {
				return printJSON(p.Out, struct {
					Version string `json:"version"`
					Commit  string `json:"commit"`
					BuiltAt string `json:"built_at"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
					MCP     string `json:"mcp"`
					Schema  int    `json:"schema"`
				}{b.Version, b.Commit, b.BuiltAt, b.Go, b.OS, b.Arch, b.MCP, b.Schema})
			}
			_, err := fmt.Fprintln(p.Out, b)
			return err
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

// String is the build as a person reads it.
func (b Build) String() string {
	from := ""
	switch {
	case b.Commit != "" && b.BuiltAt != "":
		from = " (" + b.Commit + ", " + b.BuiltAt + ")"
	case b.Commit != "":
		from = " (" + b.Commit + ")"
	}
	return fmt.Sprintf("aion %s%s %s %s/%s, mcp %s, schema %d", b.Version, from, b.Go, b.OS, b.Arch, b.MCP, b.Schema)
}

// outputFlag adds -o, which takes table or json.
func outputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "table", "table or json")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *output != "table" && *output != "json" {
			return &usage{message: fmt.Sprintf("-o takes table or json; got %q", *output)}
		}
		return nil
	}
}

func printJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
