package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func newConfigCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "show, check or write the configuration"}
	return group(cmd, newConfigShow(p, g), newConfigValidate(p, g), newConfigInit(p))
}

func newConfigShow(p *Program, g *globals) *cobra.Command {
	var origin bool
	var output string
	cmd := &cobra.Command{
		Use:     "show [KEY…]",
		Short:   "print the effective values",
		Example: "  aion config show --origin server.listen",
		RunE: func(_ *cobra.Command, names []string) error {
			settings, _, err := p.Backend.Configuration(Open{Home: g.home, File: g.config})
			if err != nil {
				return err
			}
			settings, err = choose(settings, names)
			if err != nil {
				return err
			}
			if output == "json" {
				return printJSON(p.Out, settings)
			}
			for _, s := range settings {
				line := fmt.Sprintf("%s\t%v", s.Key, s.Value)
				if origin {
					line += "\t" + s.Origin
				}
				if _, err := fmt.Fprintln(p.Out, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also print where each value comes from")
	outputFlag(cmd, &output)
	return cmd
}

func choose(settings []Setting, names []string) ([]Setting, error) {
	if len(names) == 0 {
		return settings, nil
	}
	var chosen []Setting
	for _, name := range names {
		found := false
		for _, s := range settings {
			if s.Key == name || strings.HasPrefix(s.Key, name+".") {
				chosen = append(chosen, s)
				found = true
			}
		}
		if !found {
			return nil, &usage{message: fmt.Sprintf("%q is no configuration key", name), hint: "aion config show lists them all"}
		}
	}
	return chosen, nil
}

func newConfigValidate(p *Program, g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "validate [FILE]",
		Short:   "check the configuration without starting",
		Example: "  aion config validate aion.yaml",
		Args:    arguments(0, 1, "at most one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := g.config
			if len(args) == 1 {
				file = args[0]
			}
			_, warnings, err := p.Backend.Configuration(Open{Home: g.home, File: file})
			if err != nil {
				return err
			}
			for _, text := range warnings {
				fmt.Fprintf(p.Err, "warning: %s\n", printable(text))
			}
			_, err = fmt.Fprintln(p.Out, "ok")
			return err
		},
	}
}

func newConfigInit(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:     "init [FILE]",
		Short:   "write a commented configuration file, or print it",
		Example: "  aion config init aion.yaml",
		Args:    arguments(0, 1, "at most one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprint(p.Out, p.Backend.ConfigFile())
				return err
			}
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return fileRefusal("written", args[0], err)
			}
			if _, err := f.WriteString(p.Backend.ConfigFile()); err != nil {
				return fileRefusal("written", args[0], err)
			}
			return f.Close()
		},
	}
}

// fileRefusal says which file could not be read or written, and why.
func fileRefusal(what, name string, err error) error {
	reason := err
	var path *fs.PathError
	if asPathError(err, &path) {
		reason = path.Err
	}
	return &usage{message: fmt.Sprintf("%s cannot be %s: %v", name, what, reason)}
}
