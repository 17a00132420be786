package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"aion/domain/awl"
)

// formatFlags are those of `awl fmt`.
type formatFlags struct{ check, diff bool }

func newFormatCommand(p *Program, g *globals) *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use:     "fmt FILE…",
		Short:   "rewrite documents in their canonical form; - reads standard input and prints",
		Example: "  aion awl fmt --check examples/hello.awl\n  aion awl fmt --diff draft.awl",
		Args:    arguments(1, -1, "at least one file"),
		RunE: func(_ *cobra.Command, names []string) error {
			bad := false
			for _, name := range names {
				ok, err := f.format(p, g, name)
				if err != nil {
					return err
				}
				bad = bad || !ok
			}
			if bad {
				return status(exitNo)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "change nothing; list files that would change and exit 1")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "change nothing; show what would change and exit 1")
	return cmd
}

// format answers false when the file does not parse, or would change under --check or --diff.
func (f formatFlags) format(p *Program, g *globals, name string) (bool, error) {
	src, err := readSource(p, name)
	if err != nil {
		return false, err
	}
	text, findings := awl.Format(src.text)
	if text == nil {
		p.findings(g, src, findings)
		return false, nil
	}
	only := f.check || f.diff
	switch same := bytes.Equal(text, src.text); {
	case name == "-" && !only:
		_, err := p.Out.Write(text)
		return true, err
	case same:
		return true, nil
	case f.diff:
		_, err := fmt.Fprint(p.Out, unified(src.name, src.name+" (canonical)", src.text, text))
		return false, err
	case only:
		_, err := fmt.Fprintln(p.Out, src.name)
		return false, err
	}
	return true, replaceFile(name, text)
}
