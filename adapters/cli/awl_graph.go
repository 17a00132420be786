package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/awl"
	"aion/domain/awl/graph"
)

func newGraphCommand(p *Program, g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "graph FILE",
		Short:   "draw the steps of a document and what leads from one to the next",
		Example: "  aion awl graph examples/hello.awl\n  aion awl graph --format dot examples/hello.awl | dot -Tsvg > hello.svg",
		Args:    arguments(1, 1, "one file"),
		RunE: func(_ *cobra.Command, names []string) error {
			render, err := graphFormat(p, format)
			if err != nil {
				return err
			}
			src, err := readSource(p, names[0])
			if err != nil {
				return err
			}
			drawn := graph.Of(src.text)
			drawn.Document.ContentHash = awl.ContentHash(src.text, src.options().Import)
			if src.dir != "" {
				drawn.Document.Path = src.name
			}
			if err := render(drawn); err != nil {
				return err
			}
			if !drawn.Complete {
				_, found := awl.Format(src.text)
				p.findings(g, src, found)
				return status(exitNo)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "json, dot, mermaid or text")
	return cmd
}

func graphFormat(p *Program, format string) (func(graph.Graph) error, error) {
	show := func(text string) error {
		_, err := fmt.Fprint(p.Out, printableLines(text))
		return err
	}
	switch format {
	case "json":
		return func(d graph.Graph) error { return printJSON(p.Out, d) }, nil
	case "dot":
		return func(d graph.Graph) error { return show(d.Dot()) }, nil
	case "mermaid":
		return func(d graph.Graph) error { return show(d.Mermaid()) }, nil
	case "text":
		return func(d graph.Graph) error { return show(d.Text()) }, nil
	}
	return nil, &usage{message: fmt.Sprintf("--format takes json, dot, mermaid or text; got %q", format)}
}

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
