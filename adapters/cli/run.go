package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/awl"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
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
			"code is 0 for a success route, 1 for any other end. Ctrl-C leaves the run durable: aion resume goes on with it.\n\n" +
			"While it runs this process is the engine of the store: other open runs in it go on too, and an MCP client reaches it through aion mcp\n" +
			"bridge, to send a signal for example. A store has one such process at a time; --ephemeral needs none.",
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
		if err := f.sound(cmd); err != nil {
			return err
		}
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

// sound refuses values that would be taken for flags that are not given.
func (f *runFlags) sound(cmd *cobra.Command) error {
	if key := f.idempotencyKey; cmd.Flags().Changed("idempotency-key") && !visibleASCII(key, maxIdempotencyKey) {
		return &usage{message: fmt.Sprintf("--idempotency-key takes 1 to %d visible ASCII characters; got %q", maxIdempotencyKey, cut(key, maxIdempotencyKey))}
	}
	return f.followFlags.sound(cmd)
}

func (f *followFlags) sound(cmd *cobra.Command) error {
	if cmd.Flags().Changed("timeout") && f.timeout <= 0 {
		return &usage{message: fmt.Sprintf("--timeout must be more than 0; got %s", f.timeout), hint: "leave it out to follow the run to its end"}
	}
	if f.drain < 0 {
		return &usage{message: fmt.Sprintf("--drain must not be negative; got %s", f.drain)}
	}
	return nil
}

const maxIdempotencyKey = 128

func visibleASCII(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// cut shortens a text for a message.
func cut(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
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
	view.note("checked", "%s   %s", src.name, counted(report.Steps, "step"))
	if err := f.input.ask(p, pl); err != nil {
		return err
	}
	input, err := f.input.build(p, pl)
	if err != nil {
		return err
	}
	if err := f.judge(pl, input); err != nil {
		return err
	}
	return f.own(cmd, p, g, view, func(ctx context.Context, e *Engine) (runs.Summary, error) {
		return f.start(ctx, e, view, job{src, pl, input})
	})
}

// judge refuses what a start would refuse, before anything is stored.
func (f *runFlags) judge(pl *plan.Plan, input []byte) error {
	if f.workflowID != "" {
		if _, err := domain.ParseWorkflowID(f.workflowID); err != nil {
			return &usage{message: fmt.Sprintf("--workflow-id takes a UUID in lower case; got %q", cut(f.workflowID, 64))}
		}
	}
	encoded, err := plan.Encode(pl)
	if err != nil {
		return err
	}
	contract, err := deployment.Load(deployment.Version{WorkflowType: pl.WorkflowType, ContentHash: pl.ContentHash, Plan: encoded})
	if err != nil {
		return err
	}
	return contract.AcceptInput(input)
}

// job is a checked document with its input.
type job struct {
	source
	plan  *plan.Plan
	input []byte
}

func (f *runFlags) start(ctx context.Context, e *Engine, v *view, j job) (runs.Summary, error) {
	who := operator()
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
	v.note("run", "%s    (go on later: aion resume %s)", started.Run.WorkflowID, short(string(started.Run.WorkflowID)))
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
		Ephemeral: ephemeral != nil && ephemeral.Value.String() == "true", Loaded: interrupted.hold,
	})
	if err != nil {
		return interrupted.orElse(err)
	}
	drain := time.Duration(0)
	defer func() {
		if interrupted.count() > 0 {
			drain = f.drain
			if n := e.Running(); n > 0 && drain > 0 {
				v.note("waiting", "up to %s for %s; Ctrl-C again stops them", drain, counted(n, "command"))
			}
		}
		err = errors.Join(err, e.Close(context.WithoutCancel(ctx), drain))
	}()
	started, err := begin(ctx, e)
	if err != nil {
		return interrupted.orElse(err)
	}
	v.others(ctx, e, started)
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
	}
	return finish(ctx, p, e, r, err)
}

// others says which runs of the store besides the started one go on in this process.
func (v *view) others(ctx context.Context, e *Engine, started runs.Summary) {
	const named, most = 5, 200
	page, err := e.Runs.List(ctx, operator(), runs.ListRequest{Namespace: e.Namespace, Status: history.Running, Limit: most})
	if err != nil || v.quiet {
		return // it is a courtesy
	}
	var ids []string
	for _, r := range page.Runs {
		if r.WorkflowID != started.WorkflowID {
			ids = append(ids, short(string(r.WorkflowID)))
		}
	}
	if len(ids) == 0 {
		return
	}
	count := counted(len(ids), "open run")
	if page.NextCursor != "" {
		count = "more than " + count
	}
	list := strings.Join(ids[:min(len(ids), named)], ", ")
	if len(ids) > named {
		list += ", …"
	}
	v.line("also going on: %s (%s)", count, list)
}

var errFollowTimeout = errors.New("follow timeout")

func (f *followFlags) interrupted(ctx context.Context, p *Program, v *view, e *Engine, r runs.Summary) error {
	if f.cancel {
		_, err := e.Runs.Cancel(context.WithoutCancel(ctx), operator(), runs.CancelRequest{
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
