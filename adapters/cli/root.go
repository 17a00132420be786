package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/awl/diag"
)

// globals are the flags of every command.
type globals struct {
	home, config string
	noColor      bool
	verbose      bool
	quiet        bool
}

// Run executes one command line and answers the exit code of the process.
func Run(ctx context.Context, p Program, args []string) int {
	root := newRoot(&p) //nolint:contextcheck // commands get their context when they run
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	return report(p.Err, nearest(root, err))
}

func newRoot(p *Program) *cobra.Command {
	g := &globals{}
	root := &cobra.Command{
		Use:           "aion",
		Short:         "durable workflows for AI agents and the people who run them",
		SilenceUsage:  true,
		SilenceErrors: true,
		Example:       "  aion run examples/hello.awl -i name=Ada\n  aion server",
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.home, "home", "", "directory of the store and everything else aion keeps (default AION_HOME, else ~/.aion)")
	flags.StringVar(&g.config, "config", "", "configuration file (default AION_CONFIG, else ./aion.yaml, else <home>/config.yaml)")
	flags.BoolVar(&g.noColor, "no-color", false, "no colours, also on a terminal")
	flags.BoolVar(&g.verbose, "verbose", false, "show the log on a terminal, all levels from info on")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "no progress lines")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usage{message: err.Error(), hint: cmd.CommandPath() + " --help lists the flags"}
	})
	root.AddCommand(newRunCommand(p, g), newResumeCommand(p, g), newServerCommand(p, g), newMCPCommand(p, g), newAWLCommand(p, g), newConfigCommand(p, g), newVersionCommand(p))
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// nearest adds the closest command name to cobra's refusal of an unknown one.
func nearest(root *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	rest, ok := strings.CutPrefix(err.Error(), `unknown command "`)
	if !ok {
		return err
	}
	word, _, _ := strings.Cut(rest, `"`)
	var names []string
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	wrong := &usage{message: fmt.Sprintf("there is no command %q", word), hint: "aion --help lists the commands"}
	if near := diag.Closest(word, names); near != "" {
		wrong.hint = "did you mean: aion " + near
	}
	return wrong
}

// arguments checks the number of arguments and says what is missing.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return &usage{message: cmd.CommandPath() + " needs " + what, hint: strings.TrimSpace(cmd.Example)}
		}
		if most >= 0 && len(args) > most {
			return &usage{message: fmt.Sprintf("%s takes %s; %q is one too many", cmd.CommandPath(), what, args[most]), hint: strings.TrimSpace(cmd.Example)}
		}
		return nil
	}
}

func (g *globals) color(p *Program) bool { return p.ErrTerminal && !g.noColor && !p.NoColor }

var errInterrupted = errors.New("interrupted")
