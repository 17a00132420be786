package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aion/domain/awl/diag"
)

// globals are the flags of every command.
type globals struct {
	home, config string
	noColor      bool
	verbose      bool
	quiet        bool
	noPager      bool
}

// Run executes one command line and answers the exit code of the process. A signal may end it while the command still
// waits for a file or a pipe: the process ends next.
func Run(ctx context.Context, p Program, args []string) int {
	out := &output{w: p.Out}
	p.Out, p.attention = out, &attention{}
	root := newRoot(&p)
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	return p.attend(func() int {
		err := nearest(root, args, root.ExecuteContext(ctx))
		var ended status
		if err == nil || errors.As(err, &ended) {
			if lost := out.failed(); lost != nil && !errors.Is(lost, syscall.EPIPE) {
				err = lost
			}
		}
		return report(p.Err, err)
	})
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
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "no progress lines; run and resume follow silently unless --follow is given")
	flags.BoolVar(&g.noPager, "no-pager", false, "no pager ($AION_PAGER, else $PAGER) for long output on a terminal")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		wrong := &usage{message: err.Error(), hint: cmd.CommandPath() + " --help lists the flags"}
		if strings.HasSuffix(wrong.message, "unknown flag: --json") && cmd.Flags().Lookup("output") != nil {
			wrong.hint = "did you mean: -o json"
		}
		return wrong
	})
	for _, add := range []func(*Program, *globals) *cobra.Command{
		newRunCommand, newResumeCommand, newServerCommand, newMCPCommand, newAWLCommand,
		newStartCommand, newListCommand, newDescribeCommand, newHistoryCommand, newTranscriptCommand, newOutcomeCommand,
		newSignalCommand, newQueryCommand, newCancelCommand, newPauseCommand, newReopenCommand,
		newDeployCommand, newVersionsCommand, newRouteCommand, newUnloadCommand, newDocumentsCommand,
		newScheduleCommand, newNamespacesCommand, newTasksCommand, newWorkersCommand, newQueuesCommand, newAuditCommand, newBackupCommand, newStoreCommand,
		newContextCommand, newConfigCommand, newDoctorCommand, newManCommand,
	} {
		root.AddCommand(add(p, g))
	}
	root.AddCommand(newVersionCommand(p))
	root.AddCommand(newOpenAPICommand(p))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return refuseEmpty(cmd) }
	root.Version = p.Build.String()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// refuseEmpty refuses a flag that is given with nothing in it, mostly by a script whose variable is not set: it would count
// as not given. The settings of a server are judged by the configuration, where some may be empty.
func refuseEmpty(cmd *cobra.Command) error {
	flags, wrong := cmd.Flags(), error(nil)
	if cmd.Annotations[settings] != "" {
		flags = cmd.InheritedFlags()
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if wrong == nil && f.Changed && f.Value.Type() == "string" && f.Value.String() == "" {
			wrong = &usage{message: fmt.Sprintf("--%s is given without a value", f.Name), hint: "give it a value or leave it out"}
		}
	})
	return wrong
}

// settings marks a command whose own flags are configuration keys.
const settings = "settings"

// nearest adds the closest command name to cobra's refusal of an unknown one. A flag in front of the command that does not
// exist is what is wrong then: cobra takes the word behind it for its value.
func nearest(root *cobra.Command, args []string, err error) error {
	if err == nil {
		return nil
	}
	rest, ok := strings.CutPrefix(err.Error(), `unknown command "`)
	if !ok {
		return err
	}
	leading := root.PersistentFlags()
	leading.SetInterspersed(false)
	if flag := leading.Parse(args); flag != nil && strings.HasPrefix(flag.Error(), "unknown") {
		return &usage{message: flag.Error(), hint: "aion --help lists the flags that stand in front of a command; others stand behind it, such as -o json"}
	}
	word, _, _ := strings.Cut(rest, `"`)
	return unknownCommand(root, word)
}

func unknownCommand(above *cobra.Command, word string) error {
	var names []string
	for _, cmd := range above.Commands() {
		names = append(names, cmd.Name())
	}
	path := above.CommandPath()
	wrong := &usage{message: fmt.Sprintf("%s has no command %q", path, word), hint: path + " --help lists the commands"}
	if near := diag.Closest(word, names); near != "" {
		wrong.hint = "did you mean: " + path + " " + near
	}
	return wrong
}

// group makes a command of those below it: it shows them, and refuses a word that is none, which cobra takes for its argument.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(below...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return cmd.Help()
	}
	return cmd
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

func (g *globals) color(p *Program) bool {
	return (p.ErrTerminal || p.ForceColor) && !g.noColor && !p.NoColor
}

var errInterrupted = errors.New("interrupted")
