package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/awl/plan"
)

// followFlags say how a run is followed and what an interrupt does.
type followFlags struct {
	follow  string
	timeout time.Duration
	drain   time.Duration
	cancel  bool
}

type runFlags struct {
	followFlags
	input          inputFlags
	ephemeral      bool
	workflowID     string
	idempotencyKey string
	labels         map[string]string
}

func newRunCommand(p *Program, g *globals) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run FILE.awl",
		Short: "check, deploy and run one document in this process, and follow it to its end",
		Long: "Checks the document, runs it on the store in AION_HOME and follows it. The outcome is one line of JSON on standard output; the exit\n" +
			"code is 0 for a success route, 1 for any other end. Ctrl-C leaves the run durable: aion resume goes on with it.",
		Example: "  aion run examples/hello.awl -i name=Ada",
		Args:    arguments(1, 1, "one .awl file"),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.input.members, "input-member", "i", nil, "one input: name=value, name:=JSON or name=@FILE; repeated ones of a list append")
	flags.StringVar(&f.input.whole, "input", "", "the whole input: JSON, @FILE or - for standard input")
	flags.BoolVar(&f.ephemeral, "ephemeral", false, "keep everything in memory: nothing survives the command")
	flags.StringVar(&f.workflowID, "workflow-id", "", "a UUID of your own for the workflow")
	flags.StringVar(&f.idempotencyKey, "idempotency-key", "", "the same key with the same input finds the run it started before")
	flags.StringToStringVar(&f.labels, "label", nil, "a label, key=value; may be repeated")
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.run(cmd, p, g, args[0])
	}
	return cmd
}

func (f *followFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String("store", "", "another SQLite file")
	flags.StringVar(&f.follow, "follow", "", "steps, all (with every line of output) or none (default all on a terminal, else steps)")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop following after this long, with exit code 4")
	flags.DurationVar(&f.drain, "drain", 5*time.Second, "what running commands get on Ctrl-C before they are parked")
	flags.BoolVar(&f.cancel, "cancel-on-interrupt", false, "Ctrl-C cancels the run instead of parking it")
}

func (f *runFlags) run(cmd *cobra.Command, p *Program, g *globals, name string) error {
	src, err := readSource(p, name)
	if err != nil {
		return err
	}
	pl, report, err := awl.Compile(src.text, src.options())
	p.findings(g, src, report.Diagnostics)
	if !report.OK {
		return status(exitRefused)
	}
	if err != nil {
		return err
	}
	view, err := f.view(p, g)
	if err != nil {
		return err
	}
	view.note("checked", "%s   %d steps", src.name, report.Steps)
	if err := f.input.ask(p, pl); err != nil {
		return err
	}
	input, err := f.input.build(p, pl)
	if err != nil {
		return err
	}
	return f.own(cmd, p, g, view, func(ctx context.Context, e *Engine) (runs.Summary, error) {
		return f.start(ctx, e, view, job{src, pl, input})
	})
}

// job is a checked document with its input.
type job struct {
	source
	plan  *plan.Plan
	input []byte
}

func (f *runFlags) start(ctx context.Context, e *Engine, v *view, j job) (runs.Summary, error) {
	who := access.Operator("")
	deployed, err := e.Authoring.DeploySource(ctx, who, authoring.SourceRequest{Name: j.name, Source: j.text, Imports: j.imported()})
	if err != nil {
		return runs.Summary{}, err
	}
	v.note("deployed", "%s   %s", deployed.WorkflowType, deployed.ContentHash[:8])
	started, err := e.Runs.Start(ctx, who, runs.StartRequest{
		Namespace: e.Namespace, WorkflowType: j.plan.WorkflowType, Input: j.input,
		WorkflowID: f.workflowID, IdempotencyKey: f.idempotencyKey, Labels: f.labels,
	})
	if err != nil {
		return runs.Summary{}, err
	}
	v.note("run", "%s    (go on later: aion resume %s)", short(string(started.Run.WorkflowID)), short(string(started.Run.WorkflowID)))
	return started.Run, nil
}

// own opens an engine in this process, begins with the run that begin names, follows it, and closes the engine however
// that ends.
func (f *followFlags) own(cmd *cobra.Command, p *Program, g *globals, v *view, begin func(context.Context, *Engine) (runs.Summary, error)) (err error) {
	ctx, interrupted := p.untilInterrupted(cmd.Context())
	defer interrupted.stop()
	ephemeral := cmd.Flags().Lookup("ephemeral")
	e, err := p.Backend.Open(ctx, Open{
		Flags: cmd.Flags(), Home: g.home, File: g.config, Verbose: g.verbose,
		Ephemeral: ephemeral != nil && ephemeral.Value.String() == "true",
	})
	if err != nil {
		return err
	}
	drain := time.Duration(0)
	defer func() {
		if interrupted.count() > 0 {
			drain = f.drain
		}
		err = errors.Join(err, e.Close(context.WithoutCancel(ctx), drain))
	}()
	started, err := begin(ctx, e)
	if err != nil {
		return err
	}
	err = f.toTheEnd(ctx, p, v, e, started)
	if errors.Is(err, errInterrupted) {
		return interrupted.status()
	}
	return err
}

// toTheEnd follows a run and prints its outcome.
func (f *followFlags) toTheEnd(ctx context.Context, p *Program, v *view, e *Engine, r runs.Summary) error {
	follow := ctx
	if f.timeout > 0 {
		var cancel context.CancelFunc
		follow, cancel = context.WithTimeoutCause(ctx, f.timeout, errFollowTimeout)
		defer cancel()
	}
	err := v.follow(follow, e, r)
	switch {
	case errors.Is(err, errFollowTimeout) || errors.Is(context.Cause(follow), errFollowTimeout):
		v.note("timeout", "stopped following after %s; go on with: aion resume %s", f.timeout, short(string(r.WorkflowID)))
		return status(exitTimeout)
	case context.Cause(ctx) != nil:
		return f.interrupted(ctx, p, v, e, r)
	case err != nil:
		return err
	}
	return finish(ctx, p, e, r)
}

var errFollowTimeout = errors.New("follow timeout")

func (f *followFlags) interrupted(ctx context.Context, p *Program, v *view, e *Engine, r runs.Summary) error {
	if f.cancel {
		_, err := e.Runs.Cancel(context.WithoutCancel(ctx), access.Operator(""), runs.CancelRequest{
			Ref: runs.Ref{Namespace: e.Namespace, WorkflowID: string(r.WorkflowID)}, Reason: "interrupted",
		})
		if err != nil {
			return err
		}
		v.note("cancelled", "%s", short(string(r.WorkflowID)))
		return errInterrupted
	}
	fmt.Fprintf(p.Err, "run %s is durable and parked; go on with: aion resume %s\n", short(string(r.WorkflowID)), short(string(r.WorkflowID)))
	return errInterrupted
}

// short is a prefix of an id that tells runs of different milliseconds apart.
func short(id string) string {
	if len(id) < 13 {
		return id
	}
	return id[:13]
}
