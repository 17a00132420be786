package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCommand(p *Program, _ *globals) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man",
		Short:   "write the manual pages, one for each command",
		Example: "  aion man --dir ./man1",
		Args:    arguments(0, 0, "no arguments"),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the directory that they are written to; it is made when it is missing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if dir == "" {
			return &usage{message: "aion man needs a directory", hint: "aion man --dir ./man1"}
		}
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
			return fileRefusal("written", dir, err)
		}
		return writePages(p, cmd.Root(), dir)
	}
	return cmd
}

// writePages writes the page of a command and those of the commands below it, and names each file.
func writePages(p *Program, cmd *cobra.Command, dir string) error {
	name := filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	if err := os.WriteFile(name, manPage(cmd, p.Build), 0o644); err != nil { //nolint:gosec // as the directory
		return fileRefusal("written", name, err)
	}
	if _, err := fmt.Fprintln(p.Out, printable(name)); err != nil {
		return err
	}
	for _, below := range cmd.Commands() {
		if !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writePages(p, below, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage is one page in the macros of man(7).
func manPage(cmd *cobra.Command, build Build) []byte {
	var b bytes.Buffer
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"User Commands\"\n", quoted(strings.ToUpper(title)), quoted("aion "+build.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(title), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(cmd.Long))
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			also = append(also, strings.ReplaceAll(below.CommandPath(), " ", "-"))
		}
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, name := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), comma)
		}
	}
	return b.Bytes()
}

func manFlags(b *bytes.Buffer, head string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", head)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

// roff is text that no macro and no escape of roff begins in.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// quoted is one argument of a macro.
func quoted(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
